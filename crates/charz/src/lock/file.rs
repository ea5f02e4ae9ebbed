//! Where the lock's file stands, and how it is opened among files of others.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::{Refused, impossible};

const NAME: &str = "charz.lock";

/// Where to look, in this order.
pub fn folders(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    if let Some(folder) = variable("CHARZ_LOCK_DIR") {
        return vec![folder.into()];
    }
    // The one folder that all users of a machine share and that a reboot empties (Filesystem Hierarchy Standard 3.0, 5.9).
    let shared = Some(PathBuf::from("/run/lock"));
    let own = variable("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    [shared, own, Some(std::env::temp_dir())].into_iter().flatten().collect()
}

/// The lock's file in the first folder where it can be opened, and its path.
pub fn open(folders: &[PathBuf]) -> Result<(File, PathBuf), Refused> {
    let mut last = impossible(Path::new(NAME), io::ErrorKind::NotFound.into());
    for folder in folders {
        let path = folder.join(NAME);
        match open_one(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) => last = impossible(&path, error),
        }
    }
    Err(last)
}

/// Whether the file is still what its path names.
pub fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(file), Ok(there)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    (file.dev(), file.ino()) == (there.dev(), there.ino())
}

/// Opens the file, for writing if that is allowed; reading is enough for a lock. It is created only where there is none:
/// in a folder with the sticky bit the system refuses `O_CREAT` on a file of another user (`fs.protected_regular`).
fn open_one(path: &Path) -> io::Result<File> {
    let opened = match regular(path, OpenOptions::new().read(true).write(true)) {
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
            regular(path, OpenOptions::new().read(true))
        }
        opened => opened,
    };
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match create(path) {
            // Somebody else was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                regular(path, OpenOptions::new().read(true).write(true))
            }
            created => created,
        },
        opened => opened,
    }
}

/// Neither through a symbolic link, nor a pipe or a device.
fn regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = options.custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// Every user may hold the lock, and say so in the file, whatever the umask of its creator.
fn create(path: &Path) -> io::Result<File> {
    let file = regular(path, OpenOptions::new().read(true).write(true).create_new(true))?;
    file.set_permissions(Permissions::from_mode(0o666))?;
    Ok(file)
}
