//! A disk that fails on demand: real files, and one call, or all calls from one on, that do not succeed.

use std::cell::{Cell, RefCell};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use rustix::io::Errno;

use super::{Disk, System};

/// How a call goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// This call answers so, later ones succeed.
    Once(Errno),
    /// This call and all later ones answer so.
    Forever(Errno),
    /// If this call is a write, half of it goes through.
    Short,
    /// If this call is a write, half of it goes through, and all later calls answer so.
    Torn(Errno),
}

/// What happens to disks: no room, a broken device, a file system that was remounted read-only.
pub const ERRORS: [Errno; 3] = [Errno::NOSPC, Errno::IO, Errno::ROFS];

/// The operating system's disk with a fault at one call.
#[derive(Debug)]
pub struct Faulty {
    at: usize,
    fault: Fault,
    names: RefCell<Vec<&'static str>>,
    synced: Cell<u64>,
}

impl Faulty {
    /// Call number `at`, from 0, goes wrong.
    pub fn new(at: usize, fault: Fault) -> Self {
        Faulty { at, fault, names: RefCell::default(), synced: Cell::new(0) }
    }

    /// Whether there were enough calls for the fault to happen.
    pub fn happened(&self) -> bool {
        self.names.borrow().len() > self.at
    }

    /// The name of the call that went wrong, if it happened.
    pub fn failed_call(&self) -> Option<&'static str> {
        self.names.borrow().get(self.at).copied()
    }

    /// The names of the calls that were made.
    pub fn calls(&self) -> Vec<&'static str> {
        self.names.borrow().clone()
    }

    /// The length of the file that was synchronised last: what a power cut leaves at least.
    pub fn synced(&self) -> u64 {
        self.synced.get()
    }

    /// Counts a call; `Err` if it is to fail, and how many of `length` bytes may go through otherwise.
    fn call(&self, name: &'static str, length: usize) -> io::Result<usize> {
        let now = self.names.borrow().len();
        self.names.borrow_mut().push(name);
        match self.fault {
            Fault::Once(errno) if now == self.at => Err(errno.into()),
            Fault::Forever(errno) if now >= self.at => Err(errno.into()),
            Fault::Torn(errno) if now > self.at => Err(errno.into()),
            Fault::Short | Fault::Torn(_) if now == self.at => Ok(length.div_ceil(2)),
            _ => Ok(length),
        }
    }
}

impl Disk for &Faulty {
    fn create(&self, path: &Path, how: &mut OpenOptions) -> io::Result<File> {
        self.call("create", 0)?;
        System.create(path, how)
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        let length = self.call("write", bytes.len())?;
        System.write(file, &bytes[..length])
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        // The system's own call is left out: what it does cannot be seen without cutting the power, and it takes long.
        self.call("sync", 0)?;
        self.synced.set(file.metadata()?.len());
        Ok(())
    }

    fn allocate(&self, file: &File, from: u64, to: u64) -> io::Result<()> {
        self.call("allocate", 0)?;
        System.allocate(file, from, to)
    }

    fn cut(&self, file: &File, length: u64) -> io::Result<()> {
        self.call("cut", 0)?;
        System.cut(file, length)
    }

    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        self.call("set_mode", 0)?;
        System.set_mode(file, mode)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call("rename", 0)?;
        System.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call("rename_new", 0)?;
        System.rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.call("remove", 0)?;
        System.remove(path)
    }

    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        self.call("sync_folder", 0).map(drop)
    }
}
