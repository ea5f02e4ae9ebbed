//! Limits of the control groups that this process is in.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const ROOT: &str = "/sys/fs/cgroup";

/// The folders of the control group of version 2, and of the one of version 1 that has this controller, each followed by those around it.
fn folders(controller: &str, groups: &str, root: &Path) -> Vec<PathBuf> {
    let of = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?.trim_start_matches('/'));
        let root = match controllers {
            "" => root.to_owned(),
            _ => controllers.split(',').find(|name| *name == controller).map(|name| root.join(name))?,
        };
        let group = root.join(group);
        Some(group.ancestors().take_while(|around| around.starts_with(&root)).map(Path::to_owned).collect::<Vec<_>>())
    };
    groups.lines().filter_map(of).flatten().collect()
}

fn own(controller: &str) -> Vec<PathBuf> {
    folders(controller, &fs::read_to_string("/proc/self/cgroup").unwrap_or_default(), Path::new(ROOT))
}

/// The lowest `pids.max`.
pub(crate) fn tasks() -> Option<u64> {
    least_tasks(&own("pids"))
}

fn least_tasks(folders: &[PathBuf]) -> Option<u64> {
    let limit = |folder: &PathBuf| fs::read_to_string(folder.join("pids.max")).ok()?.trim().parse().ok();
    folders.iter().filter_map(limit).min()
}

/// The processor time that a group's threads may have together in each period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quota {
    pub(crate) cpus: f64,
    pub(crate) period: Duration,
}

/// The one that allows the fewest processors.
pub(crate) fn quota() -> Option<Quota> {
    least_quota(&own("cpu"))
}

fn least_quota(folders: &[PathBuf]) -> Option<Quota> {
    let quota = |folder: &PathBuf| {
        let read = |file: &str| fs::read_to_string(folder.join(file)).ok();
        let text = read("cpu.max")
            .or_else(|| Some(format!("{} {}", read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?)))?;
        let (quota, period) = text.trim().split_once(' ')?;
        // Without a limit it is `max`, or -1.
        let (quota, period) = (quota.parse::<u64>().ok()?, period.parse::<u64>().ok().filter(|period| *period > 0)?);
        Some(Quota { cpus: quota as f64 / period as f64, period: Duration::from_micros(period) })
    };
    folders.iter().filter_map(quota).min_by(|one, other| one.cpus.total_cmp(&other.cpus))
}

#[cfg(test)]
mod tests {
    use std::{env, process};

    use super::*;

    #[test]
    fn the_tightest_limit_of_the_group_and_those_around_it_counts() {
        let root = env::temp_dir().join(format!("charz-groups-{}", process::id()));
        let files = [
            ("a/pids.max", "300\n"),
            ("a/b/pids.max", "200\n"),
            ("a/b/c/pids.max", "max\n"),
            ("pids/x/pids.max", "77\n"),
            ("a/cpu.max", "150000 100000\n"),
            ("a/b/cpu.max", "max 100000\n"),
            ("cpu/x/cpu.cfs_quota_us", "5000\n"),
            ("cpu/x/cpu.cfs_period_us", "20000\n"),
            ("cpu/cpu.cfs_quota_us", "-1\n"),
            ("cpu/cpu.cfs_period_us", "100000\n"),
        ];
        for (file, text) in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let tasks = |groups| least_tasks(&folders("pids", groups, &root));
        assert_eq!(tasks("0::/a/b/c\n"), Some(200));
        assert_eq!(tasks("0::/a\n"), Some(300));
        assert_eq!(tasks("4:cpu,pids:/x\n0::/a\n"), Some(77));
        assert_eq!(tasks("4:cpu:/x\n0::/\n"), None);
        let quota = |groups| least_quota(&folders("cpu", groups, &root)).map(|quota| (quota.cpus, quota.period));
        assert_eq!(quota("0::/a/b/c\n"), Some((1.5, Duration::from_millis(100))));
        assert_eq!(quota("4:cpu,pids:/x\n0::/a\n"), Some((0.25, Duration::from_millis(20))));
        assert_eq!(quota("4:cpu:/\n0::/\n"), None);
        fs::remove_dir_all(&root).unwrap();
    }
}
