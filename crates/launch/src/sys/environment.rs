//! The environment of this process.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;

use charz_system::plugins;

/// Lets hwloc load no plugins and print nothing, in this process and in those of this program that it starts, unless the user's environment
/// says otherwise. Programs of others have the user's environment. Called first by a program: with a second thread it does nothing.
pub fn prepare_hwloc() {
    for (name, value) in plugins::OURS {
        if env::var_os(name).is_none() && has_one_thread() {
            // SAFETY: there is no other thread that could read or change the environment meanwhile.
            unsafe { env::set_var(name, value) };
        }
    }
}

fn has_one_thread() -> bool {
    // The folder, its parent's entry for it, and a folder for each thread.
    fs::metadata("/proc/self/task").is_ok_and(|folder| folder.nlink() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_seen() {
        // That of the test runs beside the first.
        assert!(!has_one_thread());
        prepare_hwloc();
        for (name, value) in plugins::OURS {
            assert_eq!(env::var_os(name).filter(|own| own == value), None);
        }
    }
}
