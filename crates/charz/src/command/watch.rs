//! `charz watch`: what every CPU did between two samples.

use charz_data::Arrange;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use charz_topology::{Machine, Source, Strand, discover};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

use crate::exit::{Error, Exit};
use crate::signals::Signals;
use crate::view::live::{Heard, Live};
use crate::view::look;
use crate::view::watch::{COLUMNS, FORMATS, Format, Row, SHARES, Thread, Told};
use charz_data::escape::counted;
use charz_data::units;
use charz_system::per_cpu::{Cpu, Sample, read};
use charz_system::stat::{TICK_NS, Ticks};
use charz_system::{Status, file, task::Stat};

pub struct Options {
    pub interval: Duration,
    /// `None` watches until a signal comes.
    pub count: Option<usize>,
    pub key: Option<&'static str>,
    pub groups: Option<Groups>,
    pub top: Option<usize>,
    /// A process.
    pub of: Option<u32>,
    pub format: &'static Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// So many of equal size.
    Equal(usize),
    Socket,
    NumaNode,
    /// The largest caches that CPUs share.
    Cache,
    Core,
}

/// What Solaris' mpstat has, and Linux does not count by CPU.
const NOT_COUNTED: [(&str, &str); 9] = [
    ("minf", "Linux counts page faults by process only"),
    ("mjf", "Linux counts page faults by process only"),
    ("icsw", "Linux counts involuntary switches by thread only"),
    ("migr", "Linux counts migrations by thread only"),
    ("ithr", "Linux has no interrupt threads of its own"),
    ("clock", "asking every CPU for its clock takes longer than the sample"),
    ("smtx", "Linux counts waits for locks only where it is built to"),
    ("srw", "Linux counts waits for locks only where it is built to"),
    ("syscl", "Linux counts no system calls"),
];

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let refused = |error| Error::environment("the system refused the signal handlers").caused_by(error);
    let signals = Signals::catch().map_err(refused)?;
    let machine = discover(&Source::ThisMachine)?;
    let is_read = FORMATS.iter().take(2).any(|format| format.name == options.format.name);
    let live = if options.count.is_none() && is_read { Live::begin().map_err(cannot_draw)? } else { None };
    let mut last = None;
    let ended = watched(options, &signals, &machine, live.as_ref(), &mut last, out);
    if live.is_some() {
        drop(live);
        // What was on the screen stays for its reader.
        last.map_or(Ok(()), |told| (options.format.write)(&told, 0, &machine, out))?;
        out.flush()?;
    }
    if let (Ok(None), Some(pid)) = (&ended, options.of) {
        look::say(&format!("charz: process {pid} has ended"));
    }
    ended.map(|exit| exit.unwrap_or(Exit::Done))
}

fn cannot_draw(error: io::Error) -> Error {
    Error::environment("the terminal cannot be drawn on; charz watch 1 1000000 prints samples below each other")
        .caused_by(error)
}

/// Takes samples until their count, a signal or `q`; `None` where the process that is watched has ended.
fn watched(
    options: &Options,
    signals: &Signals,
    machine: &Machine,
    live: Option<&Live>,
    last: &mut Option<Told>,
    out: &mut dyn Write,
) -> Result<Option<Exit>, Error> {
    let proc = Path::new("/proc");
    let cannot = |error: charz_system::Error| Error::environment("cannot watch CPUs").caused_by(error);
    let mut begun = Instant::now();
    let (mut before, mut process) = (Sample::default(), Process::default());
    match options.of {
        Some(pid) => process = Process::read(pid)?,
        None => {
            before = read(proc).map_err(cannot)?;
            check(options, &before)?;
        }
    }
    let draw = |live: &Live, told: Option<&Told>| {
        let mut text = Vec::new();
        told.map_or(Ok(()), |told| (options.format.write)(told, 0, machine, &mut text))?;
        live.draw(&String::from_utf8_lossy(&text), &format!("every {}", units::duration(options.interval)))
    };
    live.map_or(Ok(()), |live| draw(live, None)).map_err(cannot_draw)?;
    let mut next = begun + options.interval;
    for at in 0.. {
        if options.count.is_some_and(|count| at >= count) {
            break;
        }
        while let Some(woken) = sleep_until(next, signals, live) {
            match (woken, live) {
                (Woken::Ended(exit), _) => return Ok(Some(exit)),
                (Woken::Resized, live) => live.map_or(Ok(()), |live| draw(live, last.as_ref())).map_err(cannot_draw)?,
            }
        }
        let (now, cpu_time) = (Instant::now(), cpu_time());
        // Samples that were missed, as by a process that was stopped, are not made up for.
        while next <= now {
            next += options.interval;
        }
        let t = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
        let interval_s = now.duration_since(begun).as_secs_f64();
        let told = match options.of {
            Some(pid) => {
                let later = match Process::read(pid) {
                    Err(_) if at > 0 => return Ok(None),
                    later => later?,
                };
                let (rows, ended) = later.since(&process, interval_s, options.top);
                process = later;
                Told { t, interval_s, threads: Some(rows), ended, ..Told::default() }
            }
            None => {
                let sample = read(proc).map_err(cannot)?;
                let told = of_cpus(options, machine, [&before, &sample], t, interval_s);
                before = sample;
                told
            }
        };
        begun = now;
        let told = Told { cost_ns: self::cpu_time().saturating_sub(cpu_time).as_nanos() as u64, ..told };
        match live {
            Some(live) => {
                draw(live, Some(&told)).map_err(cannot_draw)?;
                *last = Some(told);
            }
            None => {
                (options.format.write)(&told, at, machine, out)?;
                out.flush()?;
            }
        }
    }
    Ok(Some(Exit::Done))
}

/// The time that this thread was on a CPU.
fn cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

/// Refuses what this machine does not have.
fn check(options: &Options, sample: &Sample) -> Result<(), Error> {
    let count = sample.cpus.len();
    if let Some(Groups::Equal(groups)) = options.groups
        && groups > count
    {
        return Err(Error::bad_input(format!(
            "--groups: {groups} is more than the {} here; example: --groups {count}",
            counted(count, "CPU")
        )));
    }
    // Since the system started.
    let rows = sample.cpus.iter().map(|(id, cpu)| row(*id, &Cpu { ticks: Ticks::default(), ..cpu.clone() }, cpu, 1.0));
    let rows: Vec<Row> = rows.collect();
    let is_here = |column: &str| rows.iter().any(|row| row.value(column).is_some());
    let Some(key) = options.key.filter(|key| !is_here(key)) else { return Ok(()) };
    let missing = missing(sample);
    let reason = missing.iter().find(|(column, _)| column == key).map_or("this kernel does not count it", |it| &it.1);
    let here: Vec<&str> = COLUMNS.iter().copied().filter(|column| is_here(column)).collect();
    Err(Error::bad_input(format!("--key: {key} is not available here ({reason}); choose from {}", here.join(", "))))
}

enum Woken {
    Ended(Exit),
    Resized,
}

/// Waits, or returns what came before the moment did: a signal, `q`, another size of the screen.
fn sleep_until(moment: Instant, signals: &Signals, live: Option<&Live>) -> Option<Woken> {
    loop {
        if let Some((exit, _)) = signals.received() {
            return Some(Woken::Ended(exit));
        }
        match live.map(Live::heard) {
            Some(Heard::Quit) => return Some(Woken::Ended(Exit::Done)),
            Some(Heard::Resized) => return Some(Woken::Resized),
            Some(Heard::Nothing) | None => {}
        }
        let left = moment.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        let mut ends = vec![PollFd::from_borrowed_fd(signals.wake(), PollFlags::IN)];
        ends.extend(live.iter().flat_map(|live| live.ends()));
        // Interrupted, it looks again.
        let _ = poll(&mut ends, Timespec::try_from(left).ok().as_ref());
    }
}

fn of_cpus(options: &Options, machine: &Machine, [before, after]: [&Sample; 2], t: f64, interval_s: f64) -> Told {
    let both = after.cpus.iter().filter_map(|(id, cpu)| Some((*id, before.cpus.get(id)?, cpu)));
    let mut by_id: BTreeMap<u32, Row> =
        both.map(|(id, before, after)| (id, row(id, before, after, interval_s))).collect();
    let changed: Vec<u32> =
        before.cpus.keys().chain(after.cpus.keys()).copied().filter(|id| !by_id.contains_key(id)).collect();
    // The machine's own order, and then what it does not know.
    let mut rows: Vec<Row> = machine.strands.iter().filter_map(|strand| by_id.remove(&strand.os_id)).collect();
    rows.extend(by_id.into_values());
    let busy = Row::mean(String::new(), &rows).busy();
    let rows = grouped(rows, options.groups, options.key, machine);
    let rows = rows.into_iter().take(options.top.unwrap_or(usize::MAX)).collect();
    let (softirqs, missing) = (after.softirqs.clone(), missing(after));
    Told { t, interval_s, rows, busy, softirqs, missing, changed, ..Told::default() }
}

/// Sorted by a column; of groups, which take the place of the CPUs, the means.
fn grouped(rows: Vec<Row>, groups: Option<Groups>, key: Option<&str>, machine: &Machine) -> Vec<Row> {
    match groups {
        None => sorted(rows, key),
        Some(Groups::Equal(count)) => {
            let rows = sorted(rows, key);
            let count = count.min(rows.len()).max(1);
            let group = |at: usize| &rows[at * rows.len() / count..(at + 1) * rows.len() / count];
            (0..count).map(|at| Row::mean(format!("{}/{count}", at + 1), group(at))).collect()
        }
        Some(level) => {
            let strands: HashMap<u32, &Strand> = machine.strands.iter().map(|strand| (strand.os_id, strand)).collect();
            let mut parts: BTreeMap<(usize, String), Vec<Row>> = BTreeMap::new();
            for row in rows {
                parts.entry(part(machine, level, strands.get(&row.cpu).copied())).or_default().push(row);
            }
            sorted(parts.into_iter().map(|((_, name), rows)| Row::mean(name, &rows)).collect(), key)
        }
    }
}

fn missing(sample: &Sample) -> Vec<(String, String)> {
    let mut missing = NOT_COUNTED.map(|(column, reason)| (column.to_owned(), reason.to_owned())).to_vec();
    for (column, reason) in &sample.missing {
        let columns: &[&str] = match *column {
            "intr" => &["intr", "xcal", "res", "cal", "tlb"],
            "csw" => &["csw", "rundelay"],
            _ => &["softirqs"],
        };
        missing.extend(columns.iter().map(|column| ((*column).to_owned(), reason.clone())));
    }
    missing
}

fn row(id: u32, before: &Cpu, after: &Cpu, interval_s: f64) -> Row {
    // A count that stepped back, as of a CPU that went and came back, has not grown.
    let [earlier, later] = [before.ticks, after.ticks].map(|ticks| {
        let Ticks { user, nice, system, idle, iowait, irq, softirq, steal } = ticks;
        [user + nice, system, irq, softirq, iowait, steal, idle]
    });
    let parts: [f64; SHARES] = std::array::from_fn(|at| later[at].saturating_sub(earlier[at]) as f64);
    let all: f64 = parts.iter().sum();
    // Without a tick nothing is known.
    let shares = (all > 0.0).then(|| parts.map(|part| part / all * 100.0));
    let rate = |before: u64, after: u64| after.saturating_sub(before) as f64 / interval_s;
    // A sum of counters of 32 bits, of which any may have begun anew; one that has gone takes its count along.
    let rate_32 = |before: u64, after: u64| {
        let anew = after.wrapping_sub(before) as u32;
        let anew = if anew > u32::MAX / 2 { 0 } else { anew.into() };
        after.checked_sub(before).unwrap_or(anew) as f64 / interval_s
    };
    let calls = before.calls.zip(after.calls).map(|(before, after)| [0, 1, 2].map(|at| rate_32(before[at], after[at])));
    let waits = before.waits.zip(after.waits);
    Row {
        cpu: id,
        name: id.to_string(),
        shares,
        intr: before.interrupts.zip(after.interrupts).map(|(before, after)| rate_32(before, after)),
        calls,
        csw: waits.map(|(before, after)| rate(before[1], after[1])),
        rundelay: waits.map(|(before, after)| rate(before[0], after[0]) / 1e9 * 100.0),
        softirqs: before.softirqs.iter().zip(&after.softirqs).map(|(before, after)| rate_32(*before, *after)).collect(),
    }
}

fn sorted(mut rows: Vec<Row>, key: Option<&str>) -> Vec<Row> {
    if let Some(key) = key {
        rows.arrange_by(|one, other| other.value(key).unwrap_or(-1.0).total_cmp(&one.value(key).unwrap_or(-1.0)));
    }
    rows
}

/// The part of the machine that a CPU lies in, by its place and its name.
fn part(machine: &Machine, level: Groups, strand: Option<&Strand>) -> (usize, String) {
    let unknown = (usize::MAX, "elsewhere".to_owned());
    let Some(strand) = strand else { return unknown };
    let named = |index: Option<u32>, what: &str| index.map(|index| (index as usize, format!("{what} {index}")));
    let found = match level {
        Groups::Socket => named(strand.package, "socket"),
        Groups::NumaNode => named(strand.numa.map(|node| machine.node_id(node)), "node"),
        Groups::Cache => strand.caches.last().and_then(|at| {
            let cache = machine.caches.get(*at as usize)?;
            Some((*at as usize, format!("l{} {}", cache.level, cache.index)))
        }),
        Groups::Core => named(strand.core, "core"),
        Groups::Equal(_) => None,
    };
    found.unwrap_or(unknown)
}

/// A process, when it was read.
#[derive(Default)]
struct Process {
    /// Its ticks, those of threads that have ended among them.
    ticks: u64,
    /// Of each thread by its id: its ticks, and what is shown of it.
    threads: BTreeMap<u32, (u64, Thread)>,
}

impl Process {
    fn read(pid: u32) -> Result<Self, Error> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let gone = |why: &str| Error::bad_input(format!("--of: there is no process {pid}, or it has ended: {why}"));
        let tasks = fs::read_dir(folder.join("task")).map_err(|error| gone(&error.to_string()))?;
        let mut threads = BTreeMap::new();
        for task in tasks.flatten() {
            let path = task.path();
            // It may have ended since.
            let (Some(stat), Some(status)) = (file::text(path.join("stat")), file::text(path.join("status"))) else {
                continue;
            };
            let Some(tid) = task.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let (stat, status) = (Stat::new(&stat), Status::new(&status));
            if stat.has_ended() {
                continue;
            }
            let thread = Thread {
                tid,
                name: stat.name.to_owned(),
                cpu: stat.cpu(),
                allowed: status.cpus().unwrap_or_default(),
                busy: 0.0,
            };
            threads.insert(tid, (stat.ticks().unwrap_or(0), thread));
        }
        if threads.is_empty() {
            return Err(gone("no thread of it runs"));
        }
        let stat = file::text(folder.join("stat")).unwrap_or_default();
        Ok(Process { ticks: Stat::new(&stat).ticks().unwrap_or(0), threads })
    }

    /// The threads, with how busy they were since an earlier reading, and how busy those were that have ended since: each in percent of a CPU.
    fn since(&self, earlier: &Self, interval_s: f64, top: Option<usize>) -> (Vec<Thread>, f64) {
        let percent = |ticks: u64| ticks as f64 * TICK_NS as f64 / 1e9 / interval_s * 100.0;
        let since = |(tid, (ticks, _)): (&u32, &(u64, Thread))| {
            ticks.saturating_sub(earlier.threads.get(tid).map_or(0, |(before, _)| *before))
        };
        let ended = self.ticks.saturating_sub(earlier.ticks).saturating_sub(self.threads.iter().map(since).sum());
        // The kernel rounds each time down to a tick.
        let ended = if ended > self.threads.len() as u64 { percent(ended) } else { 0.0 };
        let busy = |one: (&u32, &(u64, Thread))| Thread { busy: percent(since(one)), ..one.1.1.clone() };
        let mut threads: Vec<Thread> = self.threads.iter().map(busy).collect();
        if let Some(top) = top {
            threads.arrange_by(|one, other| other.busy.total_cmp(&one.busy));
            threads.truncate(top);
        }
        (threads, ended)
    }
}

#[cfg(test)]
mod tests;
