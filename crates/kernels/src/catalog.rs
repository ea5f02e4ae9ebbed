//! The one list of kernels. A new kernel is a value and a line here; the command line, its help, the generated page and
//! the tests follow from it.
//!
//! A program that links the crate can bring kernels of its own, by [`add`]: whatever lists or finds kernels by
//! [`kernels`] and [`find`] then knows them as well.

use std::sync::OnceLock;

use crate::kernel::Kernel;
use crate::{arith, noop, peak, stream, sync};

/// Every built-in kernel, in the order in which they are listed and swept.
pub static KERNELS: &[&dyn Kernel] = &[
    &arith::ARITH_INT,
    &arith::ARITH_FLOAT,
    &peak::PEAK_INT,
    &peak::PEAK_FLOAT,
    &stream::MEM_READ,
    &stream::MEM_READ_STREAMS,
    &stream::MEM_WRITE,
    &stream::MEM_WRITE_DATA,
    &stream::MEM_MEMSET,
    &stream::MEM_WRITE_NT,
    &stream::MEM_COPY,
    &stream::MEM_TRIAD,
    &sync::CAS_COUNTER,
    &sync::atomic::LOAD,
    &sync::atomic::LOAD_FALSE,
    &sync::atomic::LOAD_PADDED,
    &sync::atomic::LOAD_PRIVATE,
    &sync::atomic::STORE,
    &sync::atomic::STORE_FALSE,
    &sync::atomic::STORE_PADDED,
    &sync::atomic::STORE_PRIVATE,
    &sync::atomic::STORE_SEQ_CST,
    &sync::atomic::STORE_SEQ_CST_FALSE,
    &sync::atomic::STORE_SEQ_CST_PADDED,
    &sync::atomic::STORE_SEQ_CST_PRIVATE,
    &sync::atomic::FENCE,
    &sync::atomic::FENCE_FALSE,
    &sync::atomic::FENCE_PADDED,
    &sync::atomic::FENCE_PRIVATE,
    &sync::atomic::FETCH_ADD,
    &sync::atomic::FETCH_ADD_FALSE,
    &sync::atomic::FETCH_ADD_PADDED,
    &sync::atomic::FETCH_ADD_PRIVATE,
    &sync::atomic::SWAP,
    &sync::atomic::SWAP_FALSE,
    &sync::atomic::SWAP_PADDED,
    &sync::atomic::SWAP_PRIVATE,
    &sync::atomic::CAS,
    &sync::atomic::CAS_FALSE,
    &sync::atomic::CAS_PADDED,
    &sync::atomic::CAS_PRIVATE,
    &sync::atomic::CAS_128,
    &sync::atomic::CAS_128_FALSE,
    &sync::atomic::CAS_128_PADDED,
    &sync::atomic::CAS_128_PRIVATE,
    #[cfg(target_arch = "aarch64")]
    &sync::atomic::LOAD_SEQ_CST,
    #[cfg(target_arch = "aarch64")]
    &sync::atomic::LOAD_SEQ_CST_FALSE,
    #[cfg(target_arch = "aarch64")]
    &sync::atomic::LOAD_SEQ_CST_PADDED,
    #[cfg(target_arch = "aarch64")]
    &sync::atomic::LOAD_SEQ_CST_PRIVATE,
    #[cfg(target_arch = "aarch64")]
    &sync::atomic::FETCH_ADD_SEQ_CST,
    #[cfg(target_arch = "aarch64")]
    &sync::atomic::FETCH_ADD_SEQ_CST_FALSE,
    #[cfg(target_arch = "aarch64")]
    &sync::atomic::FETCH_ADD_SEQ_CST_PADDED,
    #[cfg(target_arch = "aarch64")]
    &sync::atomic::FETCH_ADD_SEQ_CST_PRIVATE,
    sync::pool::STD,
    sync::pool::PARKING_LOT,
    sync::pool::PTHREAD,
    sync::pool::PTHREAD_ADAPTIVE,
    sync::pool::TAS,
    sync::pool::TAS_BACKOFF,
    sync::pool::TTAS,
    sync::pool::TICKET,
    sync::pool::MCS,
    sync::pool::CLH,
    sync::pool::TREIBER,
    sync::pool::TREIBER_BACKOFF,
    sync::pool::ARRAY_QUEUE,
    sync::pool::SEG_QUEUE,
    sync::pool::DEQUE,
    sync::pool::SPAWN_MUTEX,
    sync::pool::SPAWN_CAS,
    &sync::C2C_READ_WRITE,
    &sync::C2C_CAS,
    &sync::C2C_FETCH_ADD,
    &sync::C2C_EXCHANGE,
    &sync::COUNTER_MUTEX,
    &sync::COUNTER_ATOMIC,
    &sync::COUNTER_SHARDED,
    &sync::RING_MUTEX,
    &sync::RING_MUTEX_ADAPTIVE,
    &sync::RING_MUTEX_PROCESSES,
    &sync::RING_COND,
    &sync::RING_COND_PROCESSES,
    &sync::RING_FUTEX,
    &sync::RING_FUTEX_PROCESSES,
    &sync::RING_FLAG,
    sync::CREATE_PTHREAD,
    sync::CREATE_PTHREAD_DETACHED,
    sync::CREATE_STD,
    sync::CREATE_STD_DETACHED,
    sync::UNLOCK_PTHREAD,
    sync::UNLOCK_STD,
    sync::UNLOCK_PARKING_LOT,
    sync::SIGNAL_PTHREAD,
    sync::SIGNAL_STD,
    sync::SIGNAL_PARKING_LOT,
    sync::BROADCAST_PTHREAD,
    sync::BROADCAST_STD,
    sync::BROADCAST_PARKING_LOT,
    sync::FUTEX_WAKE,
    sync::UNPARK_STD,
    sync::CHANNEL_STD,
    sync::CHANNEL_CROSSBEAM,
    sync::FLAG,
    sync::LOCK_PTHREAD,
    sync::LOCK_PTHREAD_ADAPTIVE,
    sync::LOCK_STD,
    sync::LOCK_PARKING_LOT,
    sync::BARRIER_PTHREAD,
    sync::BARRIER_STD,
    sync::BARRIER_SPIN,
    sync::BARRIER_SENSE,
    &noop::NOOP,
];

/// What [`add`] was given.
static ADDED: OnceLock<&[&dyn Kernel]> = OnceLock::new();

/// Why kernels were not added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAdded {
    /// There is another kernel of this name, built-in or among those to add.
    #[error("two kernels are called {0:?}: give each a name of its own")]
    NameTaken(&'static str),
    /// Kernels were added before: a list that grows while it is in use would differ from one reader to the next.
    #[error("kernels were added before: add all of them in one call, when the program starts")]
    Twice,
}

/// Adds kernels behind the built-in ones, for the whole process: once, before anything asks for [`kernels`].
///
/// # Errors
/// [`NotAdded`]; the catalog is then as it was.
pub fn add(kernels: &'static [&'static dyn Kernel]) -> Result<(), NotAdded> {
    for (i, kernel) in kernels.iter().enumerate() {
        let name = kernel.card().name;
        let mut others = KERNELS.iter().chain(&kernels[..i]);
        if others.any(|other| other.card().name == name) {
            return Err(NotAdded::NameTaken(name));
        }
    }
    ADDED.set(kernels).map_err(|_| NotAdded::Twice)
}

/// Every kernel: the built-in ones, then those added.
pub fn kernels() -> impl Iterator<Item = &'static dyn Kernel> {
    let added = ADDED.get().copied().unwrap_or_default();
    KERNELS.iter().chain(added).copied()
}

/// The kernel with this name.
pub fn find(name: &str) -> Option<&'static dyn Kernel> {
    kernels().find(|kernel| kernel.card().name == name)
}
