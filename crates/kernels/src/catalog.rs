//! The one list of kernels. A new kernel is a value and a line here; the command line, its help, the generated page and
//! the tests follow from it.
//!
//! A program that links the crate can bring kernels of its own, by [`add`]: whatever lists or finds kernels by
//! [`kernels`] and [`find`] then knows them as well.

use std::sync::OnceLock;

use crate::kernel::Kernel;
use crate::{alloc, arith, chase, level, loaded, noop, pages, peak, stream, sync, timer, words};

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
    &level::LEVEL_READ,
    &level::LEVEL_WRITE,
    &level::LEVEL_WRITE_NT,
    &level::LEVEL_COPY,
    &level::LEVEL_TRIAD,
    &level::LEVEL_MIX_1_1,
    &level::LEVEL_MIX_2_1,
    &level::LEVEL_MIX_3_1,
    &loaded::LOADED_READ,
    &loaded::LOADED_WRITE,
    &words::WORDS_READ,
    &words::WORDS_READ_COMPILED,
    &words::WORDS_WRITE_READ,
    &words::WORDS_CROSS_READ,
    &chase::CHASE_RANDOM,
    &chase::CHASE_STRIDE,
    &chase::CHASE_CHAINS,
    &pages::PAGES_TOUCH,
    &pages::PAGES_LOCK,
    &pages::PAGES_RELEASE,
    &pages::PAGES_SHARED_TOUCH,
    &pages::PAGES_SHARED_LOCK,
    &pages::PAGES_SHARED_RELEASE,
    &pages::PAGES_SEGMENT_CREATE,
    &pages::PAGES_SEGMENT_DESTROY,
    &pages::PAGES_MAP,
    &pages::PAGES_MAP_64,
    &pages::PAGES_PROTECT,
    &pages::PAGES_UNMAP_SEEN,
    &alloc::ALLOC_SYSTEM,
    &alloc::ALLOC_SYSTEM_REMOTE,
    &alloc::ALLOC_MIMALLOC,
    &alloc::ALLOC_MIMALLOC_REMOTE,
    &alloc::ALLOC_JEMALLOC,
    &alloc::ALLOC_JEMALLOC_REMOTE,
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
    timer::READ_TSC,
    timer::READ_TSC_ORDERED,
    timer::READ_TSCP,
    timer::READ_MONOTONIC,
    timer::READ_MONOTONIC_RAW,
    timer::READ_MONOTONIC_COARSE,
    timer::READ_REALTIME,
    timer::READ_INSTANT,
    timer::READ_CPU,
    timer::READ_USAGE,
    timer::STEP_TSC,
    timer::STEP_TSC_ORDERED,
    timer::STEP_TSCP,
    timer::STEP_MONOTONIC,
    timer::STEP_MONOTONIC_RAW,
    timer::STEP_MONOTONIC_COARSE,
    timer::STEP_REALTIME,
    timer::STEP_INSTANT,
    timer::STEP_CPU,
    timer::STEP_USAGE,
    timer::FIRST_TSC,
    timer::FIRST_TSC_ORDERED,
    timer::FIRST_TSCP,
    timer::FIRST_MONOTONIC,
    timer::FIRST_MONOTONIC_RAW,
    timer::FIRST_MONOTONIC_COARSE,
    timer::FIRST_REALTIME,
    timer::FIRST_INSTANT,
    timer::FIRST_CPU,
    timer::FIRST_USAGE,
    timer::TIMEOUT_POLL,
    timer::TIMEOUT_PPOLL,
    timer::TIMEOUT_SELECT,
    timer::TIMEOUT_EPOLL,
    timer::TIMEOUT_NANOSLEEP,
    timer::TIMEOUT_CLOCK_NANOSLEEP,
    timer::TIMEOUT_TIMERFD,
    timer::TIMEOUT_SIGTIMEDWAIT,
    timer::TIMEOUT_FUTEX,
    timer::TIMEOUT_COND,
    timer::TIMEOUT_MUTEX,
    timer::TIMEOUT_RWLOCK,
    timer::TIMEOUT_SEM,
    timer::TIMEOUT_MQ,
    timer::TIMEOUT_PARK,
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
