//! How many threads a runtime may have at a time.

use std::sync::OnceLock;

/// The most threads, and what sets that limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadLimit {
    /// The most threads at a time.
    pub at_most: u32,
    /// A clause, e.g. `vm.max_map_count is 65530`.
    pub because: String,
}

/// Where the program has set no limit: beyond as many threads the scheduler, not the machine, is measured.
const OWN: u32 = 4096;

static LIMIT: OnceLock<ThreadLimit> = OnceLock::new();

impl ThreadLimit {
    /// Sets the limit of this process, once, before any kernel runs: a program that knows what the system allows, and what other
    /// programs need, leaves them room. Returns whether it was the first to do so.
    pub fn set(self) -> bool {
        LIMIT.set(self).is_ok()
    }

    pub(super) fn get() -> ThreadLimit {
        let own = || ThreadLimit { at_most: OWN, because: "the program's own cap".to_owned() };
        LIMIT.get().cloned().unwrap_or_else(own)
    }
}
