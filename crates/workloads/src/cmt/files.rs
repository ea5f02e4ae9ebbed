//! Units of file operations.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::Unit;
use crate::folder::Folder;
use charz_kernels::kernel::Error;

/// Bytes that a unit writes and reads: the buffer of Java's streams, which the source was written with.
pub(super) const BLOCK: usize = 8 << 10;

/// Which files workers open, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Files {
    PerUnit,
    Once,
    /// Once, and each block is on the disk before it is read.
    Synced,
}

impl Files {
    pub(super) fn open(self, name: &'static str, folder: Arc<Folder>, rank: usize) -> Result<FileUnit, Error> {
        let open = match self {
            Files::PerUnit => None,
            Files::Once | Files::Synced => Some(folder.file(rank).map_err(|error| folder.refusal(name, &error))?),
        };
        let (written, read) = (vec![0; BLOCK].into(), vec![0; BLOCK].into());
        Ok(FileUnit { name, folder, rank, open, synced: self == Files::Synced, done: 0, written, read })
    }
}

pub(super) struct FileUnit {
    name: &'static str,
    folder: Arc<Folder>,
    rank: usize,
    /// The file, unless each unit opens one.
    open: Option<File>,
    synced: bool,
    /// Blocks written, over all runs.
    done: u64,
    written: Box<[u8]>,
    read: Box<[u8]>,
}

impl FileUnit {
    fn pass(&mut self) -> io::Result<()> {
        let own;
        let file = match &self.open {
            Some(file) => file,
            None => {
                own = self.folder.file(self.rank)?;
                &own
            }
        };
        self.done += 1;
        // No two blocks are the same.
        self.written[..8].copy_from_slice(&self.done.to_ne_bytes());
        file.write_all_at(&self.written, 0)?;
        if self.synced {
            file.sync_data()?;
        }
        file.read_exact_at(&mut self.read, 0)
    }
}

#[cfg(test)]
impl FileUnit {
    /// As if another block had been read.
    pub(super) fn spoil(&mut self) {
        self.read[BLOCK - 1] ^= 1;
    }
}

impl Unit for FileUnit {
    const ALIKE: bool = false;

    fn prepare(&mut self) {
        let (rank, done) = (self.rank as u8, self.done as u8);
        self.written.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at as u8).wrapping_mul(31) ^ rank ^ done);
        self.read.fill(0);
    }

    fn unit(&mut self) -> Result<(), Error> {
        self.pass().map_err(|error| self.folder.refusal(self.name, &error))
    }

    fn fault(&mut self, units: u64) -> Option<String> {
        let same = units == 0 || self.read == self.written;
        (!same).then(|| format!("the block that was read after {units} units is not the one that was written"))
    }
}
