//! Limits of the system that leave a command too few processes, files, bytes or memory: it refuses or fails with a reason.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use charz_system::cgroup;
use fastrand::Rng;
use xtask::packages::{self, Need};
use xtask::{Outcome, process};

use super::case::{Case, failed};
use super::lines::{self, LINES};
use super::neighbour::{self, VICTIM, of_user, set};
use super::{Lacks, Target, mutant, pick};

const PRLIMIT: Need = Need::new("prlimit", "it limits what charz may use", ["util-linux"; 4]);

/// What a limit is put on by.
#[derive(Clone, Copy)]
enum By {
    /// The flag of prlimit.
    Prlimit(&'static str),
    /// The same of a user who has no other processes: root has no such limit.
    User(&'static str),
    /// Address space, for want of which the system may end what allocates.
    Memory,
    /// A control group.
    Group,
    /// A file system in memory, with so many KiB beyond what the command reads.
    Disk,
}

/// Limits, each with values from hardly anything to enough for some commands.
const LIMITS: [(&str, By, &str); 8] = [
    ("RLIMIT_NPROC", By::User("--nproc"), "0 1 2 3 4 6 8"),
    ("pids.max", By::Group, "1 2 3 4 6 8"),
    ("RLIMIT_NOFILE", By::Prlimit("--nofile"), "5 6 7 8 10 12 14 16 20 24 32"),
    ("RLIMIT_FSIZE", By::Prlimit("--fsize"), "4096 16384 65536 262144"),
    ("RLIMIT_AS", By::Memory, "120000000 150000000 200000000 300000000 500000000"),
    ("RLIMIT_MEMLOCK", By::User("--memlock"), "0 65536"),
    ("RLIMIT_STACK", By::Prlimit("--stack"), "131072 262144 1048576"),
    ("a full disk", By::Disk, "0 4 16 64"),
];

impl By {
    /// Why it cannot be put on here.
    fn lack(self) -> Option<String> {
        match self {
            By::Group | By::Disk if !process::is_root() => Some("needs root".to_owned()),
            By::Group if PARENT.is_none() => Some("no control group has a pids.max that can be set".to_owned()),
            By::User(_) if process::is_root() => neighbour::lacks().map_or_else(Some, |lacks| lacks.into_iter().next()),
            _ => None,
        }
    }
}

/// The group in which one can be made that limits processes.
static PARENT: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let groups = cgroup::groups("pids").into_iter().map(|group| group.folder);
    groups.into_iter().find(|parent| Group::new(parent.clone()).is_ok_and(|group| group.0.join("pids.max").exists()))
});

/// A control group without processes in the end.
struct Group(PathBuf);

impl Group {
    fn new(parent: PathBuf) -> Outcome<Self> {
        let group = parent.join(format!("charz-attack-{}", std::process::id()));
        fs::create_dir(&group).map_err(failed)?;
        Ok(Group(group))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// A file system in memory at a folder.
struct Disk(PathBuf);

impl Disk {
    fn new(folder: PathBuf, kib: u64) -> Outcome<Self> {
        process::run(Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={kib}k"), "tmpfs"]).arg(&folder))?;
        Ok(Disk(folder))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        process::succeeds(Command::new("umount").arg("--lazy").arg(&self.0));
    }
}

pub fn lacks() -> Lacks {
    packages::ensure(&[PRLIMIT]).map_err(|failure| failure.to_string())?;
    let lack = |(what, by, _): (&str, By, &str)| by.lack().map(|why| format!("{what} ({why})"));
    Ok(LIMITS.into_iter().filter_map(lack).collect())
}

/// All lines that are quick, and some that measure, under one limit. Each limit in its turn: first the lowest of each.
pub fn case(target: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let possible: Vec<_> = LIMITS.into_iter().filter(|(_, by, _)| by.lack().is_none()).collect();
    let turn = case.number as usize - 1;
    let (what, by, values) = possible[turn % possible.len()];
    let lowest = values.split(' ').next().unwrap_or_default();
    let value = if turn < possible.len() { lowest } else { mutant::word(values, rng) };
    let (slow, mut chosen): (Vec<_>, Vec<_>) =
        LINES.map(lines::words).into_iter().partition(|words| lines::is_slow(words));
    // Of what is quiet, only errors are heard.
    let quiet: Vec<_> = slow.iter().filter(|words| words.iter().any(|word| word == "-q")).cloned().collect();
    chosen.extend([pick(&slow, rng), pick(&quiet, rng), pick(&quiet, rng)].map(Vec::clone));
    rng.shuffle(&mut chosen);
    for words in chosen {
        case.empty()?;
        let ended = under(target, case, &lines::with_format(words, &target.verbs, rng), by, value);
        ended.map_err(|failure| failure.within(&format!("{what} {value}")))?;
    }
    Ok(())
}

fn under(target: &Target, case: &mut Case<'_>, words: &[String], by: By, value: &str) -> Outcome {
    let read: BTreeMap<&String, &[u8]> = words.iter().filter_map(|word| Some((word, target.file(word)?))).collect();
    // They last for as long as the run.
    let (mut _group, mut _disk) = (None, None);
    let prlimit = |flag: &str| ["prlimit".to_owned(), format!("{flag}={value}")];
    match by {
        By::Prlimit(flag) => case.under.extend(prlimit(flag)),
        By::User(flag) => {
            if process::is_root() {
                case.under.extend(of_user(VICTIM));
            }
            case.under.extend(prlimit(flag));
        }
        By::Memory => {
            case.memory = value.parse().unwrap_or(case.memory);
            case.is_short = true;
            case.under.extend(prlimit("--as"));
        }
        By::Group => {
            let group = Group::new(PARENT.clone().unwrap_or_default())?;
            fs::write(group.0.join("pids.max"), value).map_err(failed)?;
            let enter = format!("echo $$ > '{}' && exec \"$@\"", group.0.join("cgroup.procs").display());
            case.under.extend(["sh", "-c", &enter, "sh"].map(str::to_owned));
            _group = Some(group);
        }
        By::Disk => {
            let kib: u64 = read.values().map(|bytes| (bytes.len() as u64).div_ceil(4096) * 4).sum();
            // Without a size it would have no limit.
            _disk = Some(Disk::new(case.work(), (kib + value.parse::<u64>().unwrap_or_default()).max(4))?);
        }
    }
    for (name, bytes) in &read {
        case.put(name, bytes)?;
    }
    if matches!(by, By::User(_)) && process::is_root() {
        read.keys().try_for_each(|name| set(&case.work().join(name), [VICTIM; 2], 0o644))?;
        [case.work(), case.home()].iter().try_for_each(|folder| set(folder, [VICTIM; 2], 0o755))?;
    }
    target.run(case, words).map(drop)
}
