//! The one list of kernels. A new kernel is a value and a line here; the command line, its help, the generated page and
//! the tests follow from it.

use crate::kernel::Kernel;
use crate::{arith, noop, peak, stream};

/// Every kernel, in the order in which they are listed and swept.
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
    &noop::NOOP,
];

/// The kernel with this name.
pub fn find(name: &str) -> Option<&'static dyn Kernel> {
    KERNELS.iter().copied().find(|kernel| kernel.card().name == name)
}
