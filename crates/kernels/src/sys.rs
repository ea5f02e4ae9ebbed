//! Every `unsafe` of the crate, each behind a safe interface: memory mappings, allocators, locks of the C library, processes
//! and what runs in them, and the loops written in assembly.
//!
//! The loops are assembly because their instruction count is the measurement: a compiler that folds two operations into
//! one makes the machine look faster than it is. On architectures without such a loop, plain Rust takes its place.
#![allow(unsafe_code)]

/// Does not compile for a type that may leave the thread that made it: which of the two implementations is meant would not be clear.
macro_rules! not_send {
    ($type:ty) => {
        const _: () = {
            trait Ambiguous<Case> {
                const HERE: () = ();
            }
            struct Sent;
            impl<T> Ambiguous<()> for T {}
            impl<T: Send> Ambiguous<Sent> for T {}
            <$type as Ambiguous<_>>::HERE
        };
    };
}

pub mod arith;
#[cfg(target_arch = "x86_64")]
pub mod canary;
pub mod chase;
pub mod child;
pub mod clocks;
pub mod code;
pub mod counter;
pub mod eventfd;
pub mod futex;
pub mod heap;
pub mod level;
pub mod membarrier;
pub mod mmap;
pub mod peak;
pub mod process;
pub mod pthread;
pub mod ring;
pub mod shared;
pub(crate) mod slice;
pub mod strand;
pub mod stream;
pub mod wait;
pub mod wide;
