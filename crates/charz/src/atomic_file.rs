//! Files that are replaced whole or not at all: a temporary file in the same folder is written and put on the disk, then it
//! gets the name, then the folder is put on the disk.
//!
//! Whatever the system refuses, the old file stays as it is, and no temporary file is left unless the system refuses to remove
//! it, too. Only where the folder could not be put on the disk, which comes last, the new file stands there already, whole.
//!
//! Nothing here is shared between threads, so that there is nothing for a model checker to explore.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::disk::{Disk, System};

#[cfg(test)]
mod tests;

/// Replaces what stands at `path`, if anything does, by what `fill` writes: whoever reads the path sees the old file or the
/// new one. A symbolic link is itself replaced.
///
/// # Errors
/// What the system or `fill` answered.
pub fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    put(&System, path, Place::Over, fill)
}

/// As [`replace`], with a file that only its owner may read and write.
///
/// # Errors
/// What the system or `fill` answered.
pub fn replace_private(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    put(&System, path, Place::OverPrivate, fill)
}

/// Creates a file at `path`, where nothing stands yet, of what `fill` writes.
///
/// # Errors
/// What the system or `fill` answered; `AlreadyExists` where something is in the way.
pub fn create(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    put(&System, path, Place::New, fill)
}

/// Takes room for the next [`replace`] or [`create`] of at most `bytes` bytes by this process.
///
/// # Errors
/// What the system answered; no room is taken.
pub fn reserve(path: &Path, bytes: u64) -> io::Result<()> {
    reserve_on(&System, path, bytes)
}

/// Gives the room back that [`reserve`] took.
pub fn release(path: &Path) {
    // If it cannot be removed it stands beside the file, as after a crash.
    let _ = System.remove(&temporary_name(path));
}

/// How a file gets its name.
#[derive(Clone, Copy)]
enum Place {
    /// In the place of another.
    Over,
    /// In the place of another, for its owner's eyes only.
    OverPrivate,
    /// Where nothing stands.
    New,
}

fn put(
    disk: &impl Disk,
    path: &Path,
    place: Place,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = temporary_name(path);
    // A temporary file is its owner's already.
    let mode = if matches!(place, Place::OverPrivate) { None } else { usual_mode() };
    let placed = write(disk, &temporary, mode, fill).and_then(|()| match place {
        Place::Over | Place::OverPrivate => disk.rename(&temporary, path),
        Place::New => disk.rename_new(&temporary, path),
    });
    if let Err(error) = placed {
        let _ = disk.remove(&temporary);
        return Err(error);
    }
    disk.sync_folder(path)
}

fn write(
    disk: &impl Disk,
    temporary: &Path,
    mode: Option<u32>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file = open_temporary(disk, temporary)?;
    let mut writer = BufWriter::new(OnDisk { disk, file: &file });
    fill(&mut writer)?;
    writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    // Of the room that was taken, what is not needed.
    disk.cut(&file, (&file).stream_position()?)?;
    if let Some(mode) = mode {
        disk.set_mode(&file, mode)?;
    }
    disk.sync(&file)
}

fn reserve_on(disk: &impl Disk, path: &Path, bytes: u64) -> io::Result<()> {
    let temporary = temporary_name(path);
    let taken = open_temporary(disk, &temporary).and_then(|file| match disk.allocate(&file, 0, bytes) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            // Written, not only lengthened: a hole takes no room.
            let from = (&file).seek(SeekFrom::End(0))?;
            let mut zeros = io::repeat(0).take(bytes.saturating_sub(from));
            io::copy(&mut zeros, &mut OnDisk { disk, file: &file }).map(drop)
        }
        answer => answer,
    });
    taken.inspect_err(|_| {
        let _ = disk.remove(&temporary);
    })
}

/// The temporary file, readable by its owner only, with the room that it has already.
fn open_temporary(disk: &impl Disk, temporary: &Path) -> io::Result<File> {
    match disk.create(temporary, OpenOptions::new().write(true)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => open_again(temporary).ok_or_else(|| {
            io::Error::other(format!("{temporary:?} is in the way and is not this program's; remove it"))
        }),
        created => created,
    }
}

/// A temporary file that stands there already: ours, or that of a dead process of the same number. What somebody else put
/// there, or what has another name besides, would hand them what is written, or lose a file.
fn open_again(temporary: &Path) -> Option<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().write(true).custom_flags(flags).open(temporary).ok()?;
    let metadata = file.metadata().ok()?;
    let own = metadata.is_file() && metadata.nlink() == 1 && metadata.uid() == rustix::process::geteuid().as_raw();
    own.then_some(file)
}

/// In the same folder, since a rename works within one file system only; with the process's number, so that two
/// processes do not write to one name.
fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

/// Who may read and write a new file by the process's umask. Unknown where the system does not tell it; the system's call
/// would have to set it first, for all threads. The file then stays its owner's.
fn usual_mode() -> Option<u32> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let umask = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    Some(0o666 & !u32::from_str_radix(umask.trim(), 8).ok()?)
}

/// A file as the seam's calls write it.
struct OnDisk<'a, D> {
    disk: &'a D,
    file: &'a File,
}

impl<D: Disk> Write for OnDisk<'_, D> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(self.file, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
