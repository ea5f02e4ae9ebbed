//! Two of us would measure each other.

use std::time::Duration;

use crate::exit::Error;
use crate::lock::{MachineLock, Refused};
use crate::render::human;
use crate::signals::Signals;

/// A process that was killed while it started another one leaves its files open in that one until it becomes the other
/// program: so long a lock without an owner can last.
const LINGER: Duration = Duration::from_millis(500);

/// Takes the machine's lock for `task`, such as `charz sweep`; waits for it as long as it takes if that is wanted, and until a
/// signal comes.
pub(super) fn take(task: &str, wait: bool, signals: &Signals) -> Result<MachineLock, Error> {
    let patience = if wait { Duration::MAX } else { LINGER };
    MachineLock::acquire(task, patience, &|| signals.stop().raised()).map_err(|refused| match refused {
        Refused::Busy(busy) => {
            let task = busy.task.unwrap_or_else(|| "another charz".into());
            let pid = busy.pid.map(|pid| format!(" with process id {pid}")).unwrap_or_default();
            let since = busy.since.map(|since| format!(" since {}", human::duration(since))).unwrap_or_default();
            Error::environment(format!(
                "{task}{pid} is measuring on this machine{since}, and the two would measure each other; wait for it with --wait"
            ))
        }
        Refused::Cancelled => {
            let (exit, name) = signals.received().unwrap_or((crate::exit::Exit::Environment, "a signal"));
            Error::ended(exit, format!("stopped by {name} while waiting for another charz that is measuring"))
        }
        Refused::Impossible(sentence, error) => Error::environment(sentence).caused_by(error),
    })
}
