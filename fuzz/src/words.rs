//! What is typed: whole command lines, and values with a unit.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

use charz::args::{self, Parsed};
use charz::command::{Command, sweep};
use charz::exit::Exit;
use charz_data::escape::one_line;
use charz_measure::plan::{Request, Threads};
use rustix::fs::{MemfdFlags, memfd_create};

use super::assert_readable;

/// A command line, an argument a line, is understood or refused with one sentence.
pub(super) fn argv(data: &[u8]) {
    let words = data.split(|byte| *byte == b'\n').map(|word| OsString::from_vec(word.to_vec()));
    match args::parse(std::iter::once("charz".into()).chain(words)) {
        Ok(Parsed::Text(text)) => assert!(!text.is_empty()),
        Ok(Parsed::Command { .. }) => {}
        Err(error) => {
            assert_eq!(error.exit, Exit::BadInput);
            // As main prints it.
            assert_readable(&one_line(&error.to_string()));
        }
    }
}

/// What the file of `--config` says is what a sweep asks for, or is refused with one sentence that names the file.
pub(super) fn config(data: &[u8]) {
    let mut file = File::from(memfd_create("config", MemfdFlags::CLOEXEC).expect("memory for a file"));
    file.write_all(data).expect("memory takes all");
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    match args::parse(["charz", "sweep", "--config", &path].map(OsString::from)) {
        Ok(Parsed::Text(_)) => panic!("a file asks for help"),
        Ok(Parsed::Command { command, .. }) => match *command {
            Command::Sweep(options) => match *options {
                sweep::Options::New(new, _) => assert!((1..=1 << 50).contains(&new.request.params.size_bytes)),
                sweep::Options::Resume { .. } => panic!("a file resumes a sweep"),
            },
            _ => panic!("a file changes the command"),
        },
        Err(error) => {
            let sentence = one_line(&error.to_string());
            assert_readable(&sentence);
            assert!(sentence.contains(&path), "the file is not named: {sentence}");
        }
    }
}

/// A size or a time is within the limits that the plan can bear, or is refused with one sentence.
pub(super) fn units(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    for flag in ["--size", "--budget"] {
        if let Some(request) = request(flag, text) {
            assert!((1..=1 << 50).contains(&request.params.size_bytes));
            assert!(request.budget.least() > Duration::ZERO);
        }
    }
}

/// A list of numbers of workers is sorted, holds each number once, and reads back when written out.
pub(super) fn threads(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let Some(request) = request("--threads", text) else { return };
    match request.threads {
        Threads::List(list) => {
            assert!(!list.is_empty() && list[0] >= 1 && list.windows(2).all(|pair| pair[0] < pair[1]), "{list:?}");
            let written = list.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            assert_eq!(written.parse::<Threads>(), Ok(Threads::List(list)));
        }
        _ => assert_eq!(text, "auto"),
    }
}

/// What a sweep with this flag asks for, unless it is refused.
fn request(flag: &str, value: &str) -> Option<Request> {
    let words = ["charz", "sweep", &format!("{flag}={value}")].map(OsString::from);
    let command = match args::parse(words) {
        Ok(Parsed::Command { command, .. }) => *command,
        Ok(Parsed::Text(_)) => panic!("{value:?} asks for help"),
        Err(error) => {
            assert_readable(&one_line(&error.to_string()));
            return None;
        }
    };
    match command {
        Command::Sweep(options) => match *options {
            sweep::Options::New(new, _) => Some(new.request),
            sweep::Options::Resume { .. } => panic!("{value:?} resumes a sweep"),
        },
        _ => panic!("{value:?} changes the command"),
    }
}
