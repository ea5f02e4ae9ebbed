//! Waiting until other programs leave the machine alone.

use std::time::{Duration, Instant};

use super::Root;
use super::load::BUSY_STRANDS;
use super::timed::Processors;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quiet {
    /// In the last window, with so many strands busy.
    Now(f64),
    /// In no window.
    Never(f64),
    Cancelled,
}

/// Long enough for ticks of 10 ms to tell a tenth of a strand.
const WINDOW: Duration = Duration::from_secs(1);

/// Looks at window after window until one is quiet or `most` is over. `rest` sleeps, which keeps this process's own share at
/// nothing, and returns false if the user wants to leave.
pub fn wait(most: Duration, rest: impl Fn(Duration) -> bool) -> Result<Quiet, String> {
    watch(most, rest, || Processors::read(&Root::system()))
}

fn watch(
    most: Duration,
    rest: impl Fn(Duration) -> bool,
    read: impl Fn() -> Result<Processors, String>,
) -> Result<Quiet, String> {
    let begun = Instant::now();
    let mut before = read()?;
    loop {
        if !rest(WINDOW) {
            return Ok(Quiet::Cancelled);
        }
        let now = read()?;
        let busy = before.until(now).busy().ok_or("/proc/stat: counts no time")?;
        if busy < BUSY_STRANDS {
            return Ok(Quiet::Now(busy));
        }
        if begun.elapsed() >= most {
            return Ok(Quiet::Never(busy));
        }
        before = now;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Waits on two strands, of which others take so many ticks of each window of 200.
    fn check(busy: &[u64], most: Duration, leaves: bool, expected: Quiet) {
        let at = Cell::new(0);
        let read = || {
            let windows = at.replace(at.get() + 1);
            let idle = busy.iter().take(windows).map(|busy| 200 - busy).sum();
            Ok(Processors { strands: 2, total: 200 * windows as u64, idle, steal: 0 })
        };
        assert_eq!(watch(most, |_| !leaves, read), Ok(expected), "{busy:?}");
    }

    #[test]
    fn the_first_quiet_window_ends_the_wait() {
        let minute = Duration::from_secs(60);
        check(&[4], minute, false, Quiet::Now(0.04));
        check(&[100, 10, 9], minute, false, Quiet::Now(0.09));
        check(&[100, 100], Duration::ZERO, false, Quiet::Never(1.0));
        check(&[100], minute, true, Quiet::Cancelled);
    }
}
