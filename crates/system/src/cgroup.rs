//! The control groups of this process: where they are mounted, and the quotas and limits that they put on it.
//!
//! A group is limited by its ancestors too, so all groups on the path count. Machines in hybrid mode have both
//! versions mounted, each controller in one of them; in a container a mount may show a part of the hierarchy only.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use crate::{Error, file};

/// The file that names the groups of this process, a line per hierarchy.
pub const OWN: &str = "/proc/self/cgroup";

/// The file that says where hierarchies are mounted.
pub const MOUNTS: &str = "/proc/self/mountinfo";

/// A group that this process is in, its own or an ancestor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Where its files are.
    pub folder: PathBuf,
    /// Whether it is of version 2 of control groups, whose files have other names than those of version 1.
    pub unified: bool,
}

/// The groups that a controller such as `cpu` may limit this process by, each followed by its ancestors; none if the
/// system does not report them.
#[must_use]
pub fn groups(controller: &str) -> Vec<Group> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    groups_in(controller, &read(OWN), &read(MOUNTS))
}

/// As [`groups`], given the texts of [`OWN`] and [`MOUNTS`].
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
    /// How long a period is.
    pub period: Duration,
}

/// The threads and processes of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tasks {
    /// The most that it may have.
    pub max: u64,
    /// Those that it has.
    pub current: Option<u64>,
}

impl Group {
    /// The name of a file in version 2 or in version 1.
    pub(crate) fn file(&self, unified: &str, first: &str) -> PathBuf {
        self.folder.join(if self.unified { unified } else { first })
    }

    /// The file that has the quota, in version 2 (`cpu.max`) with its period behind it. The root of version 2 has none.
    #[must_use]
    pub fn quota_file(&self) -> PathBuf {
        self.file("cpu.max", "cpu.cfs_quota_us")
    }

    /// What that file has in place of a quota where there is none.
    #[must_use]
    pub fn no_quota(&self) -> &'static str {
        if self.unified { "max" } else { "-1" }
    }

    /// This group's own quota, `None` where it has none. `read` gives the content of a file.
    pub fn quota<E: From<Error>>(&self, read: impl Fn(&Path) -> Result<String, E>) -> Result<Option<Quota>, E> {
        let file = self.quota_file();
        let text = read(&file)?;
        let mut words = text.split_whitespace();
        let quota = words.next().unwrap_or_default();
        if quota == self.no_quota() {
            return Ok(None);
        }
        let period = if self.unified {
            words.next().unwrap_or_default().to_owned()
        } else {
            read(&self.folder.join("cpu.cfs_period_us"))?.trim().to_owned()
        };
        match (quota.parse::<u64>(), period.parse::<u64>()) {
            (Ok(quota), Ok(period)) if quota > 0 && period > 0 => {
                Ok(Some(Quota { cpus: quota as f64 / period as f64, period: Duration::from_micros(period) }))
            }
            _ => Err(Error::new(file, format!("{:?} and {period:?} are no quota and period", text.trim())).into()),
        }
    }

    /// The most memory of this group in bytes. Version 1 says "no limit" by a number near 2⁶³, version 2 by `max`, which is no number.
    fn memory_limit(&self) -> Option<u64> {
        file::number(self.file("memory.max", "memory.limit_in_bytes")).filter(|&most| most < 1 << 60)
    }

    /// What is left of this group's memory in bytes before the system ends its processes, or slows them down (`memory.high`). The
    /// inactive page cache counts as usage, but the kernel reclaims it on demand.
    fn memory_left(&self) -> Option<u64> {
        let high = file::number(self.folder.join("memory.high")).filter(|_| self.unified);
        let most = self.memory_limit().into_iter().chain(high).min()?;
        let used: u64 = file::number(self.file("memory.current", "memory.usage_in_bytes"))?;
        let cache = if self.unified { "inactive_file" } else { "total_inactive_file" };
        Some(most.saturating_sub(used.saturating_sub(counted(&self.folder.join("memory.stat"), cache).unwrap_or(0))))
    }
}

/// The tightest quota on this process; `None` without a limit, or where nothing can be read.
#[must_use]
pub fn quota() -> Option<Quota> {
    tightest(&groups("cpu"), &|path| fs::read_to_string(path).ok())
}

/// As [`quota`], of these groups, whose files are read so.
pub fn tightest(groups: &[Group], read: &dyn Fn(&Path) -> Option<String>) -> Option<Quota> {
    let limit = |group: &Group| group.quota(|path| read(path).ok_or_else(String::new)).ok().flatten();
    groups.iter().filter_map(limit).min_by(|one, other| one.cpus.total_cmp(&other.cpus))
}

/// The smallest limit on the memory of the process's own group and of those above it, in bytes.
#[must_use]
pub fn memory_limit() -> Option<u64> {
    groups("memory").iter().filter_map(Group::memory_limit).min()
}

/// The least memory in bytes that a limit leaves, from the process's own group up to the root.
#[must_use]
pub fn memory_left() -> Option<u64> {
    groups("memory").iter().filter_map(Group::memory_left).min()
}

/// The groups that limit how many threads there are.
#[must_use]
pub fn tasks() -> Vec<Tasks> {
    let tasks = |group: Group| {
        let number = |name: &str| file::number(group.folder.join(name));
        Some(Tasks { max: number("pids.max")?, current: number("pids.current") })
    };
    groups("pids").into_iter().filter_map(tasks).collect()
}

/// The CPUs of the cpuset, as far as they are online; `None` without one.
#[must_use]
pub fn cpuset() -> Option<Vec<u32>> {
    groups("cpuset").iter().find_map(|group| file::list(group.file("cpuset.cpus.effective", "cpuset.effective_cpus")))
}

/// How many periods a quota has stopped this process's groups in, summed over the group and its ancestors: it counts in the group that
/// has the quota. `None` where no group counts.
#[must_use]
pub fn throttled_periods() -> Option<u64> {
    /// Looked up once: finding the groups takes longer than reading these files, and a process is not expected to change its group.
    static FILES: LazyLock<Vec<PathBuf>> =
        LazyLock::new(|| groups("cpu").into_iter().map(|group| group.folder.join("cpu.stat")).collect());
    FILES.iter().filter_map(|file| counted(file, "nr_throttled")).reduce(u64::saturating_add)
}

/// A number in a file with a name and a number per line.
pub(crate) fn counted(file: &Path, name: &str) -> Option<u64> {
    number_of(&fs::read_to_string(file).ok()?, name)
}

/// A number in the text of such a file.
#[must_use]
pub fn number_of(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?.trim().parse().ok()
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

    use super::*;

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

    #[test]
    fn a_quota_that_is_none_is_named() {
        let group = Group { folder: "/g".into(), unified: true };
        let error = group.quota(|_| Ok::<_, String>("x 100000\n".to_owned())).unwrap_err();
        assert_eq!(error, "/g/cpu.max: \"x 100000\" and \"100000\" are no quota and period");
        assert_eq!(group.quota(|_| Err::<String, _>("refused".to_owned())), Err("refused".to_owned()));
    }

    #[test]
    fn numbers_have_names() {
        assert_eq!(number_of("nr_periods 9\nnr_throttled 3\nthrottled_time 7\n", "nr_throttled"), Some(3));
        assert_eq!(number_of("usage_usec 9\n", "nr_throttled"), None);
    }

    #[test]
    fn a_limit_of_a_control_group_leaves_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
        let left = |unified| Group { folder: folder.path().to_owned(), unified }.memory_left();
        write("memory.max", "max\n");
        write("memory.current", "100\n");
        assert_eq!(left(true), None);
        write("memory.max", "1000\n");
        assert_eq!(left(true), Some(900));
        write("memory.stat", "anon 10\ninactive_file 60\n");
        assert_eq!(left(true), Some(960), "page cache can be dropped");
        write("memory.current", "1100\n");
        assert_eq!(left(true), Some(0));
        write("memory.high", "1500\n");
        assert_eq!(left(true), Some(0));
        write("memory.max", "max\n");
        assert_eq!(left(true), Some(460), "beyond it allocations are slowed down");
        write("memory.limit_in_bytes", "9223372036854771712\n");
        write("memory.usage_in_bytes", "5\n");
        assert_eq!(left(false), None);
    }
}
