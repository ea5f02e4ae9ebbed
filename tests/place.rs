//! A folder for a test in which the program must change nothing.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Ran, charz};

/// How long the program may take before a test calls it hung. Refusing takes milliseconds; the rest is for busy machines.
const HUNG: Duration = Duration::from_secs(180);

/// A folder with a file of the user's in it. The program runs inside, so files have short names.
pub struct Place(tempfile::TempDir);

/// What a folder holds: for each name the length, the time of the last change, and of small files the content.
pub type Snapshot = BTreeMap<PathBuf, (u64, SystemTime, Vec<u8>)>;

impl Place {
    pub fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        place.put("mine.json", b"mine");
        place
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file for the program to read.
    pub fn put(&self, name: &str, content: &[u8]) {
        fs::write(self.path().join(name), content).unwrap();
    }

    /// The program in this folder, not yet started.
    pub fn charz(&self) -> Command {
        let mut command = charz();
        command.current_dir(self.path());
        command
    }

    /// Runs a line that must be refused: see [`Place::refused`].
    #[track_caller]
    pub fn refuses(&self, what: &str, args: &[impl AsRef<OsStr>], words: &[&str]) {
        let mut command = self.charz();
        command.args(args);
        self.refused(what, command, words);
    }

    /// Runs a command that must be refused: exit code 2, nothing on standard output, and on standard error one line that has
    /// all the words in it and nothing that steers a terminal; and the folder is as it was, to the times of its files.
    #[track_caller]
    pub fn refused(&self, what: &str, command: Command, words: &[&str]) {
        let before = self.snapshot();
        let ran = run(what, command);
        assert_eq!(ran.code, Some(2), "{what}: {}{}", ran.out, ran.err);
        assert_eq!(ran.out, "", "{what}");
        check_harmless(what, &ran.err);
        let lines: Vec<_> = ran.err.lines().collect();
        assert_eq!(lines.len(), 1, "{what}: {}", ran.err);
        assert!(lines[0].starts_with("charz: ") && lines[0].chars().count() < 1200, "{what}: {}", ran.err);
        for word in words {
            assert!(lines[0].contains(word), "{what}: {word:?} is missing: {}", ran.err);
        }
        assert!(self.snapshot() == before, "{what}: a file was created or changed");
    }

    /// Runs a line that must be accepted with so many lines on standard error, each a note with its word in it.
    #[track_caller]
    pub fn accepts(&self, what: &str, args: &[impl AsRef<OsStr>], notes: &[&str]) -> String {
        let mut command = self.charz();
        command.args(args);
        let ran = run(what, command);
        assert_eq!(ran.code, Some(0), "{what}: {}", ran.err);
        let found: Vec<_> = ran.err.lines().collect();
        assert_eq!(found.len(), notes.len(), "{what}: {}", ran.err);
        for (line, word) in found.iter().zip(notes) {
            assert!(line.starts_with("charz: note: ") && line.contains(word), "{what}: {word:?} is missing: {line}");
        }
        ran.out
    }

    pub fn snapshot(&self) -> Snapshot {
        let entries = fs::read_dir(self.path()).unwrap().map(Result::unwrap);
        let facts = entries.map(|entry| {
            let about = fs::symlink_metadata(entry.path()).unwrap();
            let small = about.is_file() && about.len() <= 1 << 20;
            let content = if small { fs::read(entry.path()).unwrap() } else { Vec::new() };
            (entry.path(), (about.len(), about.modified().unwrap(), content))
        });
        facts.collect()
    }
}

/// Runs a command to its end, or calls it hung.
#[track_caller]
pub fn run(what: &str, mut command: Command) -> Ran {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap_or_else(|error| panic!("{what}: {error}"));
    let pid = Pid::from_child(&child);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    match receiver.recv_timeout(HUNG) {
        Ok(output) => output.unwrap().into(),
        Err(_) => {
            let _ = kill_process(pid, Signal::KILL);
            panic!("{what}: the program hangs");
        }
    }
}

/// Checks that a text can go to a terminal: no control characters, no marks that turn the direction of what follows.
#[track_caller]
pub fn check_harmless(what: &str, text: &str) {
    let steers = |mark: &char| {
        (mark.is_control() && *mark != '\n')
            || matches!(mark, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert_eq!(text.chars().find(steers), None, "{what}: {text:?}");
}
