//! The measuring process.

use std::fs;
use std::io::{self, BufRead, Write};
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use charz_kernels::Stop;
use charz_topology::{Backend, Binder};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{GRACE, Order, PROTOCOL, STUCK, barren, convert};
use crate::harness::clock::{Clock, OsClock, TscClock};
use crate::harness::{self, Bench};
use crate::report::{Ending, Invocation};

/// The longest order: seats of all workers that a plan may have, many times over.
const MAX_ORDER_BYTES: u64 = 1 << 20;

/// Reads an order from standard input, measures it, and writes the invocation to `out`.
///
/// # Errors
/// Those of the input and the output: whoever asked is gone, and nobody is left to be told.
pub fn serve(out: &mut dyn Write) -> io::Result<()> {
    prepare();
    let mut line = String::new();
    io::Read::take(io::stdin().lock(), MAX_ORDER_BYTES).read_line(&mut line)?;
    let invocation = match serde_json::from_str::<Order>(&line) {
        Ok(order) if order.protocol == PROTOCOL => measure(&order),
        Ok(order) => barren(
            Ending::Refused,
            format!(
                "the measuring program speaks version {PROTOCOL}, not {}; build both from one source",
                order.protocol
            ),
        ),
        Err(error) => barren(Ending::Refused, format!("the measuring program does not understand its order: {error}")),
    };
    serde_json::to_writer(&mut *out, &invocation)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// When memory runs out, this process is the one to go; and it does not outlive the one that asked.
fn prepare() {
    // Either may be refused, e.g. without /proc. The supervisor sees the end of standard input in any case.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

fn measure(order: &Order) -> Invocation {
    try_measure(order).unwrap_or_else(|(ending, reason)| barren(ending, reason))
}

fn try_measure(order: &Order) -> Result<Invocation, (Ending, String)> {
    let refused = |reason: String| (Ending::Refused, reason);
    let Some(kernel) = charz_kernels::find(&order.kernel) else {
        return Err((Ending::Unavailable, format!("this program has no kernel {:?}", order.kernel)));
    };
    let params = order.params().map_err(refused)?;
    let backend = Backend::from_str(&order.binder).map_err(refused)?;
    let binder = Binder::new(backend).map_err(|error| refused(error.to_string()))?;
    let clock: Box<dyn Clock> = match order.nanos_per_tick {
        None => Box::new(OsClock::default()),
        Some(nanos) => Box::new(TscClock::calibrated(nanos)),
    };
    let stop = Stop::new();
    supervise(stop.clone(), Duration::from_nanos(order.deadline_ns)).map_err(|error| refused(error.to_string()))?;
    let bench = Bench {
        binder: &binder,
        clock: clock.as_ref(),
        stop: &stop,
        strands: usize::try_from(order.strands).unwrap_or(usize::MAX),
        time_box: Duration::from_nanos(order.time_box_ns),
    };
    let repetitions = usize::try_from(order.repetitions).unwrap_or(usize::MAX);
    let cell = harness::Cell { kernel, params, seats: &order.seats, nodes: &order.nodes, repetitions };
    Ok(convert::invocation(harness::measure(&cell, bench)))
}

/// Raises the flag at the deadline, or when the other end of standard input goes away; if the workers do not heed it, ends
/// the process.
fn supervise(stop: Stop, deadline: Duration) -> io::Result<()> {
    let watch = move || {
        let stdin = io::stdin();
        let mut ends = [PollFd::new(&stdin, PollFlags::IN)];
        let timeout = Timespec::try_from(deadline).ok();
        // Interrupted, it stops early: nothing but an end is ever sent to this process.
        let _ = poll(&mut ends, timeout.as_ref());
        stop.raise();
        thread::sleep(GRACE / 2);
        std::process::exit(STUCK);
    };
    thread::Builder::new().name("supervisor".into()).stack_size(256 * 1024).spawn(watch).map(|_| ())
}
