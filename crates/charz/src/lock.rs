//! Two charz on one machine do not measure each other: whoever measures holds the machine's lock.
//!
//! The lock is `flock(2)` on a file. It belongs to the process that took it and ends with it, however that ends, so that a file
//! that somebody left behind locks nothing. What the file holds, its holder's number and task, is for the message only.
//!
//! Nothing here is shared between threads, so that there is nothing for a model checker to explore.

mod file;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

/// How often a waiting process looks: a cancellation or a lock that is free is seen so late at most.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The most that is read of what a lock's file says.
const MOST_TOLD_BYTES: u64 = 512;

/// The machine is ours to measure, until this is dropped.
#[derive(Debug)]
pub struct MachineLock {
    file: File,
}

/// Why the machine is not ours.
#[derive(Debug)]
pub enum Refused {
    /// Another process measures.
    Busy(Busy),
    /// The wait was cancelled.
    Cancelled,
    /// There is no file that could be locked: one sentence, with the system's answer.
    Impossible(String, io::Error),
}

/// Who holds the lock, as far as they told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Busy {
    /// The number of the process.
    pub pid: Option<u32>,
    /// What it does, such as `charz sweep`.
    pub task: Option<String>,
    /// For how long it has had the lock, by the wall clock.
    pub since: Option<Duration>,
}

/// What a lock's file says.
#[derive(Serialize, Deserialize)]
struct Holder {
    pid: u32,
    task: String,
    since_unix_s: u64,
}

impl MachineLock {
    /// Takes the lock for `task`, such as `charz sweep`. If somebody else has it, waits as long as `patience`, zero for not
    /// at all, and until `cancelled` says so.
    ///
    /// The file stands in `$CHARZ_LOCK_DIR` if that is set, else in the first of `/run/lock`, `$XDG_RUNTIME_DIR` and the
    /// folder of temporary files where one can be opened. Users who may not open each other's files there, as in folders of
    /// their own, do not see each other.
    ///
    /// # Errors
    /// Somebody else has the lock, the wait was cancelled, or no file can be locked.
    pub fn acquire(task: &str, patience: Duration, cancelled: &dyn Fn() -> bool) -> Result<Self, Refused> {
        Self::acquire_in(&file::folders(|name| std::env::var_os(name)), task, patience, cancelled)
    }

    fn acquire_in(
        folders: &[PathBuf],
        task: &str,
        patience: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, Refused> {
        let begun = Instant::now();
        loop {
            let (file, path) = file::open(folders)?;
            match file.try_lock() {
                // Whoever tidies up may have removed the file before it was locked; others then lock its successor.
                Ok(()) if file::is_at(&file, &path) => {
                    tell(&file, task);
                    return Ok(MachineLock { file });
                }
                Ok(()) => continue,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(impossible(&path, error)),
            }
            let left = patience.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(Refused::Busy(who(&file)));
            }
            thread::sleep(left.min(LOOK_EVERY));
            if cancelled() {
                return Err(Refused::Cancelled);
            }
        }
    }
}

impl Drop for MachineLock {
    fn drop(&mut self) {
        // Emptied first: nobody shall be told of a holder that has gone. Unlocked, not only closed: a child that was forked
        // and has not called exec yet holds the file open, too.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

fn impossible(path: &Path, error: io::Error) -> Refused {
    let sentence = format!("cannot lock {path:?}, which keeps two charz from measuring at once; set CHARZ_LOCK_DIR");
    Refused::Impossible(sentence, error)
}

/// Writes down who holds the lock. Where the file is somebody else's and cannot be written, nobody is told.
fn tell(mut file: &File, task: &str) {
    let since_unix_s = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
    let holder = Holder { pid: std::process::id(), task: task.to_owned(), since_unix_s };
    let _ = file.set_len(0).and_then(|()| Ok(serde_json::to_writer(&mut file, &holder)?));
}

/// Reads who holds the lock. A process that is no more held it before.
fn who(mut file: &File) -> Busy {
    let mut text = String::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(MOST_TOLD_BYTES).read_to_string(&mut text));
    let holder = read.ok().and_then(|_| serde_json::from_str::<Holder>(&text).ok());
    let Some(holder) = holder.filter(|holder| Path::new(&format!("/proc/{}", holder.pid)).exists()) else {
        return Busy { pid: None, task: None, since: None };
    };
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs().saturating_sub(holder.since_unix_s);
    Busy { pid: Some(holder.pid), task: Some(holder.task), since: Some(Duration::from_secs(since)) }
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.task {
            // Another user may have written it.
            Some(task) => write!(f, "{}", task.escape_debug())?,
            None => f.write_str("another charz")?,
        }
        if let Some(pid) = self.pid {
            write!(f, " with process id {pid}")?;
        }
        f.write_str(" is measuring")?;
        if let Some(since) = self.since {
            write!(f, " since {} s", since.as_secs())?;
        }
        f.write_str(" on this machine; wait with --wait, or end it")
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Busy(busy) => busy.fmt(f),
            Refused::Cancelled => f.write_str("stopped while waiting for another charz that measures on this machine"),
            Refused::Impossible(sentence, _) => f.write_str(sentence),
        }
    }
}

impl std::error::Error for Refused {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Refused::Impossible(_, error) => Some(error),
            Refused::Busy(_) | Refused::Cancelled => None,
        }
    }
}
