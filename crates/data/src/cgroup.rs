//! The control groups of this process: where they are mounted, and the quotas and limits that they put on it.
//!
//! A group is limited by its ancestors too, so all groups on the path count. Machines in hybrid mode have both
//! versions mounted, each controller in one of them; in a container a mount may show a part of the hierarchy only.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A group that this process is in, its own or an ancestor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub folder: PathBuf,
    /// Whether it is of version 2 of control groups, whose files have other names than those of version 1.
    pub unified: bool,
}

/// The groups that a controller such as `cpu` may limit this process by, each followed by its ancestors; none if the
/// system does not report them.
#[must_use]
pub fn groups(controller: &str) -> Vec<Group> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    groups_in(controller, &read("/proc/self/cgroup"), &read("/proc/self/mountinfo"))
}

/// As [`groups`], given the texts of `/proc/self/cgroup` and `/proc/self/mountinfo`.
#[must_use]
pub fn groups_in(controller: &str, groups: &str, mounts: &str) -> Vec<Group> {
    mounts.lines().filter_map(|line| on_mount(controller, line, groups)).flatten().collect()
}

/// Reads a line of `mountinfo`: id, parent, device, root, mount point, options, optional fields, `-`, type, source,
/// options.
fn on_mount(controller: &str, line: &str, groups: &str) -> Option<Vec<Group>> {
    let (mount, system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(3);
    let (root, point) = (unescape(mount.next()?), unescape(mount.next()?));
    let mut system = system.split(' ');
    let unified = match system.next()? {
        "cgroup2" => true,
        "cgroup" if system.nth(1)?.split(',').any(|option| option == controller) => false,
        _ => return None,
    };
    let group = groups.lines().find_map(|line| {
        // The hierarchy's id, its controllers, and the group; version 2 has no controllers there.
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        let ours = if unified { controllers.is_empty() } else { controllers.split(',').any(|name| name == controller) };
        ours.then_some(group)
    })?;
    // The part of the path above the mount's root is not there.
    let group = Path::new(group);
    let group = group.strip_prefix(&root).or_else(|_| group.strip_prefix("/")).ok()?;
    let point = Path::new(&point);
    Some(group.ancestors().map(|group| Group { folder: point.join(group), unified }).collect())
}

/// The processor time that the threads of a group may have together in each period.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quota {
    /// In CPUs' worth.
    pub cpus: f64,
    pub period: Duration,
}

/// The tightest quota on this process; `None` without a limit, or where nothing can be read.
///
/// Version 2 keeps it in `cpu.max` (quota and period in microseconds, or `max`), version 1 in `cpu.cfs_quota_us` (or -1)
/// and `cpu.cfs_period_us`.
#[must_use]
pub fn quota() -> Option<Quota> {
    tightest(&groups("cpu"), &|path| fs::read_to_string(path).ok())
}

/// As [`quota`], of these groups, whose files are read so.
pub fn tightest(groups: &[Group], read: &dyn Fn(&Path) -> Option<String>) -> Option<Quota> {
    groups.iter().filter_map(|group| limit(group, read)).min_by(|one, other| one.cpus.total_cmp(&other.cpus))
}

fn limit(group: &Group, read: &dyn Fn(&Path) -> Option<String>) -> Option<Quota> {
    let (quota, period) = if group.unified {
        let text = read(&group.folder.join("cpu.max"))?;
        let (quota, period) = text.trim().split_once(' ')?;
        (quota.to_owned(), period.to_owned())
    } else {
        (read(&group.folder.join("cpu.cfs_quota_us"))?, read(&group.folder.join("cpu.cfs_period_us"))?)
    };
    // `max` is no number and -1 is below zero: neither is a limit.
    let (quota, period): (f64, f64) = (quota.trim().parse().ok()?, period.trim().parse().ok()?);
    let cpus = quota / period;
    let sensible = quota > 0.0 && period >= 1.0 && cpus > 0.0 && cpus.is_finite();
    sensible.then(|| Quota { cpus, period: Duration::from_micros(period as u64) })
}

/// Undoes the escapes of `mountinfo`, which writes blanks and their like as a backslash and three octal digits.
fn unescape(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut rest = field;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        match after.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                text.push(char::from(byte));
                rest = &after[3..];
            }
            None => {
                text.push('\\');
                rest = after;
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{groups_in, tightest};

    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";
    const V1: &str = "33 32 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct";

    #[track_caller]
    fn check(groups: &str, mounts: &str, files: &[(&str, &str)], expected: Option<f64>) {
        let files: HashMap<&str, &str> = files.iter().copied().collect();
        let read = |path: &std::path::Path| files.get(path.to_str()?).map(ToString::to_string);
        assert_eq!(tightest(&groups_in("cpu", groups, mounts), &read).map(|quota| quota.cpus), expected);
    }

    #[test]
    fn the_tightest_limit_on_the_path_counts() {
        let files = [
            ("/sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/other/cpu.max", "1000 100000\n"),
        ];
        check("0::/a/b\n", V2, &files, Some(1.5));
        check("0::/\n", V2, &files, None);
    }

    #[test]
    fn each_controller_has_its_own_place() {
        let mounts = format!("{V1}\n34 32 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory");
        let folders = |controller: &str| -> Vec<String> {
            let groups = groups_in(controller, "5:memory:/a/b\n3:cpu,cpuacct:/\n", &mounts);
            groups.into_iter().map(|group| group.folder.display().to_string()).collect()
        };
        assert_eq!(
            folders("memory"),
            ["/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/memory/"]
        );
        assert_eq!(folders("cpu"), ["/sys/fs/cgroup/cpu,cpuacct/"]);
        assert_eq!(folders("pids"), [""; 0]);
    }

    #[test]
    fn version_one_has_two_files_and_minus_one_for_no_limit() {
        let quota = "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us";
        let period = ("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
        check("4:cpu,cpuacct:/a\n0::/\n", V1, &[(quota, "30000\n"), period], Some(0.3));
        check("4:cpu,cpuacct:/a\n0::/\n", V1, &[(quota, "-1\n"), period], None);
    }

    #[test]
    fn in_hybrid_mode_both_versions_are_asked() {
        let files = [
            ("/sys/fs/cgroup/unified/a/cpu.max", "200000 100000"),
            ("/sys/fs/cgroup/cpu,cpuacct/b/cpu.cfs_quota_us", "100000"),
            ("/sys/fs/cgroup/cpu,cpuacct/b/cpu.cfs_period_us", "100000"),
        ];
        let mounts = format!("{}\n{V1}", V2.replace("/sys/fs/cgroup", "/sys/fs/cgroup/unified"));
        check("4:cpu,cpuacct:/b\n0::/a\n", &mounts, &files, Some(1.0));
    }

    #[test]
    fn a_container_sees_its_own_part_of_the_hierarchy() {
        let mount = "30 23 0:26 /docker/1 /my\\040groups rw - cgroup2 cgroup2 rw";
        check("0::/docker/1/x\n", mount, &[("/my groups/cpu.max", "50000 100000")], Some(0.5));
    }

    #[test]
    fn nonsense_is_no_limit() {
        for text in ["", "max", "0 100000", "x 100000", "100000 0", "NaN 1", "1e400 1", "1e308 1e-308", "1e-308 1e308"]
        {
            check("0::/", V2, &[("/sys/fs/cgroup/cpu.max", text)], None);
        }
        check("", "", &[], None);
        check("::\n:", " - \n1 2 3 - cgroup", &[], None);
    }
}
