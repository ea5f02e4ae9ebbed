//! Models of charz's concurrent parts.
//!
//! Loom runs a model under every interleaving of its threads, up to a number of preemptions, and under every outcome that
//! the memory model allows for each atomic access, whatever the processor at hand would do. The code under test is charz's
//! own source, built on loom's locks and atomics in place of the standard library's.
//!
//! A model that passes proves little until it has failed: each has twins, the same source with a bug in it, which it must
//! catch (`build.rs` lists them).

#[cfg(test)]
mod gate;
