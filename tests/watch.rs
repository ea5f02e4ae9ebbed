//! `charz watch` and `charz lockutil` as their users meet them.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use serde_json::Value;

use crate::place::{Place, run};
use crate::support::{Ran, send};

fn charz(place: &Place, args: &[&str]) -> Ran {
    let mut command = place.charz();
    command.args(args);
    run(args[0], command)
}

#[test]
fn each_sample_is_a_line_whose_shares_add_up() {
    let ran = charz(&Place::new(), &["watch", "--format", "json", "0.1", "3"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    for line in &lines {
        assert!(line["t"].as_f64().unwrap() > 1.6e9 && line["cost_ns"].as_u64().unwrap() > 0, "{line}");
        assert!(line["missing"].as_array().unwrap().iter().any(|missing| missing["column"] == "smtx"), "{line}");
        for cpu in line["cpus"].as_array().unwrap() {
            let share = |name: &str| cpu[name].as_f64().unwrap();
            let sum: f64 = ["usr", "sys", "irq", "soft", "wt", "idl", "st"].map(share).iter().sum();
            assert!((sum - 100.0).abs() < 0.1 && cpu["cpu"].is_u64(), "{cpu}");
        }
    }
}

#[test]
fn groups_and_threads_replace_the_cpus() {
    let place = Place::new();
    let one = charz(&place, &["watch", "--groups", "1", "--format", "csv", "0.1", "1"]).out;
    assert_eq!(one.lines().count(), 2, "{one}");
    let me = std::process::id().to_string();
    let line: Value =
        serde_json::from_str(&charz(&place, &["watch", "--of", &me, "--format", "json", "0.1", "1"]).out).unwrap();
    let threads = line["threads"].as_array().unwrap();
    assert!(!threads.is_empty() && threads.iter().all(|thread| !thread["allowed"].as_array().unwrap().is_empty()));
    for (args, word) in [
        (["watch", "0", "1"], "INTERVAL"),
        (["watch", "1e30", "1"], "\"1e30\""),
        (["watch", "1", "0"], "COUNT: \"0\" is not a whole number from 1 to 1073741824; example: charz watch 1 10"),
        (["watch", "--key", "usrr"], "usr"),
        (["watch", "--groups", "cores"], "core"),
        (["watch", "--groups", "1000000"], "1000000"),
        (["watch", "--of", "999999999"], "999999999"),
    ] {
        place.refuses("watch", &args, &[word]);
    }
    let csw = ["watch", "--key", "csw", "0.1", "1"];
    if std::path::Path::new("/proc/schedstat").exists() {
        assert_eq!(charz(&place, &csw).code, Some(0));
    } else {
        place.refuses("watch", &csw, &["schedstat", "usr"]);
    }
}

#[test]
fn an_interval_without_a_count_watches_until_the_process_ends() {
    let mut watched = Command::new("sleep").arg("4").spawn().unwrap();
    let pid = watched.id().to_string();
    let ran = charz(&Place::new(), &["watch", "--of", &pid, "--format", "json", "1"]);
    watched.wait().unwrap();
    assert!(ran.code == Some(0) && !ran.out.is_empty(), "{}", ran.err);
    assert!(ran.err.contains(&format!("{pid} has ended")), "{}", ran.err);
}

/// A terminal with the program in it.
struct Terminal {
    /// The end at which its user sits, and the program's.
    ends: [OwnedFd; 2],
    child: Child,
    seen: String,
}

impl Terminal {
    /// `None` where no program gives another one a terminal of its own.
    fn of(place: &Place, args: &[&str]) -> Option<Self> {
        let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&user).unwrap();
        unlockpt(&user).unwrap();
        let name = ptsname(&user, Vec::new()).unwrap();
        let open = || -> File {
            let flags = OFlags::NOCTTY.bits().cast_signed();
            OpenOptions::new().read(true).write(true).custom_flags(flags).open(name.to_str().unwrap()).unwrap()
        };
        let own = open();
        let mut command = Command::new("setsid");
        let charz = place.charz();
        command.args(["--ctty", "--wait"]).arg(charz.get_program()).args(args);
        for (name, value) in charz.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("TERM", "xterm").stdin(open()).stdout(open()).stderr(open());
        let mut terminal = Terminal { child: command.spawn().ok()?, ends: [user, own.into()], seen: String::new() };
        terminal.resize(24, 80);
        Some(terminal)
    }

    fn resize(&mut self, rows: u16, columns: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.ends[0], size).unwrap();
    }

    /// Reads what is printed until it has a text.
    #[track_caller]
    fn sees(&mut self, text: &str) {
        let begun = Instant::now();
        while !self.seen.contains(text) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{text:?} is missing: {:?}", self.seen);
            self.read();
        }
    }

    fn read(&mut self) {
        let brief = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        let mut ends = [PollFd::new(&self.ends[0], PollFlags::IN)];
        if poll(&mut ends, Some(&brief)).is_ok_and(|ready| ready > 0) {
            let mut bytes = [0; 4096];
            let count = rustix::io::read(&self.ends[0], &mut bytes).unwrap_or(0);
            self.seen += &String::from_utf8_lossy(&bytes[..count]);
        }
    }

    fn types(&self, keys: &str) {
        rustix::io::write(&self.ends[0], keys.as_bytes()).unwrap();
    }

    fn echoes(&self) -> bool {
        let modes = tcgetattr(&self.ends[1]).unwrap().local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON)
    }

    fn ends(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            self.read();
            if let Some(status) = self.child.try_wait().unwrap() {
                self.read();
                return status;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "it does not end: {:?}", self.seen);
        }
    }
}

const ENTERED: &str = "\u{1b}[?1049h";
const LEFT: &str = "\u{1b}[?1049l";

#[test]
fn a_live_screen_is_drawn_in_place_and_the_terminal_is_left_as_it_was() {
    type End = fn(&Terminal);
    let ends: [(&str, End, i32); 3] = [
        ("q", |terminal| terminal.types("q"), 0),
        ("^C", |terminal| terminal.types("\u{3}"), 130),
        ("TERM", |terminal| send_to_charz(terminal), 143),
    ];
    for (what, end, code) in ends {
        let place = Place::new();
        let Some(mut terminal) = Terminal::of(&place, &["watch", "--format", "table", "0.2"]) else { return };
        terminal.sees("q quits");
        assert!(terminal.seen.contains(ENTERED) && !terminal.echoes(), "{what}: {:?}", terminal.seen);
        terminal.sees("taking the sample cost");
        assert!(!terminal.seen.contains(LEFT), "{what}");
        end(&terminal);
        let status = terminal.ends();
        assert_eq!(status.code(), Some(code), "{what}: {:?}", terminal.seen);
        let (_, after) = terminal.seen.split_once(LEFT).unwrap_or_else(|| panic!("{what}: {:?}", terminal.seen));
        assert!(terminal.echoes() && after.contains("idl"), "the last sample stays: {after:?}");
    }
}

/// What `setsid` started is the process of the same number: it only forks where it leads a group.
fn send_to_charz(terminal: &Terminal) {
    send(&terminal.child, Signal::TERM);
}

#[test]
fn a_live_screen_follows_its_terminal() {
    let place = Place::new();
    // Nothing else draws it again: the first sample takes an hour.
    let Some(mut terminal) = Terminal::of(&place, &["watch", "3600"]) else { return };
    terminal.sees("q quits");
    terminal.seen.clear();
    terminal.resize(12, 44);
    terminal.sees("q quits");
    assert_eq!(terminal.seen.matches('\n').count(), 11, "{:?}", terminal.seen);
    terminal.types("xyz q");
    assert!(terminal.ends().success());
}

#[test]
fn a_count_or_another_format_is_no_screen() {
    let place = Place::new();
    for args in [&["watch", "0.2", "1"][..], &["watch"], &["watch", "--format", "json", "0.2", "1"]] {
        let Some(mut terminal) = Terminal::of(&place, args) else { return };
        assert!(terminal.ends().success());
        assert!(!terminal.seen.contains(ENTERED) && terminal.seen.contains("idl"), "{:?}", terminal.seen);
    }
}
