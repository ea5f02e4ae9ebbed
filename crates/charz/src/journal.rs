//! A journal: a text file that only grows, one line of JSON a record, so that what was measured outlives whatever ends the
//! program.
//!
//! [`Journal::append`] answers once the record is on the disk. [`recover`] gives back every record that was so acknowledged,
//! whatever happened to the file's other lines: a torn end, flipped bits, lines that are repeated, out of order or of another
//! run. Nothing that stands in a journal is ever written over.
//!
//! ```no_run
//! # use charz::journal::{Journal, JournalError, recover};
//! # use std::path::Path;
//! # fn sweep(path: &Path, cells: &[u64], measure: impl Fn(u64) -> f64) -> Result<(), JournalError> {
//! let mut journal = Journal::create(path, &"the plan".to_owned())?;
//! for &cell in cells {
//!     journal.reserve(64)?;
//!     journal.append(&measure(cell))?;
//! }
//! assert_eq!(recover::<String, f64>(path)?.records.len(), cells.len());
//! # Ok(())
//! # }
//! ```
//!
//! The law, for any call of the system that fails: what was acknowledged is recovered. Beside it at most the one record
//! appears whose `append` failed, and only where the system refused to take it back, too.
//!
//! Nothing here is shared between threads, so that there is nothing for a model checker to explore.

mod error;
mod line;
mod read;

#[cfg(test)]
mod tests;

use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use error::JournalError;
pub(crate) use read::parse;
pub use read::{Cause, Dropped, Recovered, is_journal, recover};

use crate::disk::{self, Disk, System};

/// The largest file that is written or read: that of a report.
pub const MAX_FILE_BYTES: u64 = 2 << 30;
/// The longest line that is written or read, without its newline: some 100 repetitions of 1000 workers.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// Where the journal of a file stands: `r.json.journal` for `r.json`.
pub fn beside(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".journal");
    file.with_file_name(name)
}

/// Whether there is room on the disk for what comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// It is taken: the records that it was taken for do not fail for lack of room.
    Taken,
    /// This file system does not take room ahead: a record may fail, though nothing says that it will.
    Unknown,
}

/// A journal that is open for appending. Where the file system has locks, nobody else appends to it meanwhile.
#[derive(Debug)]
pub struct Journal<D: Disk = System> {
    disk: D,
    file: File,
    path: PathBuf,
    run: String,
    /// The number of the next record.
    next: Option<u64>,
    /// The length of what was acknowledged.
    length: u64,
    /// The end of the room that was taken.
    room: u64,
    /// Whether the last line lacks its newline.
    torn: bool,
    /// Whether nobody else can append.
    alone: bool,
    failed: Option<JournalError>,
}

impl Journal {
    /// Creates a journal where nothing stands yet, readable by its owner only, and puts it on the disk with its first line,
    /// which holds `header`.
    ///
    /// # Errors
    /// The system refused; [`JournalError::kind`] is `AlreadyExists` where something is in the way. No file is left then.
    pub fn create<H: Serialize + DeserializeOwned>(path: &Path, header: &H) -> Result<Self, JournalError> {
        Journal::create_on(System, path, header)
    }

    /// Recovers a journal and opens it, to go on behind what is there. Nothing is written before the next [`append`].
    ///
    /// [`append`]: Journal::append
    ///
    /// # Errors
    /// As [`recover`]; or the file cannot be written, or somebody else is appending to it.
    pub fn reopen<H: DeserializeOwned, R: DeserializeOwned>(
        path: &Path,
    ) -> Result<(Self, Recovered<H, R>), JournalError> {
        Journal::reopen_on(System, path)
    }
}

impl<D: Disk> Journal<D> {
    fn create_on<H: Serialize + DeserializeOwned>(disk: D, path: &Path, header: &H) -> Result<Self, JournalError> {
        let refused = |error| JournalError::io(format!("cannot create the journal {path:?}"), error);
        let run = new_run();
        let line = checked::<H>(line::header(&run, header), |line| match line::parse_header(line) {
            line::Header::Intact(_, payload) => Some(payload),
            _ => None,
        })?;
        let file = disk.create(path, OpenOptions::new().append(true)).map_err(refused)?;
        let written = lock(&file, path).and_then(|alone| {
            let on_disk = disk::write_all(&disk, &file, &line).and_then(|()| disk.sync(&file));
            on_disk.and_then(|()| disk.sync_folder(path)).map_err(refused).map(|()| alone)
        });
        let alone = written.inspect_err(|_| {
            // The file is ours and holds nothing. If it cannot be removed, it says by itself that its first line is damaged.
            let _ = disk.remove(path);
        })?;
        let length = line.len() as u64;
        let path = path.to_owned();
        Ok(Journal { disk, file, path, run, next: Some(1), length, room: length, torn: false, alone, failed: None })
    }

    fn reopen_on<H: DeserializeOwned, R: DeserializeOwned>(
        disk: D,
        path: &Path,
    ) -> Result<(Self, Recovered<H, R>), JournalError> {
        let refused = |error| JournalError::io(format!("cannot open the journal {path:?} to go on with it"), error);
        let file = disk::open_regular(path, OpenOptions::new().read(true).append(true)).map_err(refused)?;
        let alone = lock(&file, path)?;
        let recovered = read::read(&file, path)?;
        let length = file.metadata().map_err(refused)?.len();
        let mut last = [0];
        file.read_exact_at(&mut last, length - 1).map_err(|error| read::unreadable(path, error))?;
        let (run, next, torn, path) = (recovered.run.clone(), recovered.next, last != *b"\n", path.to_owned());
        Ok((Journal { disk, file, path, run, next, length, room: length, torn, alone, failed: None }, recovered))
    }

    /// The run's name: 16 hexadecimal digits, on every line.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Takes room on the disk, so that the next record can be kept if its JSON has at most `bytes` bytes. The file's length
    /// stays.
    ///
    /// # Errors
    /// There is no such room, on the disk or in a journal; nothing is lost, and a smaller wish may be granted. Or the journal
    /// has failed before.
    pub fn reserve(&mut self, bytes: u64) -> Result<Room, JournalError> {
        self.usable()?;
        // A newline may have to end a torn line first.
        let end = self.length.saturating_add(bytes).saturating_add(line::MOST_BESIDE + 1);
        self.fits(end)?;
        if end <= self.room {
            return Ok(Room::Taken);
        }
        match self.disk.allocate(&self.file, self.length, end) {
            Ok(()) => {
                self.room = end;
                Ok(Room::Taken)
            }
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Room::Unknown),
            Err(error) => {
                Err(JournalError::io(format!("cannot take {bytes} bytes for the journal {:?}", self.path), error))
            }
        }
    }

    /// Appends a record and puts it on the disk. When this answers, the record outlives the program and a power cut.
    ///
    /// # Errors
    /// The system refused: that is the answer to every later call, since after a failed write nobody knows what the disk
    /// holds; what was acknowledged is there. A record that could not be read again, or that has no room in a journal, is
    /// refused before anything is written, and the journal goes on.
    pub fn append<R: Serialize + DeserializeOwned>(&mut self, record: &R) -> Result<(), JournalError> {
        self.usable()?;
        let number = self.next.ok_or_else(|| {
            JournalError::new(format!(
                "the journal {:?} has no numbers left for its records; begin a new one",
                self.path
            ))
        })?;
        let mut bytes = checked::<R>(line::record(&self.run, number, record), |line| {
            line::parse_record(line).map(|record| record.payload)
        })?;
        if self.torn {
            bytes.insert(0, b'\n');
        }
        let end = self.length + bytes.len() as u64;
        self.fits(end)?;
        let written = disk::write_all(&self.disk, &self.file, &bytes).and_then(|()| self.disk.sync(&self.file));
        if let Err(error) = written {
            if self.alone {
                // What was not acknowledged is taken back if it can be: of its bytes nobody knows which are on the disk.
                let _ = self.disk.cut(&self.file, self.length);
            }
            let error = JournalError::io(format!("cannot write to the journal {:?}", self.path), error);
            self.failed = Some(error.clone());
            return Err(error);
        }
        (self.length, self.next, self.torn) = (end, number.checked_add(1), false);
        Ok(())
    }

    fn usable(&self) -> Result<(), JournalError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn fits(&self, end: u64) -> Result<(), JournalError> {
        if end <= MAX_FILE_BYTES {
            return Ok(());
        }
        let sentence =
            format!("the journal {:?} would have more than {MAX_FILE_BYTES} bytes; begin a new one", self.path);
        Err(JournalError::new(sentence))
    }
}

impl<D: Disk> Drop for Journal<D> {
    /// Gives back the room that nothing was written to.
    fn drop(&mut self) {
        if self.alone && self.failed.is_none() && self.room > self.length {
            let _ = self.disk.cut(&self.file, self.length);
        }
    }
}

/// A line that can be read again. Some values can be written and not read, such as a number that is not finite.
fn checked<T: DeserializeOwned>(
    line: serde_json::Result<Vec<u8>>,
    payload: impl Fn(&[u8]) -> Option<&[u8]>,
) -> Result<Vec<u8>, JournalError> {
    let refused = |error: serde_json::Error| {
        JournalError::new(format!("a record could not be read again ({error}), so that it is not written"))
    };
    let line = line.map_err(refused)?;
    let text = line.strip_suffix(b"\n").unwrap_or(&line);
    if text.len() > MAX_LINE_BYTES {
        let sentence =
            format!("a record of {} bytes is longer than a journal's lines, {MAX_LINE_BYTES} bytes", text.len());
        return Err(JournalError::new(sentence));
    }
    serde_json::from_slice::<T>(payload(text).unwrap_or_default()).map_err(refused)?;
    Ok(line)
}

/// How long a lock is waited for: a process that was killed while it started another one leaves its files open in that one
/// until it becomes the other program.
const LINGER: Duration = Duration::from_secs(1);
/// How often the lock is tried meanwhile.
const TRY_EVERY: Duration = Duration::from_millis(20);

/// Makes sure that nobody else appends; `false` where the file system has no locks. The lock goes with the file.
fn lock(file: &File, path: &Path) -> Result<bool, JournalError> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if begun.elapsed() < LINGER => thread::sleep(TRY_EVERY),
            Err(TryLockError::WouldBlock) => {
                let sentence = format!("another charz is writing to the journal {path:?}; wait for its end, or end it");
                return Err(JournalError::io(sentence, io::ErrorKind::WouldBlock.into()));
            }
            Err(TryLockError::Error(_)) => return Ok(false),
        }
    }
}

/// A name that no other run has: of the system's random bits, which seed the hasher, and the time.
fn new_run() -> String {
    format!("{:016x}", RandomState::new().hash_one((SystemTime::now(), std::process::id())))
}
