//! A load beside which cells are measured: a process of its own that works until its standard input ends, and answers each line of it with
//! the time and the work that it has done by then.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{ChildStdin, ChildStdout};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use charz_data::report::{Ending, Invocation};
use charz_kernels::{Stop, Watch};
use charz_launch::{Children, adopt_orphans, allow_files};
use charz_system::task::used_by_all;
use charz_topology::{Backend, Binder};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};

use super::process::{Guarded, Processes};
use super::{GRACE, Invoke, MeasureRequest, VERB};
use crate::user_program;

/// From one look of a worker at its work to the next; where it has a block, all of it has its turn within the longer one.
const SLICE: Duration = Duration::from_millis(2);
const SLICE_OF_BLOCK: Duration = Duration::from_millis(20);
/// A tick of processor time, in nanoseconds.
const TICK_NS: u64 = 10_000_000;
/// How long a neighbour is watched alone, before the cells and after them.
const ALONE: Duration = Duration::from_secs(1);
/// How long it may take to begin, and to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a neighbour has done by a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Done {
    /// In nanoseconds, since it began.
    ns: u64,
    /// Operations or bytes; of a program the processor time of its processes, in nanoseconds.
    work: u64,
    /// Why it does nothing more.
    failed: Option<String>,
}

/// Works as its order says until standard input ends, and ends the process.
pub(super) fn serve(order: &MeasureRequest, out: &mut dyn Write) -> io::Result<()> {
    let (work, failed) = (AtomicU64::new(0), OnceLock::new());
    if order.program.is_some() {
        // Killed with the one that asked, it would leave running what it has started; the end of standard input ends both.
        let _ = rustix::process::set_parent_process_death_signal(None);
        adopt_orphans();
    }
    let others = Children::now();
    thread::scope(|scope| {
        let answered = (0..order.seats.len())
            .try_for_each(|rank| {
                let (work, failed) = (&work, &failed);
                let run = move || {
                    let ended =
                        if order.program.is_some() { run_program(order, rank) } else { run_kernel(order, rank, work) };
                    let _ = failed.set(ended.err().unwrap_or_else(|| "it ended".to_owned()));
                };
                thread::Builder::new().name("neighbour".into()).spawn_scoped(scope, run).map(drop)
            })
            .and_then(|()| answer(order, (&work, &failed), out));
        others.kill_new();
        // Its workers heed nothing, and the scope would wait for them.
        std::process::exit(i32::from(answered.is_err()))
    })
}

/// Answers each line of standard input with what was done by then.
fn answer(
    order: &MeasureRequest,
    (work, failed): (&AtomicU64, &OnceLock<String>),
    out: &mut dyn Write,
) -> io::Result<()> {
    let begun = Instant::now();
    for line in io::stdin().lock().lines() {
        line?;
        if order.program.is_some() {
            // A process that has ended is counted again as soon as its parent has waited for it.
            work.fetch_max(of_children(), Ordering::Relaxed);
        }
        let ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let done = Done { ns, work: work.load(Ordering::Relaxed), failed: failed.get().cloned() };
        serde_json::to_writer(&mut *out, &done)?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(())
}

/// Does a kernel's work over and over.
fn run_kernel(order: &MeasureRequest, rank: usize, done: &AtomicU64) -> Result<(), String> {
    let kernel =
        charz_workloads::find(&order.kernel).ok_or_else(|| format!("there is no kernel {:?}", order.kernel))?;
    let binder = Binder::new(order.binder.parse::<Backend>()?);
    if let Some(seat) = order.seats[rank] {
        binder.seat(seat).map_err(|error| error.to_string())?;
    }
    if let Some(homes) = order.homes.first() {
        binder.place_memory(homes).map_err(|error| error.to_string())?;
    }
    // Each thread does the work of one worker alone: there is nothing that it waits for.
    let stage = kernel.stage(&order.params, 1).map_err(|error| error.to_string())?;
    let mut worker = stage.worker(0).map_err(|error| error.to_string())?;
    let slice = if kernel.footprint(&order.params).0 == 0 { SLICE } else { SLICE_OF_BLOCK };
    let stop = Stop::new();
    loop {
        worker.prepare();
        let watch = Watch::new(&stop).with_deadline(Instant::now().checked_add(slice));
        watch.begin(stage.span());
        let work = worker.run(&watch);
        done.fetch_add(work.ops.0 + work.bytes.0, Ordering::Relaxed);
    }
}

/// Starts a program again whenever it ends.
fn run_program(order: &MeasureRequest, rank: usize) -> Result<(), String> {
    let Some(program) = &order.program else { return Ok(()) };
    allow_files();
    let (_kept, woken) = UnixStream::pair().map_err(|error| error.to_string())?;
    let long = Duration::from_secs(24 * 3600);
    let run = user_program::Order {
        program,
        seats: &order.seats[rank..=rank],
        homes: &order.homes,
        mapping: &order.mapping,
        repetitions: 1,
        time_box: long,
        enough: long,
        untraced: true,
    };
    loop {
        let ended = user_program::measure(&run, &Stop::new(), woken.as_fd()).unwrap_or_else(Invocation::from);
        if ended.ending != Ending::Done {
            return Err(ended.reason.unwrap_or_default());
        }
    }
}

/// The processor time of all processes that this one started, and of theirs, in nanoseconds.
fn of_children() -> u64 {
    let (all, own) = (used_by_all(Path::new("/proc")), std::process::id());
    let is_own = |mut pid: u32| {
        // A chain of parents is no longer than there are processes.
        for _ in 0..all.len() {
            match all.get(&pid) {
                Some(used) if used.parent == own => return true,
                Some(used) => pid = used.parent,
                None => return false,
            }
        }
        false
    };
    let living = all.iter().filter(|(pid, _)| is_own(**pid)).map(|(_, used)| used.ticks + used.of_children);
    (living.sum::<u64>() + all.get(&own).map_or(0, |used| used.of_children)) * TICK_NS
}

/// A neighbour that runs. It ends with its owner.
struct Neighbour {
    child: Guarded,
    /// Closed, it ends the neighbour, and the programs that this started.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Neighbour {
    fn start(processes: &Processes<'_>, order: &MeasureRequest) -> io::Result<Self> {
        let (child, mut input, output) = processes.start(&[VERB], order.program.is_some())?;
        let order = MeasureRequest { is_neighbour: true, ..order.clone() };
        serde_json::to_writer(&mut input, &order)?;
        input.write_all(b"\n")?;
        Ok(Neighbour { child, input: Some(input), output: BufReader::new(output) })
    }

    /// What it has done by now.
    fn done(&mut self) -> Result<Done, String> {
        let ask = |error: io::Error| format!("it does not answer: {error}");
        let input = self.input.as_mut().ok_or("it was ended")?;
        input.write_all(b"\n").map_err(ask)?;
        let mut ends = [PollFd::new(self.output.get_ref(), PollFlags::IN)];
        if poll(&mut ends, Timespec::try_from(PATIENCE).ok().as_ref()).is_ok_and(|ready| ready == 0) {
            return Err(format!("it does not answer within {} s", PATIENCE.as_secs()));
        }
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(ask)?;
        let done: Done = serde_json::from_str(&line).map_err(|_| "it ended".to_owned())?;
        match &done.failed {
            Some(why) => Err(why.clone()),
            None => Ok(done),
        }
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        drop(self.input.take());
        self.child.ends_within(GRACE / 2);
    }
}

/// How much a neighbour did, and in what time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Operations or bytes; of a program its processor time, in nanoseconds.
    pub work: f64,
    /// In nanoseconds.
    pub ns: f64,
}

impl Pace {
    /// Work per second; `None` where it was not watched.
    pub fn rate(&self) -> Option<f64> {
        Some(self.work / self.ns * 1e9).filter(|rate| rate.is_finite())
    }

    fn add(&mut self, work: f64, ns: f64) {
        (self.work, self.ns) = (self.work + work, self.ns + ns);
    }
}

/// The work and the time between two answers.
fn since(before: &Done, after: &Done) -> [f64; 2] {
    [(after.work, before.work), (after.ns, before.ns)].map(|(after, before)| after.saturating_sub(before) as f64)
}

/// What is measured beside: a kernel, a mapping and a number of threads.
pub type Placement = (String, String, usize);

/// Measures beside a neighbour, and watches what that gets done.
pub struct Beside<'a> {
    processes: &'a Processes<'a>,
    neighbour: RefCell<Neighbour>,
    alone: RefCell<Pace>,
    beside: RefCell<BTreeMap<Placement, Pace>>,
    failed: RefCell<Option<String>>,
}

impl<'a> Beside<'a> {
    /// Starts the neighbour and watches it alone.
    ///
    /// # Errors
    /// Why there is none, as a clause.
    pub fn new(processes: &'a Processes<'a>, order: &MeasureRequest) -> Result<Self, String> {
        let neighbour = Neighbour::start(processes, order).map_err(|error| format!("it cannot be started: {error}"))?;
        let beside = Beside {
            processes,
            neighbour: RefCell::new(neighbour),
            alone: RefCell::default(),
            beside: RefCell::default(),
            failed: RefCell::default(),
        };
        let begun = Instant::now();
        while beside.neighbour.borrow_mut().done()?.work == 0 {
            if processes.is_stopped() {
                return Err("stopped by the user".to_owned());
            }
            if begun.elapsed() >= PATIENCE {
                return Err(format!("it does no work within {} s", PATIENCE.as_secs()));
            }
            processes.rest(SLICE);
        }
        beside.watch_alone()?;
        Ok(beside)
    }

    fn watch_alone(&self) -> Result<(), String> {
        let before = self.neighbour.borrow_mut().done()?;
        self.processes.rest(ALONE);
        let after = self.neighbour.borrow_mut().done()?;
        let [work, ns] = since(&before, &after);
        self.alone.borrow_mut().add(work, ns);
        Ok(())
    }

    /// What the neighbour does alone, and while each placement was measured.
    ///
    /// # Errors
    /// Why it stopped, as a clause.
    pub fn end(self) -> Result<(Pace, BTreeMap<Placement, Pace>), String> {
        self.watch_alone()?;
        match self.failed.into_inner() {
            Some(why) => Err(why),
            None => Ok((self.alone.into_inner(), self.beside.into_inner())),
        }
    }
}

impl Invoke for Beside<'_> {
    fn invoke(&self, order: &MeasureRequest, seed: u64) -> Invocation {
        let look = || self.neighbour.borrow_mut().done();
        let before = look();
        let invocation = self.processes.invoke(order, seed);
        match before.and_then(|before| Ok((before, look()?))) {
            Ok((before, after)) if invocation.ending == Ending::Done => {
                let key = (order.kernel.clone(), order.mapping.clone(), order.seats.len());
                let [work, ns] = since(&before, &after);
                self.beside.borrow_mut().entry(key).or_default().add(work, ns);
            }
            Ok(_) => {}
            Err(why) => {
                self.failed.borrow_mut().get_or_insert(why);
            }
        }
        invocation
    }

    fn rest(&self, time: Duration) {
        self.processes.rest(time);
    }
}
