//! Every kernel: the slices of the modules, one after the other. A new kernel is a value and a line in the slice of its module.
//!
//! A program that links the crate can bring kernels of its own, by [`add`]: what lists or finds kernels by [`kernels`] and [`find`]
//! then knows them as well.

use std::sync::OnceLock;

use charz_data::Family;

use crate::kernel::Kernel;
use crate::workload::{cmt, compress, fft, matmul, npb};
use crate::{alloc, arith, cache_words, chase, level, loaded, migrate, noop, pages, peak, stream, sync, timer};

/// The built-in kernels, in the order in which they are listed and swept.
static MODULES: &[&[&dyn Kernel]] = &[
    arith::KERNELS,
    peak::KERNELS,
    stream::READ_KERNELS,
    stream::WRITE_KERNELS,
    level::KERNELS,
    loaded::KERNELS,
    cache_words::KERNELS,
    chase::KERNELS,
    pages::KERNELS,
    pages::TURN_KERNELS,
    pages::SHOOTDOWN_KERNELS,
    alloc::KERNELS,
    migrate::KERNELS,
    sync::cas::KERNELS,
    sync::atomic::KERNELS,
    sync::pool::KERNELS,
    sync::c2c::KERNELS,
    sync::counter::KERNELS,
    sync::ring::KERNELS,
    sync::create::KERNELS,
    sync::create::rate::KERNELS,
    sync::create::first::KERNELS,
    sync::create::hold::KERNELS,
    sync::context_switch::KERNELS,
    sync::call::KERNELS,
    sync::handoff::KERNELS,
    sync::fork_join::KERNELS,
    sync::uncontended::KERNELS,
    sync::barrier::KERNELS,
    timer::KERNELS,
    timer::TIMEOUT_KERNELS,
    npb::KERNELS,
    matmul::KERNELS,
    fft::KERNELS,
    compress::KERNELS,
    cmt::KERNELS,
    cmt::quota::KERNELS,
    npb::process::KERNELS,
    noop::KERNELS,
];

static ADDED: OnceLock<&[&dyn Kernel]> = OnceLock::new();

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAdded {
    /// There is another kernel of this name, built-in or among those to add.
    #[error("two kernels are called {0:?}: give each a name of its own")]
    NameTaken(&'static str),
    /// Kernels were added before: a list that grows while it is in use would differ from one reader to the next.
    #[error("kernels were added before: add all of them in one call, when the program starts")]
    Twice,
}

/// Adds kernels after the built-in ones, for the whole process: once, before anything asks for [`kernels`].
///
/// # Errors
/// [`NotAdded`]; the catalog is then as it was.
pub fn add(kernels: &'static [&'static dyn Kernel]) -> Result<(), NotAdded> {
    let built_in = || MODULES.iter().copied().flatten();
    for (i, kernel) in kernels.iter().enumerate() {
        let name = &kernel.card().name;
        if built_in().chain(&kernels[..i]).any(|other| other.card().name == *name) {
            return Err(NotAdded::NameTaken(name));
        }
    }
    ADDED.set(kernels).map_err(|_| NotAdded::Twice)
}

pub fn kernels() -> impl Iterator<Item = &'static dyn Kernel> {
    let added = ADDED.get().copied().unwrap_or_default();
    MODULES.iter().copied().flatten().chain(added).copied()
}

/// The families that have kernels, in the order of [`Family::ALL`].
pub fn families() -> impl Iterator<Item = Family> {
    Family::ALL.into_iter().filter(|family| kernels().any(|kernel| kernel.card().family == *family))
}

pub fn find(name: &str) -> Option<&'static dyn Kernel> {
    kernels().find(|kernel| kernel.card().name == name)
}

#[cfg(test)]
mod tests;
