//! Every `unsafe` of the crate, each behind a safe interface: what threads borrow of the thread that waits for them, loops for the vectors of
//! the processor, and the file system of a folder.
#![allow(unsafe_code)]

pub mod file_system;
pub mod fork;
pub mod multiply;
pub mod wide_vectors;
