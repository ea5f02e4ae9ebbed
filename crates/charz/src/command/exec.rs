//! `charz exec`: a program of the user with its threads on seats. Its end, streams and terminal are its own.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use charz_launch::{Arrived, Crew, Ended, Event, Follow, Id, Launch, Relay, own_allowed, runtimes, stop_cost};
use charz_system::cgroup;
use charz_system::stat::{self, Ticks};
use charz_topology::{Mapping, Near, Order, Source, discover, memory_homes, place};
use rustix::process::{DumpableBehavior, Pid, Signal, getpgrp, getpid, kill_process, set_dumpable_behavior};
use rustix::termios::tcgetpgrp;
use signal_hook::low_level::emulate_default_handler;

use crate::exit::{Error, Exit};
use crate::view::look;
use crate::view::passport::{self, Passport};
use crate::view::placement::spilled;
use crate::view::progress::note;
use charz_data::MemoryPolicy;
use charz_data::escape::quote;
use charz_data::program::BINDING;

pub struct Options {
    pub mapping: Mapping,
    /// `None` takes each strand of the mapping once.
    pub threads: Option<usize>,
    /// The device whose CPUs and memory come first.
    pub near: Option<String>,
    /// `None`: local, or near the device.
    pub memory: Option<MemoryPolicy>,
    pub skip: Vec<usize>,
    /// `None`: by ptrace, if there is something to seat.
    pub follow: Option<Follow>,
    pub quiet: bool,
    pub program: OsString,
    pub arguments: Vec<OsString>,
}

/// A signal may go to the program too, as `timeout` sends it to the process group: then it is not sent twice, which some programs take
/// for an order to end at once.
const GROUP: Duration = Duration::from_millis(10);
/// Between a key that stops the program and the stop, in which it may put the terminal in order.
const TIDYING: Duration = Duration::from_secs(5);
/// Shells add this to the signal that ended a program.
const BY_SIGNAL: i32 = 128;

pub(super) fn run(options: Options) -> Result<Exit, Error> {
    let quiet = options.quiet;
    let quota = cgroup::quota().map(|quota| quota.cpus);
    let (launch, follow, own, is_limited) = launch(options, quota)?;
    let refused = |error| Error::environment("the system refuses to follow a program").caused_by(error);
    let relay = Relay::catch().map_err(refused)?;
    let before = (!quiet).then(stolen);
    let mut crew = Crew::new(follow).map_err(refused)?;
    let id = crew.start(&launch).map_err(|error| not_started(&launch, error))?;
    let ended = watch(&mut crew, id, &relay).map_err(refused)?;
    drop(crew);
    // A signal is for this process from now on, e.g. where no one reads the summary.
    drop(relay);
    if let Some(before) = before {
        let stolen = lost(&before, &stolen(), &launch.seats);
        let (program, seats) = (&launch.program, &launch.seats);
        let stood_still = stood_still(&ended);
        let passport = Passport { program, seats, ended: &ended, stolen, quota, is_limited, own: &own, stood_still };
        passport::print(&passport).lines().for_each(look::say);
    }
    end_as(ended.status)
}

/// Stops below this number take less time than finding out what they cost.
const FEW_STOPS: u64 = 20;

/// The share of its time that the program stood still for this process; 0 where there were few stops.
fn stood_still(ended: &Ended) -> f64 {
    if ended.stops < FEW_STOPS {
        return 0.0;
    }
    let time = ended.end.saturating_duration_since(ended.start);
    let share = |cost: Duration| cost.as_secs_f64() * ended.stops as f64 / time.as_secs_f64();
    stop_cost(ended.stops, time).map_or(0.0, share)
}

/// What is started, how it is followed, the user's own variables that bind threads too, and whether a quota leaves it fewer seats than CPUs.
fn launch(options: Options, quota: Option<f64>) -> Result<(Launch, Follow, Vec<String>, bool), Error> {
    let Seats { seats, nodes, is_limited } = seats(&options, quota)?;
    let usual = if seats.iter().any(Option::is_some) { Follow::Ptrace } else { Follow::None };
    let follow = options.follow.unwrap_or(usual);
    let variables = runtimes::variables(&seats, follow);
    let is_own = |name: &str| std::env::var_os(name).is_some();
    // An exec around this one has set what this one would.
    let is_as_set = |name: &str| {
        let set = variables.iter().find(|(set, _)| *set == name);
        set.is_some_and(|(_, value)| std::env::var_os(name).is_some_and(|own| own == value.as_str()))
    };
    let bind = BINDING.iter().filter(|name| is_own(name) && !is_as_set(name));
    let own = bind.map(|name| (*name).to_owned()).collect();
    let environment = variables.into_iter().filter(|(name, _)| *name == runtimes::SEATS || !is_own(name));
    Ok((
        Launch {
            environment: environment.map(|(name, value)| (name.into(), Some(value.into()))).collect(),
            program: options.program,
            arguments: options.arguments,
            seats,
            skip: options.skip,
            nodes,
            ..Launch::default()
        },
        follow,
        own,
        is_limited,
    ))
}

struct Seats {
    seats: Vec<Option<u32>>,
    /// The NUMA nodes of all memory; none where each thread's touch decides.
    nodes: Vec<u32>,
    is_limited: bool,
}

/// Where nothing else is asked for, all CPUs of the mapping, or as many as a quota has time for: threads beyond these stop the others.
fn seats(options: &Options, quota: Option<f64>) -> Result<Seats, Error> {
    let most = quota.map_or(usize::MAX, |cpus| cpus.ceil() as usize).max(1);
    let placed = |order: &Order, usable: usize| {
        let each = match order {
            Order::Strands(strands) => strands.len(),
            Order::Floating => usable,
        };
        // The CPUs of a list that leaves some out are asked for.
        let is_limited = options.threads.is_none() && each == usable && each > most;
        let count = options.threads.unwrap_or(if is_limited { most } else { each });
        Seats { seats: place(order, count).seats, nodes: Vec::new(), is_limited }
    };
    // A machine that need not be known is not looked at: hwloc would take longer than all the rest.
    let is_known = options.near.is_none() && options.memory.is_none_or(|memory| memory == MemoryPolicy::Local);
    let usable = if is_known { own_allowed() } else { Vec::new() };
    if let Some(order) = options.mapping.order_of_ids(&usable) {
        return Ok(placed(&order, usable.len()));
    }
    let machine = discover(&Source::ThisMachine)?;
    let order = options.mapping.order(&machine)?;
    let usable = machine.usable_strands().count();
    let near = options.near.as_ref().map(|device| Near::of(&machine, device)).transpose()?;
    let (seats, memory) = match &near {
        None => (placed(&order, usable), options.memory.unwrap_or_default()),
        Some(near) => {
            let mut order = near.order(order)?;
            let locals = near.locals(&order);
            // A list may have none of them, and is then taken as it is.
            if let (Order::Strands(strands), None, 1..) = (&mut order, options.threads, locals) {
                strands.truncate(locals);
            }
            let on_node = near.memory.map_or(MemoryPolicy::Local, MemoryPolicy::Node);
            (placed(&order, if locals > 0 { locals } else { usable }), options.memory.unwrap_or(on_node))
        }
    };
    near.iter().filter_map(|near| spilled(near, &seats.seats)).for_each(|text| note(&text));
    let homes = memory_homes(memory, &machine, &seats.seats)
        .map_err(|reason| Error::bad_input(format!("--memory {memory}: {reason}")))?;
    if homes.windows(2).any(|two| two[0] != two[1]) {
        return Err(Error::bad_input(format!(
            "--memory {memory}: the seats are on several NUMA nodes, and a program has one policy for all its threads; take a mapping \
             within one node, interleave, or node:N"
        )));
    }
    Ok(Seats { nodes: homes.into_iter().next().unwrap_or_default(), ..seats })
}

fn not_started(launch: &Launch, error: charz_launch::Error) -> Error {
    let program = quote(&launch.program.to_string_lossy());
    match error {
        charz_launch::Error::NotFound => {
            let hint = if launch.program.to_string_lossy().contains('/') {
                "check the path"
            } else {
                "it is in no folder of PATH"
            };
            Error::ended(Exit::NotFound, format!("{program}: there is no such program; {hint}"))
        }
        charz_launch::Error::NoInterpreter => Error::ended(
            Exit::NotFound,
            format!(
                "{program}: the interpreter that it names is missing; see its first line, or what `file` says of it"
            ),
        ),
        charz_launch::Error::NotExecutable(error) => {
            Error::ended(Exit::NotExecutable, format!("{program} cannot be executed")).caused_by(error)
        }
        error => Error::environment(format!("{program} was not started: {error}")),
    }
}

/// Waits for the end of the program, and passes signals on to it.
fn watch(crew: &mut Crew, id: Id, relay: &Relay) -> io::Result<Ended> {
    let (mut ended, mut signals) = (None, Signals::default());
    loop {
        let event = crew.next(signals.next(), Some(relay.wake()))?;
        signals.arrive(relay);
        signals.pass_on(crew, id);
        match event {
            Event::Ended(_, end) => ended = Some(*end),
            Event::Idle => return ended.ok_or_else(|| io::ErrorKind::NotFound.into()),
            Event::Stopped(..) => signals.stop(crew, id),
            Event::Woken | Event::Output(..) | Event::Deadline => {}
        }
    }
}

/// Signals on their way to the program.
#[derive(Default)]
struct Signals {
    waiting: VecDeque<(Instant, Signal)>,
    asked_to_stop: Option<Instant>,
    /// When the program was last told to end.
    asked_to_end: Option<Instant>,
    /// The program has stopped, and was not told to go on since.
    stopped: bool,
}

impl Signals {
    fn arrive(&mut self, relay: &Relay) {
        let now = Instant::now();
        for Arrived { signal, to_group } in relay.take() {
            match signal {
                libc::SIGTSTP => self.asked_to_stop = Some(now),
                libc::SIGCONT => self.stopped = false,
                _ => {}
            }
            if !to_group {
                self.waiting.extend(Signal::from_named_raw(signal).map(|signal| (now + GROUP, signal)));
            }
        }
    }

    /// When the next of them is due.
    fn next(&self) -> Option<Instant> {
        self.waiting.front().map(|(due, _)| *due)
    }

    /// Sends the program those that are due and that it did not get itself.
    fn pass_on(&mut self, crew: &Crew, id: Id) {
        while let Some((due, signal)) = self.waiting.pop_front_if(|(due, _)| *due <= Instant::now()) {
            let delivered = crew.delivered(id, signal.as_raw());
            if delivered.is_none_or(|time| time + 2 * GROUP < due)
                && let Some(pid) = crew.pid(id).and_then(Pid::from_raw)
            {
                // One that has just ended needs none.
                let _ = kill_process(pid, signal);
                // What is to end a program that stands still ends it when it goes on, as timeout(1) knows.
                if [Signal::TERM, Signal::HUP].contains(&signal) {
                    self.asked_to_end = Some(Instant::now());
                    if self.stopped {
                        let _ = kill_process(pid, Signal::CONT);
                    }
                }
            }
        }
    }

    /// The program has stopped. A shell takes the terminal back when its own child stops, which is this process. Elsewhere this one
    /// does not stop unless it was asked to: who stops the program by its number may also let only the program go on.
    fn stop(&mut self, crew: &Crew, id: Id) {
        self.stopped = true;
        // It was told to end while it was about to stop.
        if self.asked_to_end.take().is_some_and(|time| time.elapsed() < TIDYING) {
            let _ = crew.pid(id).and_then(Pid::from_raw).map(|pid| kill_process(pid, Signal::CONT));
            return;
        }
        let asked = self.asked_to_stop.take().is_some_and(|time| time.elapsed() < TIDYING);
        if asked || has_terminal() {
            let _ = kill_process(getpid(), Signal::STOP);
        }
    }
}

/// Whether this is a shell's job in the foreground of its terminal.
fn has_terminal() -> bool {
    let terminal = fs::File::open("/dev/tty");
    terminal.is_ok_and(|terminal| tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp() && group == getpid()))
}

/// Ends this process as the program ended.
fn end_as(status: ExitStatus) -> ! {
    if let Some(signal) = status.signal() {
        // The first process of a namespace, as in a container, gets no signal that it does not catch, not even from itself.
        if getpid().is_init() {
            std::process::exit(BY_SIGNAL + signal)
        }
        // The program has written its core already, if it was to. A limit of 0 keeps no core from a program that collects them (core(5)).
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        let _ = emulate_default_handler(signal);
        std::process::exit(BY_SIGNAL + signal)
    }
    std::process::exit(status.code().unwrap_or(BY_SIGNAL))
}

type Stolen = HashMap<u32, Ticks>;

fn stolen() -> Stolen {
    Ticks::of_each(&stat::read(Path::new("/proc")).unwrap_or_default()).collect()
}

/// The share of the time of these CPUs, or of all where there are none, that the hypervisor took.
fn lost(before: &Stolen, after: &Stolen, seats: &[Option<u32>]) -> f64 {
    let seated = seats.iter().any(Option::is_some);
    let (mut all, mut stolen) = (0, 0);
    for (cpu, now) in after.iter().filter(|(cpu, _)| !seated || seats.contains(&Some(**cpu))) {
        if let Some(then) = before.get(cpu) {
            all += now.total().saturating_sub(then.total());
            stolen += now.steal.saturating_sub(then.steal);
        }
    }
    if all == 0 { 0.0 } else { stolen as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_that_of_the_seats() {
        let read = |text: &str| -> Stolen { Ticks::of_each(text).collect() };
        let before = read("cpu  9 9\ncpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 10 0 0 10 0 0 0 5 7 0\nintr 5\n");
        let after = read("cpu0 50 0 0 50 0 0 0 0 0 0\ncpu1 60 0 0 10 0 0 0 55 99 0\n");
        assert_eq!(lost(&before, &after, &[Some(1)]), 0.5);
        assert_eq!(lost(&before, &after, &[Some(0)]), 0.0);
        assert_eq!(lost(&before, &after, &[None]), 0.25);
        assert_eq!(lost(&after, &after, &[None]), 0.0);
    }
}
