//! What limits the number of threads, beside the control groups: [`cgroup::tasks`](crate::cgroup::tasks).

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use rustix::process::{Resource, getrlimit};

use crate::{Status, file};

/// The most threads of the whole system (`kernel.threads-max`).
pub fn threads_max() -> Option<u64> {
    file::number("/proc/sys/kernel/threads-max")
}

/// The first id that no thread gets (`kernel.pid_max`).
pub fn pid_max() -> Option<u64> {
    file::number("/proc/sys/kernel/pid_max")
}

/// The most mappings of a process (`vm.max_map_count`); each thread takes some for its stack.
pub fn max_map_count() -> Option<u64> {
    file::number("/proc/sys/vm/max_map_count")
}

/// The mappings that this process has.
pub fn mappings() -> u64 {
    fs::read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().count() as u64)
}

/// The most threads that this user may have in all processes together (`RLIMIT_NPROC`, `ulimit -u`); `None` if there is no such limit.
pub fn max_of_user() -> Option<u64> {
    getrlimit(Resource::Nproc).current
}

/// The threads of the whole system, those outside of a container among them.
pub fn all() -> Option<u64> {
    file::word("/proc/loadavg")?.split(' ').nth(3)?.split('/').nth(1)?.parse().ok()
}

/// The threads that this process's user has now, as far as `/proc` shows processes.
pub fn of_user() -> Option<u64> {
    of_user_in(Path::new("/proc"))
}

pub(crate) fn of_user_in(proc: &Path) -> Option<u64> {
    let user = |status: &Status| status.users().map(|[real, _]| real);
    let own = user(&Status::new(file::text(proc.join("self/status"))?))?;
    // `self` and `thread-self` are processes that are there by their numbers too.
    let is_number = |name: &OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let processes = fs::read_dir(proc).ok()?.flatten().filter(|entry| is_number(&entry.file_name()));
    let statuses = processes.filter_map(|process| file::text(process.path().join("status")));
    Some(
        statuses
            .map(Status::new)
            .filter(|status| user(status) == Some(own))
            .filter_map(|status| status.threads())
            .sum(),
    )
}
