//! How many files this process may have open, and what it starts.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Takes as many open files as the system allows: each program whose output is captured has two. What is started from here on may have as
/// many as this process had before, since select(2) fails beyond 1,024.
pub fn allow_files() {
    let before = *BEFORE.get_or_init(|| getrlimit(Resource::Nofile));
    // Refused, it is as before, and the lack of files is reported where it hurts.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: before.maximum, ..before });
}

/// The limit of programs, where it is not this process's.
pub(crate) fn of_programs() -> Option<Rlimit> {
    BEFORE.get().copied()
}
