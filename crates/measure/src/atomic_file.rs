//! Files that are written whole or not at all: a temporary file in the same folder gets the name once its bytes are on the disk.
//! If anything fails, the old file stays as it is and the temporary file is removed.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;
use tempfile::NamedTempFile;

#[cfg(test)]
mod tests;

/// Who may read and write a new file, unless the umask says less.
pub const ANYBODY: u32 = 0o666;
const OWNER: u32 = 0o600;

/// Replaces `path`, if it exists, by what `fill` writes. A symbolic link is itself replaced.
pub fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    written(path, ANYBODY, fill)?.persist(path)?;
    sync_folder(path)
}

/// As [`replace`]; only its owner may read and write the file.
pub fn replace_private(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    written(path, OWNER, fill)?.persist(path)?;
    sync_folder(path)
}

/// Creates `path` with what `fill` writes; `AlreadyExists` if anything has that name.
pub fn create(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    keep(written(path, ANYBODY, fill)?, path)
}

fn written(path: &Path, mode: u32, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<NamedTempFile> {
    let file = temporary(path, mode)?;
    let mut writer = BufWriter::new(file.as_file());
    fill(&mut writer)?;
    writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    Ok(file)
}

/// An empty file beside `path`, removed unless it is given a name.
pub fn temporary(path: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(path.file_name().unwrap_or_default()).suffix(".tmp");
    builder.permissions(Permissions::from_mode(mode)).tempfile_in(folder(path))
}

/// Gives a file that was written whole the name `path`; `AlreadyExists` if anything has that name.
pub fn keep(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist_noclobber(path)?;
    sync_folder(path)
}

/// Creates the folder of `path` for its owner alone, if there is none.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    match folder(path) {
        folder if folder.exists() => Ok(()),
        folder => DirBuilder::new().recursive(true).mode(0o700).create(folder),
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Puts on the disk which names there are in the folder of `path`, where its file system can do that for folders.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder(path))?.sync_all().or_else(|error| match Errno::from_io_error(&error) {
        Some(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        _ => Err(error),
    })
}

/// Opens a regular file; a pipe, a device or a folder is refused without waiting for its other end. `flags` are added.
pub fn open_regular(path: &Path, options: &mut OpenOptions, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

pub fn same_file(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| path.metadata().map(|about| (about.dev(), about.ino()));
    matches!((id(one), id(other)), (Ok(one), Ok(other)) if one == other)
}
