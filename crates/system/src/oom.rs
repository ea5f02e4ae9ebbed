use std::path::PathBuf;

use crate::cgroup::{counted, groups};

/// How often the kernel has ended a process for want of memory, in this process's control groups and on the machine.
pub struct OomKills(Vec<(PathBuf, u64)>);

impl OomKills {
    /// Reads the counts.
    pub fn read() -> Self {
        let groups = groups("memory").into_iter();
        let files = groups.map(|group| group.file("memory.events", "memory.oom_control"));
        let files = files.chain([PathBuf::from("/proc/vmstat")]);
        OomKills(files.filter_map(|file| counted(&file, "oom_kill").map(|kills| (file, kills))).collect())
    }

    /// Whether there have been more since they were read.
    pub fn grew(&self) -> bool {
        self.0.iter().any(|(file, before)| counted(file, "oom_kill").is_some_and(|now| now > *before))
    }
}
