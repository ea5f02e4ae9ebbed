//! Every kernel: the slices of the modules, one after the other. A new kernel is a value and a line in the slice of its module.
//!
//! A program that links the crate can bring kernels of its own, by [`add`]: what lists or finds kernels by [`kernels`] and [`find`]
//! then knows them as well.

use std::collections::HashSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use charz_data::Family;

use crate::kernel::Kernel;
use crate::{
    alloc, arith, cache_words, chase, copying, level, loaded, migrate, noop, pages, peak, stream, sync, timer,
};

/// The built-in kernels, in the order in which they are listed and swept; the floor comes last.
#[rustfmt::skip]
static MODULES: &[&[&dyn Kernel]] = &[
    arith::KERNELS, peak::KERNELS, stream::READ_KERNELS, stream::WRITE_KERNELS, level::KERNELS, loaded::KERNELS,
    copying::KERNELS, cache_words::KERNELS, chase::KERNELS, pages::KERNELS, pages::TURN_KERNELS,
    pages::SHOOTDOWN_KERNELS, pages::FLAGS_KERNELS, alloc::KERNELS, migrate::KERNELS, sync::cas::KERNELS,
    sync::atomic::KERNELS, sync::pool::KERNELS, sync::c2c::KERNELS,
    sync::counter::KERNELS, sync::ring::KERNELS, sync::create::KERNELS, sync::create::rate::KERNELS,
    sync::create::first::KERNELS, sync::create::hold::KERNELS, sync::context_switch::KERNELS, sync::call::KERNELS,
    sync::handoff::KERNELS, sync::fork_join::KERNELS, sync::uncontended::KERNELS, sync::barrier::KERNELS,
    sync::acquire::KERNELS, sync::sections::KERNELS, sync::preempted::KERNELS, timer::KERNELS, timer::TIMEOUT_KERNELS, timer::TIMESLICE_KERNELS,
    timer::INTERRUPTED_KERNELS,
];

/// What other crates have, in the order in which they were added.
static ADDED: Mutex<Vec<&dyn Kernel>> = Mutex::new(Vec::new());

/// Every kernel, from when it was first asked for: the built-in ones, those of other crates, and the floor.
static ALL: OnceLock<Vec<&dyn Kernel>> = OnceLock::new();

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAdded {
    /// There is another kernel of this name, built-in or added.
    #[error("two kernels are called {0:?}: give each a name of its own")]
    NameTaken(&'static str),
    /// Kernels were listed before: a list that grows while it is in use would differ from one reader to the next.
    #[error("kernels were listed before: add all of them when the program starts")]
    Late,
}

/// Adds kernels after the built-in ones, for the whole process, before anything asks for [`kernels`].
///
/// # Errors
/// [`NotAdded`]; the catalog is then as it was.
pub fn add(kernels: &[&'static dyn Kernel]) -> Result<(), NotAdded> {
    let mut added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
    if ALL.get().is_some() {
        return Err(NotAdded::Late);
    }
    let mut names: HashSet<&str> = listed(&added).map(|kernel| &*kernel.card().name).collect();
    if let Some(taken) = kernels.iter().find(|kernel| !names.insert(&kernel.card().name)) {
        return Err(NotAdded::NameTaken(&taken.card().name));
    }
    added.extend(kernels);
    Ok(())
}

fn listed(added: &[&'static dyn Kernel]) -> impl Iterator<Item = &'static dyn Kernel> {
    MODULES.iter().copied().flatten().chain(added).chain(noop::KERNELS).copied()
}

pub fn kernels() -> impl Iterator<Item = &'static dyn Kernel> {
    let all = || listed(&ADDED.lock().unwrap_or_else(PoisonError::into_inner)).collect();
    ALL.get_or_init(all).iter().copied()
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
