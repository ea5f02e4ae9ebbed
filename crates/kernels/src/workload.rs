//! Whole programs, whose threads share the work of one problem.
//!
//! The benchmarks of the NPB, the units of the CMT article and the pipeline of compression are run by the workers themselves.
//!
//! The fast Fourier transform and the product of matrices of the T3-4 report, section 7, are run by a [`runtime`] that the kernel is
//! named after. One worker has the runtime do them and sleeps meanwhile; the others lend their seats, and sleep as well. The runtime's
//! threads may run on all seats; those of workers that float run anywhere.

pub(crate) mod cmt;
pub(crate) mod compress;
pub(crate) mod fft;
mod folder;
mod lead;
pub mod limit;
pub(crate) mod matmul;
pub mod npb;
mod runtime;
mod seats;
mod team;
