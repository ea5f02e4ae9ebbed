//! The control groups of this process: where they are mounted, and the quotas and limits that they put on it.
//!
//! A group is limited by its ancestors too, so all groups on the path count. Machines in hybrid mode have both
//! versions mounted, each controller in one of them; in a container a mount may show a part of the hierarchy only.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
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
pub fn groups(controller: &str) -> Vec<Group> {
    let read = |path: &str| file::text(path).unwrap_or_default();
    groups_in(controller, &read(OWN), &read(MOUNTS))
}

/// As [`groups`], given the texts of [`OWN`] and [`MOUNTS`].
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
    /// The most threads that it may have.
    pub max: u64,
    /// The threads that it has now.
    pub current: Option<u64>,
}

impl Group {
    /// The name of a file in version 2 or in version 1.
    pub(crate) fn file(&self, unified: &str, first: &str) -> PathBuf {
        self.folder.join(if self.unified { unified } else { first })
    }

    /// The file that has the quota, in version 2 (`cpu.max`) with its period behind it. The root of version 2 has none.
    pub fn quota_file(&self) -> PathBuf {
        self.file("cpu.max", "cpu.cfs_quota_us")
    }

    /// What that file has in place of a quota where there is none.
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
    pub(crate) fn memory_limit(&self) -> Option<u64> {
        file::number(self.file("memory.max", "memory.limit_in_bytes")).filter(|&most| most < 1 << 60)
    }

    /// What is left of this group's memory in bytes before the system ends its processes, or slows them down (`memory.high`). The
    /// inactive page cache counts as usage, but the kernel reclaims it on demand.
    pub(crate) fn memory_left(&self) -> Option<u64> {
        let high = file::number(self.folder.join("memory.high")).filter(|_| self.unified);
        let most = self.memory_limit().into_iter().chain(high).min()?;
        let used: u64 = file::number(self.file("memory.current", "memory.usage_in_bytes"))?;
        let cache = if self.unified { "inactive_file" } else { "total_inactive_file" };
        Some(most.saturating_sub(used.saturating_sub(counted(&self.folder.join("memory.stat"), cache).unwrap_or(0))))
    }

    /// The limit on this group's threads; `None` where there is none.
    pub(crate) fn tasks(&self) -> Option<Tasks> {
        Some(Tasks {
            max: file::number(self.folder.join("pids.max"))?,
            current: file::number(self.folder.join("pids.current")),
        })
    }

    pub(crate) fn cpuset(&self) -> Option<Vec<u32>> {
        file::list(self.file("cpuset.cpus.effective", "cpuset.effective_cpus"))
    }
}

/// The tightest quota on this process; `None` without a limit, or where nothing can be read.
pub fn quota() -> Option<Quota> {
    tightest(&groups("cpu"), &|path| fs::read_to_string(path).ok())
}

/// As [`quota`], of these groups, whose files are read so.
pub fn tightest(groups: &[Group], read: &dyn Fn(&Path) -> Option<String>) -> Option<Quota> {
    let limit = |group: &Group| group.quota(|path| read(path).ok_or_else(String::new)).ok().flatten();
    groups.iter().filter_map(limit).min_by(|one, other| one.cpus.total_cmp(&other.cpus))
}

/// The smallest limit on the memory of the process's own group and of those above it, in bytes.
pub fn memory_limit() -> Option<u64> {
    groups("memory").iter().filter_map(Group::memory_limit).min()
}

/// The least memory in bytes that a limit leaves, from the process's own group up to the root.
pub fn memory_left() -> Option<u64> {
    groups("memory").iter().filter_map(Group::memory_left).min()
}

/// The groups that limit how many threads there are.
pub fn tasks() -> Vec<Tasks> {
    groups("pids").iter().filter_map(Group::tasks).collect()
}

/// The CPUs of the cpuset, as far as they are online; `None` without one.
pub fn cpuset() -> Option<Vec<u32>> {
    groups("cpuset").iter().find_map(Group::cpuset)
}

/// The groups that may limit this process's time on CPUs. Looked up once: finding them takes longer than reading their files, and a process is
/// not expected to change its group.
static OF_CPUS: LazyLock<Vec<Group>> = LazyLock::new(|| distinct(groups("cpu")));

/// Each group once: a hierarchy may be mounted in several places, where a group's folder is the same.
pub(crate) fn distinct(mut groups: Vec<Group>) -> Vec<Group> {
    let mut seen = BTreeSet::new();
    groups.retain(|group| fs::metadata(&group.folder).is_ok_and(|folder| seen.insert((folder.dev(), folder.ino()))));
    groups
}

/// How many periods a quota has stopped this process's groups in, summed over the group and its ancestors: it counts in the group that
/// has the quota. `None` where no group counts.
pub fn throttled_periods() -> Option<u64> {
    OF_CPUS
        .iter()
        .filter_map(|group| counted(&group.folder.join("cpu.stat"), "nr_throttled"))
        .reduce(u64::saturating_add)
}

/// For how long quotas have stopped threads of these groups, in nanoseconds of all of the threads' CPUs together. `None` where no group
/// counts.
pub fn throttled_ns() -> Option<u64> {
    let of = |group: &Group| {
        let (name, nanos) = if group.unified { ("throttled_usec", 1000) } else { ("throttled_time", 1) };
        counted(&group.folder.join("cpu.stat"), name).map(|time| time.saturating_mul(nanos))
    };
    OF_CPUS.iter().filter_map(of).reduce(u64::saturating_add)
}

/// A number in a file with a name and a number per line.
pub(crate) fn counted(file: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
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
