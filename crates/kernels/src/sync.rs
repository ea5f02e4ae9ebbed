//! Kernels whose workers meet at one line of memory, on purpose.
//!
//! What one worker does makes the others slower, so that a run can take many times what its work takes alone, and workers
//! that outnumber strands keep whoever is to stop them from running. Such a kernel says so on its card
//! ([`Card::contends`](crate::Card::contends)); its worker ends by its own deadline, which it looks at as often as the
//! module `pace` says; and what it counts is counted by each worker for itself, and added up when all have ended.

use crate::kernel::{Card, Error, Params};
use crate::work::Bytes;

pub mod atomic;
mod bare;
mod barrier;
mod c2c;
mod cas;
mod counter;
mod create;
mod handoff;
mod lock;
mod met;
mod mutexes;
pub(crate) mod pool;
mod ring;
mod schedule;
mod section;
pub(crate) mod spin;
mod uncontended;

pub use barrier::{BARRIER_PTHREAD, BARRIER_SENSE, BARRIER_SPIN, BARRIER_STD};
pub use c2c::{C2C_CAS, C2C_EXCHANGE, C2C_FETCH_ADD, C2C_READ_WRITE, CoreToCore};
pub use cas::{CAS_COUNTER, CasCounter};
pub(crate) use counter::{COUNTER_ATOMIC, COUNTER_MUTEX, COUNTER_SHARDED};
pub use create::{CREATE_PTHREAD, CREATE_PTHREAD_DETACHED, CREATE_STD, CREATE_STD_DETACHED};
pub use handoff::{
    BROADCAST_PARKING_LOT, BROADCAST_PTHREAD, BROADCAST_STD, CHANNEL_CROSSBEAM, CHANNEL_STD, FLAG, FUTEX_WAKE,
    SIGNAL_PARKING_LOT, SIGNAL_PTHREAD, SIGNAL_STD, UNLOCK_PARKING_LOT, UNLOCK_PTHREAD, UNLOCK_STD, UNPARK_STD,
};
pub use ring::{
    RING_COND, RING_COND_PROCESSES, RING_FLAG, RING_FUTEX, RING_FUTEX_PROCESSES, RING_MUTEX, RING_MUTEX_ADAPTIVE,
    RING_MUTEX_PROCESSES, RingKernel,
};
pub use section::section;
pub use uncontended::{LOCK_PARKING_LOT, LOCK_PTHREAD, LOCK_PTHREAD_ADAPTIVE, LOCK_STD};

/// The memory for so many pairs of times.
pub(crate) fn pairs(samples: u64) -> Bytes {
    Bytes(samples.saturating_mul(size_of::<(u64, u64)>() as u64))
}

/// Whether a kernel is asked for samples at all.
///
/// # Errors
/// It is not.
pub(crate) fn check_samples(card: &Card, params: &Params) -> Result<(), Error> {
    match params.samples {
        0 => Err(Error::Unavailable(format!("{} takes at least 1 sample, not 0 samples", card.name))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
