//! SIGINT, SIGTERM and SIGHUP end a sweep in order; a second one ends it at once.

use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use charz_kernels::Stop;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

use crate::exit::{Error, Exit};

/// The signals that end a sweep, and the exit that goes with each.
const HANDLED: [(i32, Exit); 3] = [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated), (SIGHUP, Exit::HungUp)];

/// Which signal came, if any.
pub struct Signals {
    stop: Stop,
    which: Arc<AtomicUsize>,
    woken: UnixStream,
}

impl Signals {
    /// Takes these signals over for the rest of the process's life.
    ///
    /// # Errors
    /// The system refused the handlers.
    pub fn catch() -> Result<Self, Error> {
        let refused = |error| Error::environment("the system refused the signal handlers").caused_by(error);
        // A file-size limit (`ulimit -f`) kills by a signal unless there is a handler; with one, the write fails, and that
        // is told like a full disk.
        signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map_err(refused)?;
        let (woken, waker) = UnixStream::pair().map_err(refused)?;
        let signals = Signals { stop: Stop::new(), which: Arc::new(AtomicUsize::new(0)), woken };
        for (signal, exit) in HANDLED {
            // The order matters: the handler for the second signal looks at the flag before the first one sets it.
            signal_hook::flag::register_conditional_shutdown(signal, i32::from(exit.code()), signals.stop.flag())
                .and_then(|_| signal_hook::flag::register_usize(signal, Arc::clone(&signals.which), signal as usize))
                .and_then(|_| signal_hook::flag::register(signal, signals.stop.flag()))
                .and_then(|_| signal_hook::low_level::pipe::register(signal, waker.try_clone()?))
                .map_err(refused)?;
        }
        Ok(signals)
    }

    /// Raised by the first signal.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Becomes readable with the first signal, for whoever sleeps until something happens.
    pub fn wake(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }

    /// How to end after the signal that came, and its name.
    pub fn received(&self) -> Option<(Exit, &'static str)> {
        match i32::try_from(self.which.load(Ordering::Relaxed)).ok()? {
            SIGINT => Some((Exit::Interrupted, "SIGINT")),
            SIGTERM => Some((Exit::Terminated, "SIGTERM")),
            SIGHUP => Some((Exit::HungUp, "SIGHUP")),
            _ => None,
        }
    }
}
