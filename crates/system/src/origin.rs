//! Whose a file is, and who else can change it or put another in its place.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use crate::file::number;

/// The links that a path may go through, as many as Linux follows (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// The usual id of users without one in a user namespace.
const OVERFLOW: u32 = 65_534;

/// The bits that let a group or all others write.
const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// The user for whom this process works: its effective user and, below `sudo`, the user who called that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invoker {
    effective: u32,
    /// The user who called `sudo`.
    caller: Option<u32>,
    /// Whether the effective user has an id of its own in this user namespace: files of all users without one seem to be of a single user.
    is_mapped: bool,
}

impl Invoker {
    /// The invoker of this process. `SUDO_UID` counts for root only, who could read any file anyway.
    #[must_use]
    pub fn current() -> Self {
        let effective = rustix::process::geteuid().as_raw();
        let caller = std::env::var("SUDO_UID").ok().and_then(|id| id.parse().ok()).filter(|_| effective == 0);
        let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        let overflow = number("/proc/sys/kernel/overflowuid").unwrap_or(OVERFLOW);
        Invoker { effective, caller, is_mapped: is_mapped(&map, effective, overflow) }
    }

    /// Whether a file of this user is the invoker's own.
    #[must_use]
    pub fn owns(&self, user: u32) -> bool {
        (user == self.effective && self.is_mapped) || Some(user) == self.caller
    }

    /// Whether a file of this user is the invoker's own or root's.
    #[must_use]
    pub fn trusts(&self, user: u32) -> bool {
        user == 0 || self.owns(user)
    }

    /// The user whose rights this process has.
    #[must_use]
    pub fn effective(&self) -> u32 {
        self.effective
    }
}

/// Whether an id is in a user namespace's `uid_map`: lines of the first id inside, the first outside, and a count. A system without user
/// namespaces has none and maps all. Where it does not map all, files of users without an id have the overflow id, whose own cannot be known
/// from theirs.
fn is_mapped(map: &str, user: u32, overflow: u32) -> bool {
    let ranges = map.lines().map(|line| line.split_whitespace().map(str::parse::<u64>).collect::<Result<Vec<_>, _>>());
    let is_whole = |count: u64| user != overflow || count >= u32::MAX.into();
    let holds = |range: &[u64]| matches!(range, [inside, _, count] if (*inside..inside.saturating_add(*count)).contains(&user.into()) && is_whole(*count));
    map.trim().is_empty() || ranges.flatten().any(|range| holds(&range))
}

/// What keeps a file from being the invoker's alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// It, or a folder or link on the way to it, is of this user.
    Owner(PathBuf, u32),
    /// Other users may write to it, or to a folder on the way to it.
    Writable(PathBuf),
}

impl fmt::Display for Exposure {
    /// As a clause.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exposure::Owner(path, user) => write!(f, "{path:?} belongs to {}", name(*user)),
            Exposure::Writable(path) => write!(f, "other users may write to {path:?}"),
        }
    }
}

/// The first thing by which another user than the invoker or root can decide what an open file holds; `None` where there is none.
///
/// The file, every folder on the way to it and every link belong to the invoker or root. Others cannot write to the file, nor to a folder
/// unless that has the sticky bit, in which only owners replace files. A group whose number is that of the owner is the owner's own, by the
/// convention of pam_umask(8), unless an access control list names others.
///
/// # Errors
/// Where a part of the path cannot be looked at, or leads elsewhere than to the file.
pub fn exposure(file: &File, path: &Path, invoker: &Invoker) -> io::Result<Option<Exposure>> {
    let about = file.metadata()?;
    if let Some(exposure) = exposed(path, &about, invoker) {
        return Ok(Some(exposure));
    }
    let whole = std::path::absolute(path)?;
    let mut rest: Vec<PathBuf> = parts(&whole);
    let (mut at, mut links) = (PathBuf::from("/"), 0);
    while let Some(part) = rest.pop() {
        match part.components().next() {
            Some(Component::RootDir) => at = "/".into(),
            Some(Component::ParentDir) => drop(at.pop()),
            _ => at.push(&part),
        }
        let there = at.symlink_metadata()?;
        if there.is_symlink() {
            links += 1;
            if links > MOST_LINKS {
                return Err(io::Error::other("too many links"));
            }
            if !invoker.trusts(there.uid()) {
                return Ok(Some(Exposure::Owner(at, there.uid())));
            }
            rest.extend(parts(&fs::read_link(&at)?));
            at.pop();
        } else if there.is_dir() {
            if let Some(exposure) = exposed(&at, &there, invoker) {
                return Ok(Some(exposure));
            }
        } else if (there.dev(), there.ino()) != (about.dev(), about.ino()) {
            return Err(io::Error::other("it was replaced meanwhile"));
        }
    }
    Ok(None)
}

/// The user who made a link that leads the invoker, if it is neither the invoker's own nor root's; `None` for any other file.
#[must_use]
pub fn foreign_link(path: &Path, invoker: &Invoker) -> Option<u32> {
    let link = path.symlink_metadata().ok().filter(Metadata::is_symlink)?;
    Some(link.uid()).filter(|user| !invoker.trusts(*user))
}

/// The parts of a path, the last first.
fn parts(path: &Path) -> Vec<PathBuf> {
    path.components().rev().map(|part| PathBuf::from(part.as_os_str())).filter(|part| part.as_os_str() != ".").collect()
}

fn exposed(path: &Path, about: &Metadata, invoker: &Invoker) -> Option<Exposure> {
    if !invoker.trusts(about.uid()) {
        return Some(Exposure::Owner(path.to_owned(), about.uid()));
    }
    let mode = about.permissions().mode();
    if about.is_dir() && mode & STICKY != 0 {
        return None;
    }
    // With an access control list the group's bits are the most that any entry of it gives (acl(5)).
    let has_list = || rustix::fs::getxattr_query(path, "system.posix_acl_access").is_ok_and(|size| size > 0);
    let is_own_group = || about.gid() == about.uid() && !has_list();
    let is_writable = mode & OTHERS_WRITE != 0 || (mode & GROUP_WRITES != 0 && !is_own_group());
    is_writable.then(|| Exposure::Writable(path.to_owned()))
}

/// A user for people: `user alice`, or `user 1001` where this system has no name for the number.
#[must_use]
pub fn name(user: u32) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of_line = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(user)).then(|| name.to_owned())
    };
    let name = users.lines().find_map(of_line).filter(|name| name.chars().all(|mark| ('!'..='~').contains(&mark)));
    format!("user {}", name.unwrap_or_else(|| user.to_string()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, symlink};

    use super::*;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    fn look(path: &Path) -> Option<Exposure> {
        exposure(&File::open(path).unwrap(), path, &Invoker::current()).unwrap()
    }

    #[test]
    fn a_file_is_exposed_by_each_folder_and_link_on_the_way_to_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (folder, file) = (root.join("a/b"), root.join("a/b/r.json"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(&file, "").unwrap();
        [&root.join("a"), &folder].into_iter().for_each(|folder| mode(folder, 0o755));
        mode(&file, 0o644);
        assert_eq!(look(&file), None);
        for writable in [&file, &folder, &root.join("a")] {
            let before = writable.metadata().unwrap().permissions();
            mode(writable, 0o777);
            assert_eq!(look(&file), Some(Exposure::Writable(writable.clone())));
            fs::set_permissions(writable, before).unwrap();
        }
        // An access control list names another user: version 2, then tag, permissions and id of each entry (acl(5)).
        let entries = [(1, 6, u32::MAX), (2, 6, 65_534), (4, 4, u32::MAX), (16, 6, u32::MAX), (32, 4, u32::MAX)];
        let of_entry = |(tag, permissions, id): (u16, u16, u32)| {
            [&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &id.to_le_bytes()].concat()
        };
        let list = [2_u32.to_le_bytes().to_vec(), entries.map(of_entry).concat()].concat();
        let name = "system.posix_acl_access";
        if rustix::fs::setxattr(&file, name, &list, rustix::fs::XattrFlags::empty()).is_ok() {
            assert_eq!(look(&file), Some(Exposure::Writable(file.clone())));
            rustix::fs::removexattr(&file, name).unwrap();
            mode(&file, 0o664);
            chown(&file, None, Some(file.metadata().unwrap().uid())).unwrap_or_default();
        }
        mode(&file, 0o644);
        // Only this user replaces a file in a sticky folder of their own.
        mode(&folder, 0o1777);
        assert_eq!(look(&file), None);
        // A link in a folder that others may write to leads wherever they like.
        let links = root.join("links");
        fs::create_dir(&links).unwrap();
        mode(&links, 0o755);
        let link = links.join("r.json");
        symlink("../a/./b/../b/r.json", &link).unwrap();
        assert_eq!(look(&link), None);
        mode(&links, 0o777);
        assert_eq!(look(&link), Some(Exposure::Writable(links)));
    }

    #[test]
    #[allow(clippy::print_stdout, reason = "a skipped test says so")]
    fn what_another_user_owns_is_his() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (folder, file, link) = (root.join("a"), root.join("a/r.json"), root.join("link"));
        fs::create_dir(&folder).unwrap();
        fs::write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        mode(&folder, 0o755);
        mode(&file, 0o644);
        if chown(&file, Some(65_534), None).is_err() {
            println!("not tested: only root gives files away");
            return;
        }
        assert_eq!(look(&file), Some(Exposure::Owner(file.clone(), 65_534)));
        let caller = Invoker { caller: Some(65_534), ..Invoker::current() };
        assert_eq!(exposure(&File::open(&file).unwrap(), &file, &caller).unwrap(), None, "below sudo");
        chown(&file, Some(0), None).unwrap();
        chown(&folder, Some(65_534), None).unwrap();
        mode(&folder, 0o1755);
        assert_eq!(look(&file), Some(Exposure::Owner(folder.clone(), 65_534)), "the owner of a sticky folder");
        chown(&folder, Some(0), None).unwrap();
        std::os::unix::fs::lchown(&link, Some(65_534), None).unwrap();
        assert_eq!(look(&link), Some(Exposure::Owner(link, 65_534)));
    }

    #[test]
    fn users_without_an_id_in_the_namespace_are_not_told_from_each_other() {
        for (map, user, expected) in [
            ("         0          0 4294967295\n", 65_534, true),
            ("", 1000, true),
            ("0 100000 65536\n70000 1000 1\n", 70_000, true),
            ("0 1000 1\n", 65_534, false),
            ("0 100000 65536\n", 65_534, false),
            ("0 100000 65536\n", 65_533, true),
        ] {
            assert_eq!(is_mapped(map, user, OVERFLOW), expected, "{map} {user}");
        }
        let stranger = Invoker { effective: 65_534, caller: None, is_mapped: false };
        assert!(!stranger.owns(65_534) && stranger.trusts(0));
        let sudo = Invoker { effective: 0, caller: Some(1000), is_mapped: true };
        assert!(sudo.owns(0) && sudo.owns(1000) && !sudo.owns(1001));
        let user = Invoker { effective: 1000, caller: None, is_mapped: true };
        assert!(user.trusts(0) && !user.owns(0));
    }
}
