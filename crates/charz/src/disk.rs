//! What files that must not be lost ask of the operating system, call by call.
//!
//! [`System`] is the operating system. The calls are a trait, so that tests can have any one of them fail; nothing is shared
//! between threads, so that there is nothing for a model checker to explore.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

#[cfg(test)]
pub(crate) mod faulty;

/// The calls. Each default is the operating system's own.
pub trait Disk {
    /// Creates a file, readable by its owner only, where nothing stands yet: neither a file nor a symbolic link. `how` says
    /// whether it is written or appended to.
    ///
    /// # Errors
    /// What the system answered; `AlreadyExists` where something stands.
    fn create(&self, path: &Path, how: &mut OpenOptions) -> io::Result<File> {
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        how.create_new(true).mode(0o600).custom_flags(flags).open(path)
    }

    /// Writes some of `bytes` and says how many.
    ///
    /// # Errors
    /// What the system answered.
    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<usize> {
        file.write(bytes)
    }

    /// Puts the file's bytes on the disk, and its length.
    ///
    /// # Errors
    /// What the system answered. The bytes may be lost although a second call succeeds: Linux marks pages that it could not
    /// write as clean (Rebello et al., *Can Applications Recover from fsync Failures?*, USENIX ATC 2020).
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    /// Takes room for the bytes from `from` to `to` of the file, whose length stays.
    ///
    /// # Errors
    /// What the system answered; `Unsupported` where the file system cannot take room ahead.
    fn allocate(&self, file: &File, from: u64, to: u64) -> io::Result<()> {
        allocate(file, from, to)
    }

    /// Cuts the file to `length` bytes.
    ///
    /// # Errors
    /// What the system answered.
    fn cut(&self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }

    /// Sets who may read and write the file.
    ///
    /// # Errors
    /// What the system answered.
    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        file.set_permissions(Permissions::from_mode(mode))
    }

    /// Gives a file another name in one step; what had that name is gone.
    ///
    /// # Errors
    /// What the system answered.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// Gives a file another name in one step, if nothing has that name.
    ///
    /// # Errors
    /// What the system answered; `AlreadyExists` where something has the name.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        rename_new(from, to)
    }

    /// Removes a file.
    ///
    /// # Errors
    /// What the system answered.
    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    /// Puts on the disk what was created, renamed or removed in the folder of `path`.
    ///
    /// # Errors
    /// What the system answered.
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()
    }
}

/// The operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Disk for System {}

/// Writes all of `bytes`.
///
/// # Errors
/// What the system answered, with part of the bytes written.
pub fn write_all(disk: &impl Disk, file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match disk.write(file, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Opens a regular file, through symbolic links. It neither waits for the other end of a pipe nor reads a device.
///
/// # Errors
/// What the system answered; `InvalidInput` where it is no regular file.
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

#[cfg(target_os = "linux")]
fn allocate(file: &File, from: u64, to: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::{Errno, retry_on_intr};
    use rustix::process::{Resource, getrlimit};
    // The system looks at this limit (`ulimit -f`) when the length grows, which is when the bytes are written.
    if getrlimit(Resource::Fsize).current.is_some_and(|most| to > most) {
        return Err(Errno::FBIG.into());
    }
    if to <= from {
        return Ok(());
    }
    match retry_on_intr(|| fallocate(file, FallocateFlags::KEEP_SIZE, from, to - from)) {
        // Both mean that this file system has no such call.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Err(io::ErrorKind::Unsupported.into()),
        answer => Ok(answer?),
    }
}

#[cfg(not(target_os = "linux"))]
fn allocate(_file: &File, _from: u64, _to: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // A file system without the flag, such as NFS; links it may have.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => link_new(from, to),
        answer => Ok(answer?),
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    link_new(from, to)
}

/// A link is refused where something has the name. The first name goes afterwards; where it stays, the file has two.
pub(crate) fn link_new(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to)?;
    let _ = fs::remove_file(from);
    Ok(())
}
