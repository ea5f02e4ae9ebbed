//! Where programs write files: none of them is left behind, however a program ends.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process;

use crate::sys::file_system;
use charz_data::escape::plain;
use charz_kernels::kernel::Error;

/// Where temporary files may be large and are on a disk (hier(7)), unless TMPDIR names another folder.
const FOLDER: &str = "/var/tmp";

/// A folder for files without names.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    file_system: &'static str,
    /// Whether the file system makes files that never had a name; otherwise each loses its name as soon as it is made.
    nameless: bool,
}

impl Folder {
    pub(super) fn find(kernel: &str) -> Result<Folder, Error> {
        let path = env::var_os("TMPDIR").filter(|path| !path.is_empty()).map_or_else(|| FOLDER.into(), PathBuf::from);
        Folder::at(path, kernel)
    }

    pub(super) fn at(path: PathBuf, kernel: &str) -> Result<Folder, Error> {
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

    pub(super) fn file_system(&self) -> &'static str {
        self.file_system
    }

    /// A new file without a name.
    pub(super) fn file(&self, rank: usize) -> io::Result<File> {
        let mut how = OpenOptions::new();
        how.read(true).write(true).mode(0o600);
        if self.nameless {
            return how.custom_flags(libc::O_TMPFILE).open(&self.path);
        }
        let path = self.path.join(format!(".charz-{}-{rank}", process::id()));
        let file = how.create_new(true).open(&path)?;
        fs::remove_file(&path).map(|()| file)
    }

    pub(super) fn refusal(&self, kernel: &str, error: &io::Error) -> Error {
        Error::Refused(format!(
            "{kernel} cannot write a file in {} ({error}): make room or allow it there, or set TMPDIR to another folder",
            plain(&self.path.to_string_lossy())
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

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
