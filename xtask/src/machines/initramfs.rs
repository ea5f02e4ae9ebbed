//! The first file system of a machine: a cpio archive in the format `newc`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use xtask::{Failure, Outcome};

#[derive(Default)]
pub(super) struct Initramfs {
    bytes: Vec<u8>,
    entries: u32,
    folders: BTreeSet<String>,
}

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

impl Initramfs {
    /// A program, a library or a script, with the folders that lead to it. `path` begins without a slash.
    pub(super) fn add(&mut self, path: &str, content: &[u8]) {
        for (at, _) in path.match_indices('/') {
            self.folder(&path[..at]);
        }
        self.entry(path, PROGRAM, content);
    }

    pub(super) fn folder(&mut self, path: &str) {
        if self.folders.insert(path.to_owned()) {
            self.entry(path, FOLDER, &[]);
        }
    }

    pub(super) fn copy(&mut self, path: &str, from: &Path) -> Outcome {
        let content = fs::read(from).map_err(|error| Failure::io(format!("read {from:?}"), &error))?;
        self.add(path, &content);
        Ok(())
    }

    pub(super) fn finished(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.entries += 1;
        let (size, name) = (content.len() as u32, path.len() as u32 + 1);
        // Inode, mode, user, group, links, time, size, two devices of two numbers each, length of the name, checksum.
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name, 0];
        self.bytes.extend(b"070701");
        fields.iter().for_each(|field| self.bytes.extend(format!("{field:08x}").bytes()));
        self.bytes.extend(path.bytes().chain([0]));
        self.pad();
        self.bytes.extend(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_contents_are_aligned_and_folders_are_made_once() {
        let mut archive = Initramfs::default();
        archive.add("lib/a", b"12345");
        archive.add("lib/b", b"");
        let bytes = archive.finished();
        let text = String::from_utf8_lossy(&bytes);
        // 110 bytes of header each, then a name and its zero: 4, 6 and 6, and 11 at the end.
        let places: Vec<usize> = text.match_indices("070701").map(|(at, _)| at).collect();
        assert_eq!(places, [0, 116, 116 + 116 + 8, 116 + 116 + 8 + 116]);
        assert_eq!(&text[116 + 116..116 + 116 + 5], "12345");
        assert!(text[..110].starts_with("07070100000001000041ed"), "{text}");
    }
}
