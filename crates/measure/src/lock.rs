//! Two charz do not measure at once on one machine: a process that measures holds the machine's lock.
//!
//! The lock is flock(2) on an empty file. The system ends it with the process, however that ends, so a file that was left behind
//! locks nothing. The file is never written, so nothing is lost if another user puts a different file in its place; the
//! holder of the lock is in `/proc/locks`.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use charz_data::escape::plain;
use rustix::fs::OFlags;
use thiserror::Error;

use crate::atomic_file::open_regular;

#[cfg(test)]
mod tests;

const NAME: &str = "charz.lock";
/// The folders that all users of a machine share. A reboot empties the first (Filesystem Hierarchy Standard 3.0, 5.9), which belongs to
/// root alone on some systems.
const SHARED: [&str; 2] = ["/run/lock", "/tmp"];
/// How often a waiting process looks: a cancellation or a free lock is seen this late at most.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A process that was killed while it started another leaves its files open in that one until it executes its program: a
/// lock without an owner can last this long.
const LINGER: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct MachineLock {
    files: Vec<File>,
    /// Its file, where no folder that all users share can be used.
    unshared: Option<PathBuf>,
}

/// Folders for the lock's file, and whether all users share them. Of those that are shared all that can be used count, since another
/// user may be able to use one of them only; where there is none, the first of the others.
type Folders = [(PathBuf, bool)];

#[derive(Debug, Error)]
pub enum LockError {
    #[error(
        "{holder} holds the lock {path:?}, and two measurements would disturb each other; wait for it with --wait, or, if \
         it is no charz, set CHARZ_LOCK_DIR to another folder"
    )]
    Busy { path: PathBuf, holder: String },
    #[error("stopped while waiting for another charz that is measuring")]
    Cancelled,
    #[error("cannot lock {path:?}, which keeps two charz from measuring at once; set CHARZ_LOCK_DIR to another folder")]
    Impossible { path: PathBuf, source: io::Error },
}

impl MachineLock {
    /// Takes the lock. If another process has it, waits for it as long as `wait` says so and `cancelled` does not; `waits` learns once
    /// who has it.
    ///
    /// Its file is in `$CHARZ_LOCK_DIR` if that is set, else in each of `/run/lock` and `/tmp` where it can be opened, so users meet
    /// where only root may use the first. Where neither can be used it is in `$XDG_RUNTIME_DIR` or the folder of temporary files, and
    /// users with folders of their own do not see each other.
    pub fn acquire(wait: bool, waits: &dyn Fn(&str), cancelled: &dyn Fn() -> bool) -> Result<Self, LockError> {
        let patience = if wait { Duration::MAX } else { LINGER };
        Self::acquire_in(&folders(|name| std::env::var_os(name)), patience, waits, cancelled)
    }

    /// Its file, where other users may not see it.
    #[must_use]
    pub fn unshared(&self) -> Option<&Path> {
        self.unshared.as_deref()
    }

    fn acquire_in(
        folders: &Folders,
        patience: Duration,
        waits: &dyn Fn(&str),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, LockError> {
        let begun = Instant::now();
        // Of a shorter wait the error names it.
        let is_told = Cell::new(patience <= LINGER);
        let take = |path: &Path| -> Result<File, LockError> {
            let impossible = |source| LockError::Impossible { path: path.to_owned(), source };
            loop {
                let file = open(path).map_err(impossible)?;
                match file.try_lock() {
                    // If the file was removed before it was locked, others lock its successor.
                    Ok(()) if is_at(&file, path) => return Ok(file),
                    Ok(()) => continue,
                    Err(TryLockError::WouldBlock) => {}
                    Err(TryLockError::Error(source)) => return Err(impossible(source)),
                }
                let holder = || holder(&file).unwrap_or("another process".into());
                let left = patience.saturating_sub(begun.elapsed());
                if left.is_zero() {
                    return Err(LockError::Busy { holder: holder(), path: path.to_owned() });
                }
                if !is_told.replace(true) {
                    waits(&holder());
                }
                thread::sleep(left.min(LOOK_EVERY));
                if cancelled() {
                    return Err(LockError::Cancelled);
                }
            }
        };
        let mut lock = MachineLock { files: Vec::new(), unshared: None };
        let mut last = LockError::Impossible { path: NAME.into(), source: io::ErrorKind::NotFound.into() };
        // In one order by all, so no two wait for each other.
        for (folder, is_shared) in folders {
            let path = folder.join(NAME);
            // Two names of one folder are one lock.
            if lock.files.iter().any(|file| is_at(file, &path)) || (!is_shared && !lock.files.is_empty()) {
                continue;
            }
            match take(&path) {
                Ok(file) => {
                    lock.files.push(file);
                    lock.unshared = Some(path).filter(|_| !is_shared);
                }
                Err(error @ LockError::Impossible { .. }) => last = error,
                Err(error) => return Err(error),
            }
        }
        if lock.files.is_empty() { Err(last) } else { Ok(lock) }
    }
}

impl Drop for MachineLock {
    fn drop(&mut self) {
        // Not only closed: a child that was forked and has not executed its program yet holds the file open too.
        self.files.iter().for_each(|file| {
            let _ = file.unlock();
        });
    }
}

/// Locks a file; `false` if another process has it locked for longer than a lock without an owner lasts.
pub fn linger(file: &File) -> io::Result<bool> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if begun.elapsed() < LINGER => thread::sleep(LOOK_EVERY),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

fn folders(variable: impl Fn(&str) -> Option<OsString>) -> Vec<(PathBuf, bool)> {
    if let Some(folder) = variable("CHARZ_LOCK_DIR").filter(|folder| !folder.is_empty()) {
        return vec![(folder.into(), true)];
    }
    let own = variable("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let own = own.into_iter().chain([std::env::temp_dir()]).map(|folder| (folder, false));
    SHARED.map(|folder| (folder.into(), true)).into_iter().chain(own).collect()
}

/// Opens the file for reading, which suffices for a lock. It is created only if there is none: in a folder with the sticky bit
/// the system refuses `O_CREAT` on a file of another user (`fs.protected_regular`).
fn open(path: &Path) -> io::Result<File> {
    let existing = || {
        let file = open_regular(path, OpenOptions::new().read(true), OFlags::NOFOLLOW)?;
        match file.metadata()?.nlink() {
            // Two links or more: another user's file under our name. No link: it was removed meanwhile.
            2.. => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a hard link")),
            _ => Ok(file),
        }
    };
    match existing() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => return opened,
    }
    match OpenOptions::new().read(true).write(true).create_new(true).open(path) {
        Ok(file) => {
            // Every user may lock it, regardless of its creator's umask.
            file.set_permissions(Permissions::from_mode(0o444))?;
            Ok(file)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => existing(),
        Err(error) => Err(error),
    }
}

pub fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(file), Ok(there)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    (file.dev(), file.ino()) == (there.dev(), there.ino())
}

/// The process that has the file locked, for people: `charz sweep (process id 1234)`.
fn holder(file: &File) -> Option<String> {
    // A line is `1: FLOCK  ADVISORY  WRITE 1234 00:19:567 0 EOF`. Some file systems give stat(2) another device number, so
    // only the inode is compared.
    let inode = format!(":{}", file.metadata().ok()?.ino());
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let pid = locks.lines().find_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [_, "FLOCK", _, "WRITE", pid, place, ..] if place.ends_with(&inode) => pid.parse::<u32>().ok(),
        _ => None,
    })?;
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&line);
    let mut words = line.split('\0');
    let program = Path::new(words.next()?).file_name()?.to_string_lossy();
    let name = format!("{program} {}", words.next().unwrap_or_default());
    // The process may be anybody's.
    let name: String = name.trim().chars().take(80).collect();
    Some(format!("{} (process id {pid})", plain(&name)))
}
