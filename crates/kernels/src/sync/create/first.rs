//! `create-first`: the first thread that a process makes.
//!
//! The first thread of a process costs more than the next: the C library sets up what a process without threads does not have. So each
//! sample is a fresh process: the program starts itself, under a name that [`serve`] knows.

use std::env;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use charz_data::params::SAMPLES;
use charz_data::{Card, Family, Metric, Params, WorkerCount};

use super::{Child, STACK};
use crate::clock::{Clock, OsClock};
use crate::kernel::{Axes, Error};
use crate::plain::{PlainKernel, kernels};
use crate::sample::{Probe, sampled};
use crate::sys::pthread::thread::{self as pthread, Attributes};
use crate::watch::{Stop, Watch};

/// What a fresh process has for the name of its program, and its one argument.
const NAME: [&str; 2] = ["charz-fresh", "make-first-thread"];

const PROGRAM: &str = "/proc/self/exe";

/// Whether this program serves fresh processes.
static SERVES: AtomicBool = AtomicBool::new(false);

kernels! {
    first => Card::new(
        "create-first",
        Family::Sync,
        "starts a fresh process for each sample, which makes its first thread with pthread_create and joins it",
        Metric::SecondTime,
    )
    .times("from the call to its return", "from the call to the new thread's first instruction")
    .uncounted_traffic(
        "the start of the process. A stack of 64 KiB (128 KiB on aarch64). The new thread inherits the strands of its maker: on a seat it runs only once its \
         maker sleeps, as in create-std",
    )
    .params(&[&SAMPLES])
    .source("K. Milfeld et al., multi-core measurements at TACC, section 4: 250,000 and 175,000 cycles for the first thread, 35,000 for \
             each next one")
    .workers(WorkerCount::Exactly(1))
    .blocks_in_kernel(true);
}

/// What a `main` calls before anything else, so kernels may start its program anew: in such a process it does what that is for, and returns
/// the exit code. Without this call `create-first` is not available.
pub fn serve() -> Option<ExitCode> {
    SERVES.store(true, Ordering::Relaxed);
    if !env::args_os().eq(NAME) {
        return None;
    }
    Some(match sample() {
        Ok((returned, ran)) => {
            // A reader that is gone needs no answer.
            let _ = writeln!(io::stdout(), "{returned} {ran}");
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    })
}

/// Makes a thread: the times from the call to its return, and to the thread's first instruction.
fn sample() -> Result<(u64, u64), Error> {
    let clock: Arc<dyn Clock> = Arc::new(OsClock::default());
    let (attributes, child) = (Attributes::new(STACK, false, None)?, Child::new(&clock));
    let given = Arc::clone(&child);
    let watch = Watch::new(&Stop::new());
    let called = clock.now();
    let thread = pthread::create(&attributes, given)?;
    let returned = clock.now();
    let ran = child.stamped(&watch).unwrap_or(returned);
    drop(thread);
    Ok((returned.saturating_sub(called), ran.saturating_sub(called)))
}

/// What a fresh process said.
fn read(text: &[u8]) -> Option<(u64, u64)> {
    let (returned, ran) = std::str::from_utf8(text).ok()?.strip_suffix('\n')?.split_once(' ')?;
    Some((returned.parse().ok()?, ran.parse().ok()?))
}

const fn first(card: &'static Card) -> PlainKernel {
    sampled::<Starter>(card).axes(Axes::NONE)
}

/// Starts fresh processes.
struct Starter(&'static str);

impl Probe for Starter {
    const VARIANT: &'static str = "pthread_create";

    fn check() -> Result<(), Error> {
        match SERVES.load(Ordering::Relaxed) {
            true => Ok(()),
            false => {
                let needs = "create-first needs a program that starts itself anew (charz_kernels::serve)";
                Err(Error::Unavailable(needs.into()))
            }
        }
    }

    fn new(name: &'static str, _: &Params) -> Result<Self, Error> {
        Ok(Starter(name))
    }

    fn sample(&mut self, _: &Watch) -> Result<Option<(u64, u64)>, Error> {
        let name = self.0;
        let refused = |error| {
            Error::Refused(format!(
                "{name}: {PROGRAM} cannot be started ({error}): allow more processes, and mount /proc"
            ))
        };
        let mut fresh = Command::new(PROGRAM);
        fresh.arg0(NAME[0]).arg(NAME[1]).stdin(Stdio::null()).stderr(Stdio::null());
        let output = fresh.output().map_err(refused)?;
        let pair = read(&output.stdout).ok_or_else(|| {
            Error::Refused(format!("{name}: a fresh process made no thread ({}): allow more threads", output.status))
        })?;
        Ok(Some(pair))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_returns_before_it_is_said_to_have_run() {
        let (returned, ran) = sample().unwrap();
        assert!(returned > 0 && ran > 0);
        assert_eq!(read(format!("{returned} {ran}\n").as_bytes()), Some((returned, ran)));
    }

    #[test]
    fn what_no_fresh_process_says_is_refused() {
        for text in ["", "1 2", "1\n", "1 2 3\n", "-1 2\n", "a b\n"] {
            assert_eq!(read(text.as_bytes()), None, "{text:?}");
        }
    }

    /// A test program would run its tests anew.
    #[test]
    fn a_program_that_does_not_serve_is_not_started() {
        assert!(matches!(KERNELS[0].check(), Err(Error::Unavailable(reason)) if reason.contains("serve")));
    }
}
