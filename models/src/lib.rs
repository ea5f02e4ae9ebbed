//! Models of charz's concurrent parts.
//!
//! Loom runs a model under every interleaving of its threads, up to a number of preemptions, and under every outcome that
//! the memory model allows for each atomic access, independent of the processor at hand. The code under test is charz's
//! own source, built on loom's locks and atomics in place of the standard library's.
//!
//! A model that passes proves little until it has failed: each has twins, the same source with a bug in it, which it must
//! catch (`bugs` lists them, `build.rs` makes them).

#[cfg(test)]
use std::sync::{Mutex, PoisonError};

#[cfg(test)]
mod barrier;
#[cfg(test)]
mod counter;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod lock;
#[cfg(test)]
mod pool;
#[cfg(test)]
mod primitives;

/// Explores a model with at most three preemptions, which is where the bugs of such small code are known to lie (Musuvathi
/// and Qadeer, Iterative Context Bounding, PLDI 2007, found all of theirs with two).
#[cfg(test)]
fn explore(model: impl Fn() + Send + Sync + 'static) {
    // Each execution maps stacks for its threads: two explorations at once take twice as long as one after the other.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}
