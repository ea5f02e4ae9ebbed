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
