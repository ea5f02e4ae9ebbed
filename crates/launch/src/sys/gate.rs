//! A child process between its birth and its program: its limit on open files, and a wait until its parent lets it go on.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::notify::{self, Listener};

/// The exit code of a child that became no program, as shells have it. Its parent has gone.
const NO_PROGRAM: libc::c_int = 127;

/// What a child waits at before it becomes the program: the parent's end. A child that is not let go ends when this is dropped, or with
/// the parent.
pub struct Gate {
    end: Arc<UnixStream>,
    /// Whether the child offers a listener.
    offers: bool,
}

impl Gate {
    /// The process id of the child, once it waits; an error where there is none.
    pub fn child(&self) -> io::Result<i32> {
        let mut pid = [0; 4];
        (&*self.end).read_exact(&mut pid)?;
        Ok(i32::from_ne_bytes(pid))
    }

    /// The listener that the child has offered; once, when it waits.
    pub fn listener(&self) -> io::Result<Option<Listener>> {
        if self.offers { notify::take(&self.end) } else { Ok(None) }
    }

    /// Lets the child go on.
    pub fn open(&self) -> io::Result<()> {
        (&*self.end).write_all(&[1])
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.end.shutdown(Shutdown::Write);
    }
}

/// Makes the child wait at a gate, and offer there to let its parent answer which CPUs it may use. One that need not wait any more since its
/// parent has gone ends at once instead of becoming the program: an error would be for the standard library's end of the parent, and without
/// that it says so on standard error, and aborts.
pub fn hold(command: &mut Command, offers: bool) -> io::Result<Gate> {
    let (ours, theirs) = UnixStream::pair()?;
    let ours = Arc::new(ours);
    // The command keeps the number from becoming another's before the fork.
    let parents = Arc::clone(&ours);
    let wait = move || {
        // With it open, the child would wait for ever for a parent that has been killed.
        // SAFETY: the descriptor is open in the child, which has a copy of its parent's table, and there nothing else uses it.
        unsafe { libc::close(parents.as_raw_fd()) };
        let mut told = (&theirs).write_all(&std::process::id().to_ne_bytes());
        if offers {
            told = told.and_then(|()| notify::offer(&theirs));
        }
        if told.and_then(|()| (&theirs).read_exact(&mut [0])).is_err() {
            // SAFETY: it ends this child at once, without anything that was registered for an exit of its parent.
            unsafe { libc::_exit(NO_PROGRAM) };
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes system calls (close, getpid, write, seccomp, prctl, sendmsg, read and _exit) and nothing
    // else; it neither takes memory nor locks.
    unsafe { command.pre_exec(wait) };
    Ok(Gate { end: ours, offers })
}

/// Gives the child this limit on open files.
pub fn limit_files(command: &mut Command, limit: Rlimit) {
    let set = move || Ok(setrlimit(Resource::Nofile, limit)?);
    // SAFETY: between fork and exec the closure makes one system call and nothing else; it neither takes memory nor locks.
    unsafe { command.pre_exec(set) };
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;

    /// The test starts itself again as the parent, and kills that. A child that is refused its program by the standard library without a
    /// parent says so, and aborts.
    #[test]
    #[allow(clippy::print_stdout, reason = "the parent says that its child waits")]
    fn a_child_whose_parent_has_gone_ends_without_a_word() {
        const NAME: &str = "sys::gate::tests::a_child_whose_parent_has_gone_ends_without_a_word";
        const VARIABLE: &str = "TEST_IS_PARENT";
        if env::var_os(VARIABLE).is_some() {
            let mut command = Command::new("sh");
            command.args(["-c", "echo began >&2"]).stdout(Stdio::null());
            let gate = hold(&mut command, false).unwrap();
            thread::spawn(move || command.spawn());
            println!("waits {}", gate.child().unwrap());
            loop {
                thread::park();
            }
        }
        let mut again = Command::new(env::current_exe().unwrap());
        again.args(["--exact", NAME, "--nocapture"]).env(VARIABLE, "").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut parent = again.spawn().unwrap();
        let (out, mut err) = (parent.stdout.take().unwrap(), parent.stderr.take().unwrap());
        let mut lines = BufReader::new(out).lines().map_while(Result::ok);
        let pid = lines.find_map(|line| line.split_once("waits ")?.1.parse().ok()).and_then(Pid::from_raw).unwrap();
        parent.kill().unwrap();
        parent.wait().unwrap();
        let (sender, said) = mpsc::channel();
        // At its end when the child has ended, too.
        thread::spawn(move || sender.send(io::read_to_string(&mut err)));
        let said = said.recv_timeout(Duration::from_secs(120));
        if said.is_err() {
            let _ = kill_process(pid, Signal::KILL);
        }
        assert_eq!(said.unwrap().unwrap(), "");
    }

    #[test]
    fn a_child_that_is_not_let_go_becomes_no_program() {
        for lets_go in [false, true] {
            let mut command = Command::new("true");
            let gate = hold(&mut command, false).unwrap();
            let starter = thread::spawn(move || command.spawn()?.wait());
            gate.child().unwrap();
            if lets_go {
                gate.open().unwrap();
            }
            drop(gate);
            let code = starter.join().unwrap().unwrap().code();
            assert_eq!(code, Some(if lets_go { 0 } else { NO_PROGRAM }));
        }
    }
}
