//! Two charz do not measure at once on one machine: a process that measures holds the machine's lock.
//!
//! The lock is flock(2) on an empty file. The system ends it with the process, however that ends, so a file that was left behind
//! locks nothing. The file is never written, so nothing is lost if another user puts a different file in its place; the
//! holder of the lock is in `/proc/locks`.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use thiserror::Error;

use crate::atomic_file::open_regular;

#[cfg(test)]
mod tests;

const NAME: &str = "charz.lock";
/// How often a waiting process looks: a cancellation or a free lock is seen this late at most.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A process that was killed while it started another leaves its files open in that one until it executes its program: a
/// lock without an owner can last this long.
const LINGER: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct MachineLock {
    file: File,
}

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
    /// Its file is in `$CHARZ_LOCK_DIR` if that is set, else in the first of `/run/lock`, `$XDG_RUNTIME_DIR` and the folder
    /// of temporary files where it can be opened. Users with folders of their own do not see each other.
    pub fn acquire(wait: bool, waits: &dyn Fn(&str), cancelled: &dyn Fn() -> bool) -> Result<Self, LockError> {
        let patience = if wait { Duration::MAX } else { LINGER };
        Self::acquire_in(&folders(|name| std::env::var_os(name)), patience, waits, cancelled)
    }

    fn acquire_in(
        folders: &[PathBuf],
        patience: Duration,
        waits: &dyn Fn(&str),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, LockError> {
        let begun = Instant::now();
        // Of a shorter wait the error names it.
        let mut is_told = patience <= LINGER;
        loop {
            let (file, path) = open(folders)?;
            match file.try_lock() {
                // If the file was removed before it was locked, others lock its successor.
                Ok(()) if is_at(&file, &path) => return Ok(MachineLock { file }),
                Ok(()) => continue,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(source)) => return Err(LockError::Impossible { path, source }),
            }
            let holder = || holder(&file).unwrap_or("another process".into());
            let left = patience.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(LockError::Busy { holder: holder(), path });
            }
            if !is_told {
                waits(&holder());
                is_told = true;
            }
            thread::sleep(left.min(LOOK_EVERY));
            if cancelled() {
                return Err(LockError::Cancelled);
            }
        }
    }
}

impl Drop for MachineLock {
    fn drop(&mut self) {
        // Not only closed: a child that was forked and has not executed its program yet holds the file open too.
        let _ = self.file.unlock();
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

fn folders(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    if let Some(folder) = variable("CHARZ_LOCK_DIR").filter(|folder| !folder.is_empty()) {
        return vec![folder.into()];
    }
    // The one folder that all users of a machine share and that a reboot empties (Filesystem Hierarchy Standard 3.0, 5.9).
    let shared = Some(PathBuf::from("/run/lock"));
    let own = variable("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    [shared, own, Some(std::env::temp_dir())].into_iter().flatten().collect()
}

fn open(folders: &[PathBuf]) -> Result<(File, PathBuf), LockError> {
    let mut last = LockError::Impossible { path: NAME.into(), source: io::ErrorKind::NotFound.into() };
    for folder in folders {
        let path = folder.join(NAME);
        match open_one(&path) {
            Ok(file) => return Ok((file, path)),
            Err(source) => last = LockError::Impossible { path, source },
        }
    }
    Err(last)
}

/// Opens the file for reading, which suffices for a lock. It is created only if there is none: in a folder with the sticky bit
/// the system refuses `O_CREAT` on a file of another user (`fs.protected_regular`).
fn open_one(path: &Path) -> io::Result<File> {
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
    Some(format!("{} (process id {pid})", name.escape_debug()))
}
