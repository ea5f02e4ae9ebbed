//! What the gate is built on. The models of the gate put loom's parts, of the same names, in place of these.

pub(super) use std::hint::spin_loop;
pub(super) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
pub(super) use std::sync::{Condvar, Mutex, MutexGuard};
pub(super) use std::thread::yield_now;
