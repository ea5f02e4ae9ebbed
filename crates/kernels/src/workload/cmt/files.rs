//! Units of file operations.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;

use crate::kernel::Error;
use crate::sys::file_system;

use super::Unit;

/// Bytes that a unit writes and reads: the buffer of Java's streams, which the source was written with.
pub(super) const BLOCK: usize = 8 << 10;

/// Where temporary files may be large and are on a disk (hier(7)), unless TMPDIR names another folder.
const FOLDER: &str = "/var/tmp";

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

/// A folder for files without names.
#[derive(Debug)]
pub(in crate::workload) struct Folder {
    path: PathBuf,
    file_system: &'static str,
    /// Whether the file system makes files that never had a name; otherwise each loses its name as soon as it is made.
    nameless: bool,
}

impl Folder {
    pub(in crate::workload) fn find(kernel: &str) -> Result<Folder, Error> {
        let path = env::var_os("TMPDIR").filter(|path| !path.is_empty()).map_or_else(|| FOLDER.into(), PathBuf::from);
        Folder::at(path, kernel)
    }

    fn at(path: PathBuf, kernel: &str) -> Result<Folder, Error> {
        let mut folder = Folder { file_system: "", nameless: true, path };
        let refused = |error| folder.refusal(kernel, &error);
        let file_system = file_system::kind(&folder.path).map_err(refused)?;
        // The error varies with the system (open(2)); what is wrong with the folder is wrong with a file with a name, too.
        let nameless = folder.file(0).is_ok();
        folder.nameless = nameless;
        folder.file(0).map_err(|error| folder.refusal(kernel, &error))?;
        folder.file_system = file_system;
        Ok(folder)
    }

    pub(in crate::workload) fn file_system(&self) -> &'static str {
        self.file_system
    }

    /// A new file without a name.
    pub(in crate::workload) fn file(&self, rank: usize) -> io::Result<File> {
        let mut how = OpenOptions::new();
        how.read(true).write(true).mode(0o600);
        if self.nameless {
            return how.custom_flags(libc::O_TMPFILE).open(&self.path);
        }
        let path = self.path.join(format!(".charz-{}-{rank}", process::id()));
        let file = how.create_new(true).open(&path)?;
        fs::remove_file(&path).map(|()| file)
    }

    pub(in crate::workload) fn refusal(&self, kernel: &str, error: &io::Error) -> Error {
        Error::Refused(format!(
            "{kernel} cannot write a file in {} ({error}): make room or allow it there, or set TMPDIR to another folder",
            shown(&self.path)
        ))
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().escape_debug().collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways to a file without a name: it holds what is written, and the folder holds nothing.
    #[test]
    fn a_file_without_a_name_leaves_an_empty_folder() {
        let path = env::temp_dir().join(format!("charz-cmt-{}", process::id()));
        fs::create_dir(&path).unwrap();
        let found = Folder::at(path.clone(), "cmt-io").unwrap();
        for nameless in [found.nameless, false] {
            let folder = Folder { nameless, path: path.clone(), file_system: "" };
            let files = [folder.file(0).unwrap(), folder.file(0).unwrap()];
            for (file, text) in files.iter().zip([b"one", b"two"]) {
                file.write_all_at(text, 0).unwrap();
            }
            let mut read = [0; 3];
            files[0].read_exact_at(&mut read, 0).unwrap();
            assert_eq!(&read, b"one");
            assert_eq!(fs::read_dir(&path).unwrap().count(), 0, "while they are open");
        }
        fs::remove_dir(&path).unwrap();
        match Folder::at(path, "cmt-io") {
            Err(Error::Refused(reason)) => assert!(reason.contains("TMPDIR"), "{reason}"),
            other => panic!("{other:?}"),
        }
    }
}
