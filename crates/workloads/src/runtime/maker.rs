//! Who makes the threads of a runtime that makes them while a program runs.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::STACK;
use charz_kernels::kernel::Error;
use charz_kernels::sys::pthread::thread::{self as pthread, Attributes, Enter, Mask};

pub(crate) trait Maker: Sized + Send + Sync + 'static {
    /// Where it is not that of the source.
    const VARIANT: Option<&'static str>;

    /// Dropping it waits for the end of the thread.
    type Thread: Send;

    /// For threads on these strands.
    fn new(mask: Mask) -> Result<Self, Error>;

    /// # Errors
    /// [`Error::Refused`] if the system refuses the thread.
    fn make<T: Enter>(&self, entry: Arc<T>) -> Result<Self::Thread, Error>;
}

/// The C library.
pub(crate) struct Pthread(Attributes);

impl Maker for Pthread {
    const VARIANT: Option<&'static str> = None;

    type Thread = pthread::Thread;

    fn new(mask: Mask) -> Result<Self, Error> {
        Ok(Pthread(Attributes::new(STACK, false, Some(&mask))?))
    }

    fn make<T: Enter>(&self, entry: Arc<T>) -> Result<pthread::Thread, Error> {
        pthread::create(&self.0, entry)
    }
}

/// The standard library of Rust.
pub(crate) struct Std(Mask);

pub(crate) struct Joined(Option<JoinHandle<()>>);

impl Drop for Joined {
    fn drop(&mut self) {
        // The thread never panics: see `enter`.
        self.0.take().map(JoinHandle::join);
    }
}

impl Maker for Std {
    const VARIANT: Option<&'static str> = Some("std::thread");

    type Thread = Joined;

    fn new(mask: Mask) -> Result<Self, Error> {
        Ok(Std(mask))
    }

    fn make<T: Enter>(&self, entry: Arc<T>) -> Result<Joined, Error> {
        let mask = self.0.clone();
        let run = move || {
            // It has the strands of its maker, which may be a worker on its seat. The call is that of `pthread_create` with a mask.
            // Refused, the thread stays there.
            let _ = mask.bind();
            enter(&*entry);
        };
        let made = thread::Builder::new().stack_size(STACK).spawn(run);
        made.map(|thread| Joined(Some(thread))).map_err(|error| Error::Refused(format!("std::thread failed: {error}")))
    }
}

/// A panic ends the process here, as it does on the other threads.
extern "C" fn enter<T: Enter>(entry: &T) {
    entry.enter();
}
