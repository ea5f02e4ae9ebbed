//! What the memory killer did meanwhile.

use std::fs;
use std::path::{Path, PathBuf};

use charz_topology::cgroup;

/// The kills of the memory killer, in this process's control groups and on the machine.
pub(crate) struct OomKills(Vec<(PathBuf, u64)>);

impl OomKills {
    pub(crate) fn read() -> Self {
        let files = cgroup::groups("memory")
            .into_iter()
            .map(|group| group.folder.join(if group.unified { "memory.events" } else { "memory.oom_control" }));
        let system = PathBuf::from("/proc/vmstat");
        OomKills(files.chain([system]).filter_map(|file| Some((file.clone(), kills(&file)?))).collect())
    }

    /// Whether there were more since.
    pub(crate) fn grew(&self) -> bool {
        self.0.iter().any(|(file, before)| kills(file).is_some_and(|now| now > *before))
    }
}

fn kills(file: &Path) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}
