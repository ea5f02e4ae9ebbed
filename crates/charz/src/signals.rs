//! SIGINT, SIGTERM, SIGUSR1 and SIGHUP end a sweep in order; a second one ends it at once.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use charz_kernels::Stop;
use charz_system::Status;
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::flag::{register, register_conditional_shutdown, register_usize};
use signal_hook::low_level::{pipe, unregister};

use crate::exit::Exit;

const HANDLED: [(i32, &str, Exit); 4] = [
    (SIGINT, "SIGINT", Exit::Interrupted),
    (SIGTERM, "SIGTERM", Exit::Terminated),
    (SIGHUP, "SIGHUP", Exit::HungUp),
    // What batch systems send before the end of a job's time, if they are asked to.
    (SIGUSR1, "SIGUSR1", Exit::Terminated),
];

pub struct Signals {
    stop: Stop,
    which: Arc<AtomicUsize>,
    woken: UnixStream,
    second: Vec<SigId>,
}

/// A file-size limit (`ulimit -f`) kills the process by a signal unless there is a handler; with one, the write fails and is
/// reported like a full disk.
pub fn survive_file_size_limit() -> io::Result<()> {
    register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(drop)
}

impl Signals {
    pub fn catch() -> io::Result<Self> {
        let (woken, waker) = UnixStream::pair()?;
        let mut signals = Signals { stop: Stop::new(), which: Arc::default(), woken, second: Vec::new() };
        for (signal, _, exit) in HANDLED {
            // `nohup charz sweep &` is not to end with the terminal, and a handler would undo what the parent left.
            if signal == SIGHUP && Status::of_process().ignores(SIGHUP) {
                continue;
            }
            // The order matters: the handler for the second signal looks at the flag before the first one sets it.
            let second = register_conditional_shutdown(signal, i32::from(exit.code()), signals.stop.flag())?;
            signals.second.push(second);
            register_usize(signal, Arc::clone(&signals.which), signal as usize)?;
            register(signal, signals.stop.flag())?;
            pipe::register(signal, waker.try_clone()?)?;
        }
        Ok(signals)
    }

    /// From now on no signal ends the process: a report that is being written is finished, and leaves no temporary file.
    pub fn let_finish(&self) {
        self.second.iter().for_each(|second| {
            unregister(*second);
        });
    }

    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Becomes readable with the first signal, for a thread that sleeps until something happens.
    pub fn wake(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }

    pub fn received(&self) -> Option<(Exit, &'static str)> {
        let which = self.which.load(Ordering::Relaxed);
        HANDLED.iter().find(|(signal, ..)| *signal as usize == which).map(|(_, name, exit)| (*exit, *name))
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use signal_hook::low_level::raise;

    use super::*;

    /// Handlers are the whole process's, so this test starts itself again.
    #[test]
    fn a_second_signal_ends_the_process_unless_it_is_let_finish() {
        const NAME: &str = "signals::tests::a_second_signal_ends_the_process_unless_it_is_let_finish";
        const VARIABLE: &str = "TEST_LETS_FINISH";
        if let Some(lets_finish) = std::env::var_os(VARIABLE) {
            let signals = Signals::catch().unwrap();
            raise(SIGTERM).unwrap();
            assert!(signals.stop().raised());
            if lets_finish == "true" {
                signals.let_finish();
            }
            return raise(SIGTERM).unwrap();
        }
        for (lets_finish, code) in [(true, 0), (false, Exit::Terminated.code())] {
            let mut again = Command::new(std::env::current_exe().unwrap());
            let output = again.args(["--exact", NAME]).env(VARIABLE, lets_finish.to_string()).output().unwrap();
            assert_eq!(output.status.code(), Some(code.into()), "{output:?}");
        }
    }
}
