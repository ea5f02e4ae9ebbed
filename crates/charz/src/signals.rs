//! SIGINT, SIGTERM, SIGUSR1 and SIGHUP end a sweep in order; another one ends it at once, unless it follows in the same moment.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use charz_kernels::Stop;
use charz_system::Status;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;
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

/// Signals within this time of the first are one wish: timeout(1) sends its own to the process, and then to the group.
const ONE_WISH: Duration = Duration::from_millis(50);

/// Nothing is measured any more: a signal ends the process at once.
static OVER: AtomicBool = AtomicBool::new(false);

/// Handlers that let what is measured end in order, until they are dropped; a process has them once at a time.
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
        OVER.store(false, Ordering::SeqCst);
        let mut signals = Signals { stop: Stop::new(), which: Arc::default(), woken, second: Vec::new() };
        // Without a thread the next signal counts, however soon it is.
        let again = raised_after(signals.woken.try_clone()?).unwrap_or_else(|_| signals.stop.flag());
        for (signal, _, exit) in HANDLED {
            // `nohup charz sweep &` is not to end with the terminal, and a handler would undo what the parent left.
            if signal == SIGHUP && Status::of_process().ignores(SIGHUP) {
                continue;
            }
            // The order matters where it is the same flag: the handler for the second signal looks at it before the first one sets it.
            let second = register_conditional_shutdown(signal, i32::from(exit.code()), Arc::clone(&again))?;
            signals.second.push(second);
            register_conditional_shutdown(signal, i32::from(exit.code()), &OVER)?;
            register_usize(signal, Arc::clone(&signals.which), signal as usize)?;
            register(signal, signals.stop.flag())?;
            pipe::register(signal, waker.try_clone()?)?;
        }
        Ok(signals)
    }

    /// As long as what is returned lives, no signal ends the process: a report that is being written is finished, and leaves no temporary
    /// file. Then any does.
    pub fn let_finish(&self) -> Finishing {
        self.forget_second();
        Finishing(())
    }

    fn forget_second(&self) {
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

impl Drop for Signals {
    fn drop(&mut self) {
        OVER.store(true, Ordering::SeqCst);
        self.forget_second();
        // Lets the thread end that waits for the first signal.
        let _ = self.woken.shutdown(Shutdown::Both);
    }
}

/// A flag that is raised when the moment of the first signal is over, which makes this readable. An error where the system refuses the
/// thread that waits for it.
fn raised_after(first: UnixStream) -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if retry_on_intr(|| poll(&mut [PollFd::new(&first, PollFlags::IN)], None)).is_ok() {
            thread::sleep(ONE_WISH);
        }
        raised.store(true, Ordering::SeqCst);
    })?;
    Ok(flag)
}

#[must_use]
pub struct Finishing(());

impl Drop for Finishing {
    fn drop(&mut self) {
        OVER.store(true, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use signal_hook::low_level::raise;

    use super::*;

    /// Handlers are the whole process's, so this test starts itself again.
    #[test]
    fn another_signal_ends_the_process_unless_it_is_let_finish_and_any_when_it_has_finished() {
        const NAME: &str =
            "signals::tests::another_signal_ends_the_process_unless_it_is_let_finish_and_any_when_it_has_finished";
        const VARIABLE: &str = "TEST_CASE";
        if let Ok(case) = std::env::var(VARIABLE) {
            let signals = Signals::catch().unwrap();
            let first = || {
                raise(SIGTERM).unwrap();
                assert!(signals.stop().raised());
            };
            match case.as_str() {
                "second" => loop {
                    first();
                },
                "at once" => first(),
                "finishing" => {
                    first();
                    let _finishing = signals.let_finish();
                    return raise(SIGTERM).unwrap();
                }
                "finished" => drop(signals.let_finish()),
                "caught again" => {
                    drop(signals);
                    let _signals = Signals::catch().unwrap();
                    return raise(SIGTERM).unwrap();
                }
                _ => drop(signals),
            }
            return raise(SIGTERM).unwrap();
        }
        let run = |case| {
            let mut again = Command::new(std::env::current_exe().unwrap());
            again.args(["--exact", NAME]).env(VARIABLE, case).output().unwrap()
        };
        let ended = i32::from(Exit::Terminated.code());
        for (case, code) in
            [("second", ended), ("finishing", 0), ("finished", ended), ("dropped", ended), ("caught again", 0)]
        {
            let output = run(case);
            assert_eq!(output.status.code(), Some(code), "{case}: {output:?}");
        }
        // On a busy machine the moment may be over before the other one is sent.
        assert!((0..20).any(|_| run("at once").status.success()));
    }
}
