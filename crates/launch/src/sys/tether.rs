//! A process group that the system kills when this process ends, however it does.

use std::io::{self, PipeWriter};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::event::PollFlags;

use crate::ready::ready;

/// `F_SETSIG` of `fcntl.h`, which the `libc` crate does not have for every C library.
const SET_SIGNAL: libc::c_int = 10;

/// Ties the child's process group, which it leads, to what is returned: when that is closed, as the system does at the end of this process,
/// the group gets SIGKILL.
///
/// The group has the other end of the pipe, and signals of its own as the owner of that end (fcntl(2)), as long as one process of it keeps
/// it open. Where the system has no such signals, nothing is tied.
pub fn tie(command: &mut Command) -> io::Result<PipeWriter> {
    let (end, ours) = io::pipe()?;
    // The group becomes the owner of the end, which the program inherits.
    let own = move || {
        let group = -std::process::id().cast_signed();
        let steps =
            [(libc::F_SETOWN, group), (SET_SIGNAL, libc::SIGKILL), (libc::F_SETFL, libc::O_ASYNC), (libc::F_SETFD, 0)];
        for (command, value) in steps {
            // SAFETY: the descriptor is open, and each of the commands takes a number.
            unsafe { libc::fcntl(end.as_raw_fd(), command, value) };
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure calls getpid and fcntl and nothing else, which a signal handler may; it neither takes memory
    // nor locks.
    unsafe { command.pre_exec(own) };
    Ok(ours)
}

/// Whether a process has the other end of a tether open: one of those that were tied, or one that these started.
pub fn is_held(tether: &PipeWriter) -> bool {
    !ready(tether, PollFlags::empty()).contains(PollFlags::ERR)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    use rustix::event::{PollFd, poll};
    use rustix::io::retry_on_intr;

    use super::*;

    #[test]
    fn a_group_ends_with_what_it_is_tied_to() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 100 & echo begun; sleep 100"]).process_group(0).stdout(Stdio::piped());
        let tether = tie(&mut command).unwrap();
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut said = child.stdout.take().unwrap();
        said.read_exact(&mut [0; 6]).unwrap();
        assert_eq!(child.try_wait().unwrap(), None);
        assert!(is_held(&tether));
        drop(tether);
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
        // At its end when no process has it open any more.
        assert_eq!(said.read(&mut [0; 1]).unwrap(), 0);
    }

    #[test]
    fn what_left_the_group_holds_the_tether_until_it_ends() {
        let mut command = Command::new("setsid");
        command.args(["env", "-i", "/bin/cat"]).process_group(0).stdin(Stdio::piped());
        let tether = tie(&mut command).unwrap();
        let mut child = command.spawn().unwrap();
        drop(command);
        let input = child.stdin.take();
        assert!(child.wait().unwrap().success());
        assert!(is_held(&tether));
        // It is no child of this process, which may not wait for it.
        drop(input);
        let mut ends = [PollFd::new(&tether, PollFlags::empty())];
        retry_on_intr(|| poll(&mut ends, None)).unwrap();
        assert!(!is_held(&tether));
    }
}
