//! Control groups of version 1, made for a test and taken away with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// A group below this process's own, for one controller.
pub struct Group {
    folder: PathBuf,
}

impl Group {
    /// `None`, and a word about it, where none can be made.
    pub fn new(controller: &str) -> Option<Self> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let path = own.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            fields.next()?.split(',').any(|name| name == controller).then(|| fields.next())?
        });
        let name = format!("charz-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder =
            path.map(|path| Path::new("/sys/fs/cgroup").join(controller).join(path.trim_start_matches('/')).join(name));
        let made = folder.filter(|folder| fs::create_dir(folder).is_ok());
        if made.is_none() {
            println!("skipped: there is no control group of version 1 to make for {controller:?}");
        }
        made.map(|folder| Group { folder })
    }

    /// Writes one of its files.
    #[track_caller]
    pub fn set(&self, file: &str, value: &str) {
        fs::write(self.folder.join(file), value).unwrap_or_else(|error| panic!("{file} becomes {value}: {error}"));
    }

    /// Shell words that put the shell into the group.
    pub fn join(&self) -> String {
        format!("echo $$ > {}", self.folder.join("cgroup.procs").display())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Its processes have ended; the kernel takes a moment to notice.
        for _ in 0..100 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}
