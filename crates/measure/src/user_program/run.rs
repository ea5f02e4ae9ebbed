//! One cell of a program: each repetition starts it, or its copies, with its threads on their seats, and makes laps of what they did.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::slice;
use std::time::{Duration, Instant};

use charz_data::program::BINDING;
use charz_data::report::{Ending, Evidence, Invocation, Lap, Run};
use charz_data::{Better, Program, ProgramValue, units};
use charz_kernels::Stop;
use charz_launch::{Crew, Ended, Error, Event, Follow, Id, Launch, Streams, own_allowed, runtimes};
use charz_system::OomKills;
use rustix::time::{ClockId, clock_gettime};

use super::laps::laps;
use super::output::Output;
use super::printed::Printed;
use super::value::{LEFT_RUNNING, Readers, measurable};
use super::words::{Given, Words};
use crate::harness::counters::{MachineCounts, Usage};
use crate::harness::fingerprint::Fingerprint;
use crate::harness::seen::Seen;
use crate::harness::{Failure, LEAST_DEADLINE, LEAST_REPETITIONS};

/// What is to be run, and how often.
pub(crate) struct Order<'a> {
    pub(crate) program: &'a Program,
    /// One seat a worker; `None` floats.
    pub(crate) seats: &'a [Option<u32>],
    /// The NUMA nodes of each worker's memory, or of all; none if the first touch decides.
    pub(crate) homes: &'a [Vec<u32>],
    pub(crate) mapping: &'a str,
    pub(crate) repetitions: usize,
    /// The longest that a run may take.
    pub(crate) time_box: Duration,
    /// After so long no other repetition begins, if there are two.
    pub(crate) enough: Duration,
    /// Whether nothing follows a program that does not say how it is to be followed.
    pub(crate) untraced: bool,
}

impl Order<'_> {
    /// How the program's threads are found. Where there is nothing to seat, nothing is looked for.
    fn follow(&self) -> Follow {
        let usual = if self.untraced { Follow::None } else { Follow::Ptrace };
        let floats = self.seats.iter().all(Option::is_none);
        if floats { Follow::None } else { self.program.follow.unwrap_or(usual) }
    }
}

/// What all repetitions of an invocation have in common.
pub(super) struct Site<'a> {
    pub(super) order: &'a Order<'a>,
    pub(super) readers: &'a Readers,
    pub(super) stop: &'a Stop,
    /// Readable when the flag is raised.
    pub(super) wake: BorrowedFd<'a>,
    words: Words,
    pub(super) setup: Option<Words>,
    /// The CPUs that this process may use.
    usable: Vec<u32>,
    kills: OomKills,
}

/// Runs a program as often as its order says. `protocol` is for one that measures itself.
pub(super) fn measure(
    order: &Order<'_>,
    stop: &Stop,
    wake: BorrowedFd<'_>,
    protocol: fn(&Site<'_>) -> Result<Measured, Failure>,
) -> Result<Invocation, Failure> {
    let program = order.program;
    let unusable = |why: String| Failure::new(Ending::Unavailable, why);
    let split = |text: &str| Words::split(text).map_err(|why| unusable(format!("{text:?}: {why}")));
    let readers = Readers::of(program, order.seats.len()).map_err(unusable)?;
    let site = Site {
        order,
        readers: &readers,
        stop,
        wake,
        words: split(&program.command)?,
        setup: program.setup.as_deref().map(split).transpose()?,
        usable: own_allowed(),
        kills: OomKills::read(),
    };
    let (before, begun) = (Fingerprint::read(order.seats), Usage::read());
    let seen = Seen::begin(order.seats);
    let mut measured = match program.value {
        ProgramValue::Protocol => protocol(&site)?,
        _ => site.repetitions()?,
    };
    let busy = Usage::read().zip(begun).map(|(now, begun)| now.since(begun));
    measured.evidence.busy = busy.map(|mut busy| {
        // Processes that outlived their program have another to wait for them.
        busy.own_ns = busy.own_ns.max(measured.cpu_ns);
        busy
    });
    measured.evidence.seen = seen.since();
    measured.evidence.changes = before.changes(&Fingerprint::read(order.seats));
    let stopped = measured.runs.len() < order.repetitions && stop.raised();
    if stopped && measured.runs.is_empty() {
        return Err(Failure::stopped());
    }
    Ok(Invocation {
        ending: if stopped { Ending::Stopped } else { Ending::Done },
        reason: stopped.then(|| format!("stopped after {} whole repetitions", measured.runs.len())),
        evidence: Some(measured.evidence),
        runs: measured.runs,
        ..Invocation::without_runs(Ending::Done, "")
    })
}

/// A program that prints no more than this does not wait for its reader for long.
const MUCH: u64 = 1 << 20;

/// What the repetitions gave.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) runs: Vec<Run>,
    pub(super) evidence: Evidence,
    /// Processor time of the programs.
    pub(super) cpu_ns: u64,
}

impl Measured {
    /// Takes note of the programs of a repetition, which were asked for so many threads.
    pub(super) fn see<'a>(&mut self, asked: usize, copies: impl Iterator<Item = &'a Ended> + Clone) {
        let seen = self.evidence.program.get_or_insert_default();
        seen.working = seen.working.max(Ended::working(copies.clone()));
        let used: Option<f64> = copies.clone().map(Ended::used_cpus).sum();
        let missed: Option<f64> = copies.clone().map(Ended::missed_cpus).sum();
        // What was used beyond what was asked for was wanted, also where nothing says what was missed.
        let wanted = used.zip(missed).map(|(used, missed)| used + missed).or(used.filter(|used| *used > asked as f64));
        seen.wanted_cpus = wanted.map(|wanted| wanted.max(seen.wanted_cpus.unwrap_or(0.0))).or(seen.wanted_cpus);
        seen.threads = seen.threads.max(copies.clone().map(|ended| ended.appeared as u64).sum());
        let prints = copies.clone().filter(|ended| ended.printed >= MUCH);
        if let Some(wait) = prints.filter_map(Ended::write_wait).max() {
            seen.write_wait_ns = Some(seen.write_wait_ns.unwrap_or(0).saturating_add(nanos(wait)));
        }
        for ended in copies {
            self.cpu_ns = self.cpu_ns.saturating_add(ended.counts.cpu_ns.unwrap_or(0));
            seen.followed = ended.following.by.name().to_owned();
            if ended.following.by != Follow::None {
                seen.stops = Some(seen.stops.unwrap_or(0).saturating_add(ended.stops));
            }
            seen.left = seen.left.saturating_add(ended.left.len() as u64);
        }
    }
}

/// What the program, or one of its copies, is given.
struct Share<'a> {
    /// The number of a copy.
    rank: Option<usize>,
    seats: &'a [Option<u32>],
    /// The NUMA nodes of its memory.
    nodes: Vec<u32>,
}

/// A run of the program, or of one of its copies.
pub(super) struct Replica<'a> {
    pub(super) id: Id,
    pub(super) output: Output<'a>,
    pub(super) ended: Option<Ended>,
    /// The exit codes that are no failure besides 0, as [`Program::ignored_failures`] has them.
    pub(super) ignored: Option<&'a [u8]>,
}

impl Replica<'_> {
    fn is_good(&self, status: ExitStatus) -> bool {
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        let ignored = |code: u8| self.ignored.is_some_and(|codes| codes.is_empty() || codes.contains(&code));
        status.success() || code.is_some_and(ignored)
    }
}

impl<'a> Site<'a> {
    fn repetitions(&self) -> Result<Measured, Failure> {
        let seats = self.seats_to_watch();
        let mut measured = Measured::default();
        let since = Instant::now();
        for round in 0..self.order.repetitions {
            let enough = round >= LEAST_REPETITIONS && since.elapsed() >= self.order.enough;
            if enough || self.stop.raised() {
                break;
            }
            let _serving = self.set_up()?;
            let until = Instant::now() + self.order.time_box;
            let mut crew = self.crew()?;
            let before = MachineCounts::read(&seats);
            let mut copies = self.start(&mut crew, Streams::Captured)?;
            self.end(&mut crew, &mut copies, until)?;
            let machine = MachineCounts::read(&seats).since(before);
            measured.see(self.order.seats.len(), copies.iter().filter_map(|copy| copy.ended.as_ref()));
            measured.runs.push(self.run(&copies, machine)?);
        }
        Ok(measured)
    }

    /// The seats whose steal counts; none where a worker may be anywhere.
    pub(super) fn seats_to_watch(&self) -> Vec<u32> {
        let seats: Option<BTreeSet<u32>> = self.order.seats.iter().copied().collect();
        seats.into_iter().flatten().collect()
    }

    pub(super) fn crew(&self) -> Result<Crew, Failure> {
        Crew::new(self.order.follow()).map_err(|error| Failure::new(Ending::Refused, error.to_string()))
    }

    /// The seats of each program: those of all workers, or of one for each copy.
    fn shares(&self) -> Vec<Share<'a>> {
        let (seats, homes) = (self.order.seats, self.order.homes);
        if !self.order.program.in_copies() {
            let nodes: BTreeSet<u32> = homes.iter().flatten().copied().collect();
            return vec![Share { rank: None, seats, nodes: nodes.into_iter().collect() }];
        }
        let home = |rank: usize| homes.get(rank).or_else(|| homes.first()).cloned().unwrap_or_default();
        let copy = |(rank, seat)| Share { rank: Some(rank), seats: slice::from_ref(seat), nodes: home(rank) };
        seats.iter().enumerate().map(copy).collect()
    }

    /// Starts the program, or its copies, which begin together when the crew is waited for.
    pub(super) fn start(&self, crew: &mut Crew, streams: Streams) -> Result<Vec<Replica<'a>>, Failure> {
        let start = |Share { rank, seats, nodes }: Share<'_>| {
            // The user may follow nothing since ptrace would be in the way.
            let together = self.order.program.follow != Some(Follow::None);
            let launch = Launch { nodes, streams, together, ..self.launch(&self.words, seats, rank) };
            let id = crew.start(&launch).map_err(|error| refused(&launch, &error))?;
            let ignored = self.order.program.ignored_failures.as_deref();
            Ok(Replica { id, output: Output::new(self.readers), ended: None, ignored })
        };
        self.shares().into_iter().map(start).collect()
    }

    fn launch(&self, words: &Words, seats: &[Option<u32>], rank: Option<usize>) -> Launch {
        // Those of the user's shell would put threads elsewhere.
        let unset = BINDING.map(|name| (name.into(), None)).into_iter().chain(plain_numbers());
        let usual = runtimes::variables(seats, self.order.follow())
            .into_iter()
            .map(|(name, value)| (name.into(), Some(value.into())));
        let variables = unset.chain(usual).collect();
        Launch { seats: seats.to_vec(), ..self.unseated(words, seats, rank, variables) }
    }

    /// A launch that may run anywhere, with the names in braces for these seats.
    pub(super) fn unseated(
        &self,
        words: &Words,
        seats: &[Option<u32>],
        rank: Option<usize>,
        variables: Vec<(OsString, Option<OsString>)>,
    ) -> Launch {
        let cpus: Option<Vec<u32>> = seats.iter().copied().collect();
        let cpus = cpus.filter(|cpus| !cpus.is_empty()).unwrap_or_else(|| self.usable.clone());
        let threads = self.order.seats.len();
        let given = Given { threads, cpus: &cpus, mapping: self.order.mapping, rank };
        let output = self.order.program.output.as_deref().map(|file| given.fill(file).into());
        let words = words.fill(given);
        let own = words.environment.into_iter().map(|(name, value)| (name.into(), Some(value.into())));
        Launch {
            program: words.program.into(),
            arguments: words.arguments.into_iter().map(Into::into).collect(),
            environment: variables.into_iter().chain(own).collect(),
            output,
            ..Launch::default()
        }
    }

    /// Waits for the ends of all copies, each of which must be a good one.
    pub(super) fn end(&self, crew: &mut Crew, copies: &mut [Replica<'_>], until: Instant) -> Result<(), Failure> {
        self.wait(crew, copies, until, "the program")?;
        copies.iter().try_for_each(|copy| {
            let wrong = |why| Failure::new(Ending::Wrong, format!("the program's result is wrong: {why}"));
            copy.output.verified().map_err(wrong)
        })
    }

    pub(super) fn wait(
        &self,
        crew: &mut Crew,
        copies: &mut [Replica<'_>],
        until: Instant,
        what: &str,
    ) -> Result<(), Failure> {
        while copies.iter().any(|copy| copy.ended.is_none()) {
            self.step(crew, copies, until, what)?;
        }
        Ok(())
    }

    /// Waits for the next event.
    pub(super) fn step(
        &self,
        crew: &mut Crew,
        copies: &mut [Replica<'_>],
        until: Instant,
        what: &str,
    ) -> Result<(), Failure> {
        let lost = |error: std::io::Error| Failure::new(Ending::Refused, format!("{what} cannot be followed: {error}"));
        match crew.next(Some(until), Some(self.wake)).map_err(lost)? {
            Event::Output(id, stream, bytes) => {
                copies.iter_mut().filter(|copy| copy.id == id).for_each(|copy| copy.output.push(stream, &bytes));
            }
            Event::Ended(id, ended) => {
                let Some(copy) = copies.iter_mut().find(|copy| copy.id == id) else { return Ok(()) };
                copy.output.end();
                if !copy.is_good(ended.status) {
                    return Err(Failure::new(Ending::Died, self.death(what, ended.status, &copy.output)));
                }
                if self.readers.are_of_time() && !ended.left.is_empty() {
                    return Err(Failure::new(Ending::Died, format!("{what} {LEFT_RUNNING}")));
                }
                copy.ended = Some(*ended);
            }
            Event::Deadline => return Err(self.too_long(&format!("{what} did not end"))),
            Event::Woken if self.stop.raised() => return Err(Failure::stopped()),
            // It would wait for the terminal until its time is over.
            Event::Stopped(_, libc::SIGTTIN | libc::SIGTTOU) => {
                let why = "asks for the terminal, which a measured program does not have; let it read a file";
                return Err(Failure::new(Ending::Died, format!("{what} {why}")));
            }
            Event::Stopped(..) | Event::Woken => {}
            Event::Idle => return Err(Failure::new(Ending::Died, format!("{what} was lost sight of"))),
        }
        Ok(())
    }

    pub(super) fn too_long(&self, what: &str) -> Failure {
        let limit = limit(self.order.time_box, self.order.program.timeout_ns.is_some());
        Failure::new(Ending::TimedOut, format!("{what} in {limit}"))
    }

    /// How a program ended that failed, with what it said last.
    fn death(&self, what: &str, status: ExitStatus, output: &Output<'_>) -> String {
        let said = output.said().map(|line| format!(": {line}")).unwrap_or_default();
        match status.signal() {
            Some(libc::SIGKILL) if self.kills.grew() => {
                format!("oom: the memory killer ended {what}; let it use less memory, or allow more")
            }
            Some(signal) => format!("signal {signal} ended {what}{said}"),
            None => format!("{what} ended with exit code {}{said}", status.code().unwrap_or(-1)),
        }
    }

    fn run(&self, copies: &[Replica<'_>], machine: MachineCounts) -> Result<Run, Failure> {
        let clock = Origin::now();
        let ended: Vec<&Ended> = copies.iter().filter_map(|copy| copy.ended.as_ref()).collect();
        // Work that it leaves behind for a moment is its own.
        let spans: Vec<[u64; 2]> =
            ended.iter().map(|ended| [clock.nanos(ended.start), clock.nanos(ended.last)]).collect();
        let values = copies.iter().zip(&spans).map(|(copy, [start, end])| {
            copy.output.value(end.saturating_sub(*start) as f64 / 1e9).map_err(|why| Failure::new(Ending::Died, why))
        });
        let printed = values.collect::<Result<Vec<Printed>, Failure>>()?;
        let values: Vec<f64> = printed.iter().map(|printed| printed.value).collect();
        let laps = laps(self.order.seats, self.order.program.in_copies(), &ended, &spans);
        let reported = measurable(together(&values, self.order.program.unit.better));
        let reported = reported.map_err(|why| Failure::new(Ending::Died, why))?;
        let printed_unit = printed.into_iter().find_map(|printed| printed.unit);
        Ok(Run { printed_unit, ..run(laps, machine, reported) })
    }
}

/// Variables by which a program prints numbers as C does. `LC_ALL` stands above them all, so what it says is said of the others one by one.
fn plain_numbers() -> impl Iterator<Item = (OsString, Option<OsString>)> {
    const OTHERS: [&str; 5] = ["LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_MONETARY", "LC_TIME"];
    let all = std::env::var_os("LC_ALL").filter(|all| !all.is_empty());
    let others = all.clone().into_iter().flat_map(|all| OTHERS.map(|name| (name.into(), Some(all.clone()))));
    let unset = all.map(|_| ("LC_ALL".into(), None));
    others.chain(unset).chain([("LC_NUMERIC".into(), Some("C".into()))])
}

/// The longest that a run may take, and why.
fn limit(time_box: Duration, asked: bool) -> String {
    let (time, least) = (units::duration(time_box), units::duration(LEAST_DEADLINE));
    match asked {
        true => format!("the {time} of --run-timeout"),
        false => format!(
            "{time}: {least} and ten times the predicted time, or what the budget leaves; --run-timeout sets another limit"
        ),
    }
}

/// The number of copies together: rates add up, and of times the longest counts.
pub(super) fn together(values: &[f64], better: Better) -> f64 {
    match better {
        Better::Higher => values.iter().sum(),
        Better::Lower => values.iter().copied().fold(0.0, f64::max),
    }
}

pub(super) fn run(laps: Vec<Lap>, machine: MachineCounts, reported: f64) -> Run {
    let starts = laps.iter().map(|lap| lap.start_ns);
    let (first, last) = (starts.clone().min().unwrap_or(0), starts.max().unwrap_or(0));
    let end = laps.iter().map(|lap| lap.end_ns).max().unwrap_or(0);
    Run {
        interval_ns: end - first,
        start_skew_ns: last - first,
        steal_ns: machine.steal_ns,
        throttled_periods: machine.throttled_periods,
        pressure_ns: machine.pressure_ns,
        energy_uj: machine.energy_of(end - first),
        laps: Lap::grouped(laps),
        reported: Some(reported),
        printed_unit: None,
        ..Run::default()
    }
}

/// From [`Instant`], which has no number, to `CLOCK_MONOTONIC`, which is behind it.
pub(super) struct Origin {
    instant: Instant,
    nanos: u64,
}

impl Origin {
    pub(super) fn now() -> Self {
        let time = clock_gettime(ClockId::Monotonic);
        let since = Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32);
        Origin { instant: Instant::now(), nanos: nanos(since) }
    }

    pub(super) fn nanos(&self, instant: Instant) -> u64 {
        self.nanos.saturating_sub(nanos(self.instant.saturating_duration_since(instant)))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn refused(launch: &Launch, error: &Error) -> Failure {
    let what = launch.program.to_string_lossy();
    let ending = match error {
        Error::NotFound | Error::NoInterpreter | Error::NotExecutable(_) | Error::Output(..) => Ending::Died,
        _ => Ending::Refused,
    };
    Failure::new(ending, format!("{what:?} was not started: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_explained_by_all_that_it_is_made_of() {
        let least = units::duration(LEAST_DEADLINE);
        assert!(limit(LEAST_DEADLINE + Duration::from_millis(200), false).contains(&least));
        assert!(!limit(Duration::from_secs(9), true).contains(&least));
    }

    #[test]
    fn rates_of_copies_add_up_and_the_longest_time_counts() {
        assert_eq!(together(&[1.0, 2.0, 3.0], Better::Higher), 6.0);
        assert_eq!(together(&[1.0, 3.0, 2.0], Better::Lower), 3.0);
    }

    #[test]
    fn an_instant_has_its_number_on_the_monotonic_clock() {
        let before = Instant::now();
        let origin = Origin::now();
        let elapsed = Duration::from_nanos(origin.nanos - origin.nanos(before));
        assert!(elapsed <= before.elapsed());
        assert_eq!(origin.nanos(before + Duration::from_secs(3600)), origin.nanos, "what is to come is now");
    }
}
