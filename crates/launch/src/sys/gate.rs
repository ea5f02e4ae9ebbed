//! A child process between its birth and its program: its limit on open files, and a wait until its parent lets it go on.

use std::io::{Read, Write};
use std::os::fd::RawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Resource, Rlimit, setrlimit};

/// Makes the child write its process id to `gate`, 4 bytes in the machine's order, and wait for one byte before it becomes the
/// program. `parents` is the parent's end, which the child inherits too and closes: with it open it would wait for ever for a parent
/// that has been killed. The child then ends instead of becoming the program.
pub fn hold(command: &mut Command, gate: UnixStream, parents: RawFd) {
    let wait = move || {
        // SAFETY: the descriptor is open in the child, which has a copy of its parent's table, and nothing in the child owns it.
        unsafe { libc::close(parents) };
        (&gate).write_all(&std::process::id().to_ne_bytes())?;
        (&gate).read_exact(&mut [0])
    };
    // SAFETY: between fork and exec the closure calls close, getpid, write and read and nothing else, which a signal handler may; it neither
    // takes memory nor locks.
    unsafe { command.pre_exec(wait) };
}

/// Gives the child this limit on open files.
pub fn limit_files(command: &mut Command, limit: Rlimit) {
    let set = move || Ok(setrlimit(Resource::Nofile, limit)?);
    // SAFETY: between fork and exec the closure makes one system call and nothing else; it neither takes memory nor locks.
    unsafe { command.pre_exec(set) };
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;

    #[test]
    fn a_child_whose_parent_has_gone_does_not_wait() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let mut command = Command::new("true");
        hold(&mut command, theirs, ours.as_raw_fd());
        let (sender, ended) = mpsc::channel();
        // What the starter holds of the gate goes with the command.
        let starter = thread::spawn(move || sender.send(command.spawn().is_err()));
        let mut pid = [0; 4];
        ours.read_exact(&mut pid).unwrap();
        drop(ours);
        let ended = ended.recv_timeout(Duration::from_secs(120));
        if ended.is_err() {
            let _ = Pid::from_raw(i32::from_ne_bytes(pid)).map(|pid| kill_process(pid, Signal::KILL));
        }
        starter.join().unwrap().unwrap();
        assert_eq!(ended, Ok(true), "it becomes no program");
    }
}
