//! The measuring process.

use std::fs;
use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use charz_kernels::{Family, Stop};
use charz_launch::{Children, adopt_orphans, allow_files};
use charz_system::task;
use charz_topology::{Backend, Binder};
use charz_workloads::limit::ThreadLimit;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::{Deadline, GRACE, MeasureRequest, PROTOCOL, STUCK, neighbour};
use crate::harness::clock::Stamps;
use crate::harness::counters::hardware::{EVENTS, PerfEvents};
use crate::harness::exchange::apart_ns;
use crate::harness::{self, Bench, Failure, MOST_REPETITIONS};
use crate::limits::{Limits, MOST_THREADS};
use crate::user_program;
use charz_data::report::{Ending, Invocation, from_json};
use charz_data::{COMMAND, Program, units};

/// The longest order: seats of all workers that a plan may have, many times over.
const MAX_ORDER_BYTES: u64 = 1 << 20;

/// Reads an order from standard input, measures it, and writes the invocation to `out`.
pub fn serve(out: &mut dyn Write) -> io::Result<()> {
    prepare();
    let mut line = Vec::new();
    io::Read::take(io::stdin().lock(), MAX_ORDER_BYTES).read_until(b'\n', &mut line)?;
    let invocation = match from_json::<MeasureRequest>(&line) {
        Ok(order) if order.protocol == PROTOCOL && order.is_neighbour => return neighbour::serve(&order, out),
        Ok(order) if order.protocol == PROTOCOL => measure(&order),
        Ok(MeasureRequest { protocol, .. }) => Err(refused(format!(
            "the measuring program speaks version {PROTOCOL}, not {protocol}; build both from one source"
        ))),
        Err(error) => Err(refused(format!("the measuring program does not understand its order: {error}"))),
    };
    let invocation = invocation.unwrap_or_else(Invocation::from);
    serde_json::to_writer(&mut *out, &invocation)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// When memory runs out, this process is the one to go; and it does not outlive the one that asked.
fn prepare() {
    // Either may be refused, e.g. without /proc. The supervisor sees the end of standard input in any case.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    // By the file that it was started from it would be called `exe`.
    let _ = fs::write("/proc/self/comm", "charz");
}

fn refused(reason: String) -> Failure {
    Failure::new(Ending::Refused, reason)
}

fn measure(order: &MeasureRequest) -> Result<Invocation, Failure> {
    // What is kept of each is bounded by these two.
    if order.seats.len() > MOST_THREADS || order.repetitions > MOST_REPETITIONS {
        return Err(refused(format!(
            "an order has at most {MOST_THREADS} workers and {MOST_REPETITIONS} repetitions, not {} and {}",
            order.seats.len(),
            order.repetitions
        )));
    }
    let binder = Binder::new(Backend::from_str(&order.binder).map_err(refused)?);
    let depends = user_program::find(&order.kernel).is_some_and(|kernel| kernel.card().depends_on_distance());
    let apart = || if depends { apart_ns(&binder, &order.seats) } else { None };
    let before = apart();
    let mut invocation = match order.program.as_ref().filter(|_| order.kernel == COMMAND) {
        Some(program) => run_program(order, program)?,
        None => run_kernel(order, &binder)?,
    };
    if let Some(evidence) = invocation.evidence.as_mut().filter(|_| invocation.ending == Ending::Done) {
        // Moved in between, it is of neither placement, and neither is the mean.
        let seen: Vec<f64> = [before, apart()].into_iter().flatten().collect();
        evidence.apart_ns = Some(seen.iter().sum::<f64>() / seen.len() as f64).filter(|mean| mean.is_finite());
    }
    Ok(invocation)
}

fn run_kernel(order: &MeasureRequest, binder: &Binder) -> Result<Invocation, Failure> {
    let kernel = charz_workloads::find(&order.kernel)
        .ok_or_else(|| Failure::new(Ending::Unavailable, format!("this program has no kernel {:?}", order.kernel)))?;
    if kernel.card().family == Family::Workload {
        let limit = Limits::read().threads_beside(order.seats.len());
        let at_most = u32::try_from(limit.at_most).unwrap_or(u32::MAX);
        ThreadLimit { at_most, because: limit.because }.set();
    }
    let params = order.params;
    let clock = order.stamps.clock();
    let stop = Stop::new();
    let deadline = Deadline::of(order, Duration::ZERO, task::waited(std::process::id()));
    let overdue = supervise(stop.clone(), deadline, None).map_err(|error| refused(error.to_string()))?;
    let bench = Bench {
        binder,
        clock: &clock,
        stop: &stop,
        strands: usize::try_from(order.strands).unwrap_or(usize::MAX),
        spins: order.stamps != Stamps::Realtime,
        time_box: Duration::from_nanos(order.time_box_ns),
        enough: Duration::from_nanos(order.enough_ns),
        counters: order.counters.then(|| {
            // Each worker has one for each counter.
            allow_files();
            &PerfEvents(EVENTS) as _
        }),
    };
    let repetitions = usize::try_from(order.repetitions).unwrap_or(usize::MAX);
    let cell = harness::Cell {
        kernel,
        params,
        seats: &order.seats,
        nodes: &order.nodes,
        homes: &order.homes,
        repetitions,
        separate_laps: order.separate_laps,
    };
    let invocation = upward(&cell, bench).unwrap_or_else(Invocation::from);
    Ok(in_time(invocation, &deadline, &overdue))
}

/// Measures the cell, in a warm process after the same with fewer workers on the first of its seats.
fn upward(cell: &harness::Cell<'_>, bench: Bench<'_>) -> Result<Invocation, Failure> {
    for workers in cell.kernel.card().runs_before(&cell.params, cell.seats.len()) {
        // It is not counted: the counters are for the cell.
        let before = harness::measure(
            &harness::Cell { seats: &cell.seats[..workers], ..*cell },
            Bench { counters: None, ..bench },
        )?;
        if before.ending != Ending::Done {
            return Ok(Invocation { runs: Vec::new(), ..before });
        }
    }
    harness::measure(cell, bench)
}

/// A program in place of a kernel.
fn run_program(order: &MeasureRequest, program: &Program) -> Result<Invocation, Failure> {
    allow_files();
    adopt_orphans();
    // Killed with the one that asked, it would leave running what a set-up has started. The supervisor ends both.
    let _ = rustix::process::set_parent_process_death_signal(None);
    let deadline = Deadline::of(order, Duration::ZERO, task::waited(std::process::id()));
    let (stop, refuse) = (Stop::new(), |error: io::Error| refused(error.to_string()));
    let (woken, waker) = UnixStream::pair().map_err(refuse)?;
    let overdue = supervise(stop.clone(), deadline, Some((waker, Children::now()))).map_err(refuse)?;
    let run = user_program::Order {
        program,
        seats: &order.seats,
        homes: &order.homes,
        mapping: &order.mapping,
        repetitions: usize::try_from(order.repetitions).unwrap_or(usize::MAX),
        time_box: Duration::from_nanos(order.time_box_ns),
        enough: Duration::from_nanos(order.enough_ns),
        untraced: order.untraced,
    };
    let invocation = user_program::measure(&run, &stop, woken.as_fd()).unwrap_or_else(Invocation::from);
    Ok(in_time(invocation, &deadline, &overdue))
}

/// The flag is raised at the deadline too: reported as stopped by the user, such an invocation would end the sweep.
fn in_time(invocation: Invocation, deadline: &Deadline, overdue: &AtomicBool) -> Invocation {
    if invocation.ending != Ending::Stopped || !overdue.load(Ordering::Acquire) {
        return invocation;
    }
    let (time, took) = (units::duration(deadline.after), deadline.begun.elapsed());
    let reason = match took < deadline.after * 2 {
        true => format!("it did not end in its time of {time}"),
        false => format!(
            "it did not end in its time of {time}, nor in the {} that it got because CPUs were busy",
            units::duration(took)
        ),
    };
    Invocation { ending: Ending::TimedOut, reason: Some(reason), ..invocation }
}

/// Raises the flag at the deadline, or when the other end of standard input goes away, and closes what wakes the thread that waits for
/// programs; if the workers do not heed it, ends the process, and before it all but these children. What it returns is set where it was the
/// deadline.
fn supervise(stop: Stop, deadline: Deadline, programs: Option<(UnixStream, Children)>) -> io::Result<Arc<AtomicBool>> {
    let overdue = Arc::new(AtomicBool::new(false));
    let passed = Arc::clone(&overdue);
    let watch = move || {
        let stdin = io::stdin();
        let mut ends = [PollFd::new(&stdin, PollFlags::IN)];
        loop {
            let Some(left) = deadline.left(|| task::waited(std::process::id())) else {
                passed.store(true, Ordering::Release);
                break;
            };
            match poll(&mut ends, Timespec::try_from(left).ok().as_ref()) {
                // At its end there may be more of it; and the ends of programs interrupt.
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) | Err(_) => break,
            }
        }
        stop.raise();
        // Readable at its other end.
        let others = programs.map(|(waker, others)| {
            drop(waker);
            others
        });
        thread::sleep(GRACE / 4);
        if let Some(others) = others {
            others.kill_new();
        }
        std::process::exit(STUCK);
    };
    thread::Builder::new().name("supervisor".into()).stack_size(256 * 1024).spawn(watch).map(|_| overdue)
}

#[cfg(test)]
mod tests {
    use charz_data::params::Process;
    use charz_kernels::Params;

    use std::time::Instant;

    use super::*;
    use crate::harness::clock::{Clock, OsClock};

    #[test]
    fn an_order_without_bound_is_refused() {
        let order = MeasureRequest { kernel: "noop".into(), seats: vec![None], ..MeasureRequest::new(&Params::SMALL) };
        let long = MeasureRequest { repetitions: u64::MAX, ..order.clone() };
        let wide = MeasureRequest { seats: vec![None; MOST_THREADS + 1], ..order };
        for order in [long, wide] {
            assert_eq!(measure(&order).unwrap_err().ending, Ending::Refused);
        }
    }

    /// Each of its runs takes as long as it is given, with however many workers.
    #[test]
    fn a_warm_process_has_run_fewer_workers_before() {
        let params = Params { span_ns: 10_000_000, process: Process::Warm, ..Params::SMALL };
        let (kernel, clock) =
            (charz_workloads::find("cmt-compute").unwrap(), Arc::new(OsClock::default()) as Arc<dyn Clock>);
        let (binder, stop, minute) = (Binder::new(Backend::default()), Stop::new(), Duration::from_secs(60));
        let bench = Bench {
            binder: &binder,
            clock: &clock,
            stop: &stop,
            time_box: minute,
            enough: minute,
            strands: 1,
            spins: true,
            counters: None,
        };
        let seats = &[None; 4];
        let cell = harness::Cell { kernel, params, seats, nodes: &[], homes: &[], repetitions: 1, separate_laps: true };
        let begun = Instant::now();
        let invocation = upward(&cell, bench).unwrap();
        assert_eq!((invocation.ending, invocation.runs.len()), (Ending::Done, 1));
        assert_eq!(invocation.runs[0].laps.len(), 4);
        assert!(begun.elapsed() >= params.span() * 3, "with 1, 2 and 4 workers");
    }

    #[test]
    fn a_stop_at_the_deadline_is_no_wish_of_the_user() {
        let deadline = Deadline::of(&MeasureRequest::new(&Params::SMALL), Duration::ZERO, Duration::ZERO);
        let after = |ending, overdue| {
            in_time(Invocation::without_runs(ending, "why"), &deadline, &AtomicBool::new(overdue)).ending
        };
        assert_eq!(after(Ending::Stopped, true), Ending::TimedOut);
        assert_eq!(after(Ending::Stopped, false), Ending::Stopped);
        assert_eq!(after(Ending::Done, true), Ending::Done);
    }
}
