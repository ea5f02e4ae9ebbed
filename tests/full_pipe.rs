//! Where a reader stands still, a signal ends what waits for it.

use std::io::{ErrorKind, PipeReader, Write, pipe};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::ioctl_fionbio;
use rustix::process::Signal;

use crate::support::{SMALL, charz, read_json, send};

/// A pipe that takes nothing more, and its reader, which does not read.
fn full() -> (PipeReader, Stdio) {
    let (reader, mut writer) = pipe().unwrap();
    ioctl_fionbio(&writer, true).unwrap();
    while !matches!(writer.write(&[b'x'; 4096]), Err(error) if error.kind() == ErrorKind::WouldBlock) {}
    ioctl_fionbio(&writer, false).unwrap();
    (reader, writer.into())
}

/// What a command ends with that gets a signal again and again from when it is ready; `None` where none ends it.
fn ended_by(signal: Signal, command: &mut Command, is_ready: impl Fn() -> bool) -> Option<ExitStatus> {
    let (mut child, until) = (command.spawn().unwrap(), Instant::now() + Duration::from_secs(120));
    loop {
        match child.try_wait().unwrap() {
            None if Instant::now() < until => {}
            ended => {
                let _ = child.kill();
                child.wait().unwrap();
                return ended;
            }
        }
        if is_ready() {
            send(&child, signal);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_signal_ends_an_exec_that_cannot_tell_how_its_program_ran() {
    // What is ignored around it, as in the background of a script, stays so.
    let status = charz_system::Status::of_process();
    let heeded = |signal: &Signal| !status.ignores(signal.as_raw());
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT].into_iter().filter(heeded) {
        let (_reader, err) = full();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ended");
        let mut command = charz();
        // Where a core goes, if there is one.
        command.current_dir(&folder);
        // The program itself heeds none.
        command.args(["exec", "--", "sh", "-c", "trap '' INT TERM HUP QUIT; touch \"$0\""]).arg(&file).stderr(err);
        assert!(ended_by(signal, &mut command, || file.exists()).is_some(), "{signal:?}");
    }
}

#[test]
fn a_signal_ends_a_sweep_that_cannot_tell_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let (_reader, out) = full();
    let mut command = charz();
    command.args(SMALL).args(["--quiet", "--output"]).arg(&file).stdout(out).stderr(Stdio::null());
    assert!(ended_by(Signal::TERM, &mut command, || file.exists()).is_some());
    assert_eq!(read_json(&file)["complete"], true);
}
