//! Files of the system, below a folder that is used in place of `/`.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct Root {
    folder: PathBuf,
}

/// The most that is read of a file: the kernel's own files that are looked at here are far smaller, on the largest machines
/// too (a `/proc/stat` of 8192 strands has about 700 KiB). A longer file is not the one expected.
const LONGEST: u64 = 4 << 20;

/// The most entries of a folder: as many strands as Linux is built for, and their companions.
const MOST_ENTRIES: usize = 16_384;

impl Root {
    pub fn system() -> Self {
        Root::below("/")
    }

    /// Another folder, for tests and for images of machines.
    pub fn below(folder: impl Into<PathBuf>) -> Self {
        Root { folder: folder.into() }
    }

    pub(super) fn place(&self, path: &Path) -> PathBuf {
        self.folder.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The text of a file, without blanks at its ends.
    pub fn text(&self, path: impl AsRef<Path>) -> Result<String, String> {
        match self.text_or_empty(&path)? {
            text if text.is_empty() => Err(format!("{}: is empty", path.as_ref().display())),
            text => Ok(text),
        }
    }

    /// As [`Root::text`], where nothing is an answer too.
    pub fn text_or_empty(&self, path: impl AsRef<Path>) -> Result<String, String> {
        let path = path.as_ref();
        let refuse = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let place = self.place(path);
        // A pipe or a device would keep the reader waiting.
        let kind = fs::metadata(&place).map_err(|error| refuse(&error))?;
        if !kind.is_file() {
            return Err(refuse(&"is not a regular file"));
        }
        let mut bytes = Vec::new();
        File::open(&place)
            .and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes))
            .map_err(|error| refuse(&error))?;
        if bytes.len() as u64 > LONGEST {
            return Err(refuse(&"is longer than any such file"));
        }
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// Where a link points to.
    pub fn link(&self, path: &str) -> Result<String, String> {
        let target = fs::read_link(self.place(Path::new(path))).map_err(|error| format!("{path}: {error}"))?;
        Ok(target.to_string_lossy().into_owned())
    }

    pub fn number(&self, path: impl AsRef<Path>) -> Result<u64, String> {
        let text = self.text(&path)?;
        text.parse().map_err(|_| format!("{}: {:?} is not a number", path.as_ref().display(), start(&text)))
    }

    /// Whether there is such a file or folder. What may not be looked at is there: reading it then says why it cannot be.
    pub fn has(&self, path: impl AsRef<Path>) -> bool {
        use std::io::ErrorKind::{NotADirectory, NotFound};
        let found = fs::symlink_metadata(self.place(path.as_ref()));
        !found.is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
    }

    pub fn names(&self, path: &str) -> Result<Vec<String>, String> {
        let entries = fs::read_dir(self.place(Path::new(path))).map_err(|error| format!("{path}: {error}"))?;
        let mut names: Vec<String> =
            entries.take(MOST_ENTRIES).filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_unstable();
        Ok(names)
    }
}

pub(super) fn start(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The kernel puts the current choice in brackets: `always [madvise] never`.
pub fn chosen(choices: &str) -> Option<&str> {
    choices.split_once('[')?.1.split_once(']').map(|(choice, _)| choice).filter(|choice| !choice.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_is_in_brackets() {
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
        assert_eq!(chosen("always madvise never"), None);
    }

    #[test]
    fn what_is_no_short_text_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::below(folder.path());
        let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
        write("empty", b" \n");
        write("long", &vec![b'1'; LONGEST as usize + 1]);
        write("number", b"42\n");
        write("bytes", b"\xff\xfe");
        for (path, word) in [
            ("/missing", "No such file"),
            ("/", "not a regular file"),
            ("/empty", "empty"),
            ("/long", "longer"),
            ("/bytes", "not a number"),
        ] {
            let reason = root.number(path).unwrap_err();
            assert!(reason.starts_with(path) && reason.contains(word), "{reason}");
        }
        assert_eq!(root.number("/number"), Ok(42));
        assert_eq!(root.text_or_empty("/empty"), Ok(String::new()));
        assert!(root.text_or_empty("/missing").is_err());
        assert!(root.text_or_empty("/long").is_err());
    }
}
