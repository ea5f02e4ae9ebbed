//! What the locks and pools are built on here; in the kernels `sync/primitives.rs`.

pub(crate) use crossbeam::utils::CachePadded;
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A boolean whose stores are exchanges.
///
/// Loom knows the order of stores to one variable only where something else orders them. An exchange that is repeated beside a
/// store may then read its own outcome for ever, as if the store never came to pass; exchanges take turns.
#[derive(Debug)]
pub(crate) struct AtomicBool(loom::sync::atomic::AtomicBool);

impl AtomicBool {
    pub(crate) fn new(value: bool) -> Self {
        AtomicBool(loom::sync::atomic::AtomicBool::new(value))
    }

    pub(crate) fn load(&self, order: Ordering) -> bool {
        self.0.load(order)
    }

    pub(crate) fn store(&self, value: bool, order: Ordering) {
        self.0.swap(value, order);
    }

    pub(crate) fn swap(&self, value: bool, order: Ordering) -> bool {
        self.0.swap(value, order)
    }
}

/// Turns of one wait whose alternatives are explored.
const TURNS: usize = 2;

/// A wait: each turn lets another thread run.
///
/// Where two wait, loom would explore that they take turns for ever, while the one that they wait for never runs. So an
/// execution in which a wait gets long is run to its end by a fair schedule, and nothing that branches off there is
/// explored; the same happens earlier in another execution. A thread that waits for nothing still never ends, which loom reports.
pub(crate) struct Spin(usize);

impl Spin {
    pub(crate) fn start() -> Self {
        Spin(0)
    }

    pub(crate) fn turn(&mut self, _: Option<&OwnStrands>) {
        self.0 += 1;
        if self.0 > TURNS {
            loom::skip_branch();
        }
        loom::thread::yield_now();
    }
}

/// A wait is as long with strands as without.
pub(crate) struct OwnStrands;

/// For delays, which are of no length here.
pub(crate) fn strands() -> u32 {
    2
}

/// Time that passes is of no interest to loom, which tries every order anyway.
pub(crate) fn pause(_: u32) {
    loom::thread::yield_now();
}

/// What a worker met; in the kernels `sync/met.rs`.
#[derive(Debug, Default)]
pub(crate) struct WaitStats {
    pub(crate) attempts: u64,
    pub(crate) failures: u64,
    pub(crate) waits: u64,
}

impl WaitStats {
    pub(crate) fn waited(&mut self, spin: &Spin) {
        self.waits += u64::from(spin.0 > 0);
    }
}

/// What is done at the end of a scope; in the kernels `sync/lock.rs`.
pub(crate) struct Finally<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for Finally<F> {
    fn drop(&mut self) {
        // What loom cuts short takes no further step.
        if !std::thread::panicking() {
            (self.0)();
        }
    }
}
