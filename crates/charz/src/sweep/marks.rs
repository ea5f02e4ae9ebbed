//! What speaks against a number. The thresholds of all marks are in [`THRESHOLDS`].

use charz_kernels::{Kernel, Knob, PagePolicy, Params};

use crate::render::human;
use crate::report::{Cell, Lap, Mark, Pages, Passport};

/// Limits beyond which a number is marked; they are the methodology's.
struct Thresholds {
    /// V03: share of a lap's time that it may wait for its strand.
    run_delay: f64,
    /// V05: share of the strands' time that the hypervisor may steal.
    steal: f64,
    /// V05: the shortest time over which steal, counted in ticks of 10 ms, says anything.
    steal_window_ns: u64,
    /// V09: the shortest run that the clock and the gate resolve.
    run_ns: u64,
    /// V05: below that time, ticks of steal from which on they are no accident.
    steal_ticks_ns: u64,
    /// V13: spread of the repetitions.
    spread: f64,
    /// V18: share of a run in which all workers must have been at work.
    overlap: f64,
    /// V20: share of the memory that must lie on pages of the kind asked for.
    pages: f64,
    /// V27: how many times the last-level cache a block must be; STREAM's rule.
    caches: u64,
}

/// First guesses where no source gives a figure; the methodology page lists them beside their evidence.
const THRESHOLDS: Thresholds = Thresholds {
    run_delay: 0.01,
    steal: 0.005,
    steal_window_ns: 1_000_000_000,
    steal_ticks_ns: 20_000_000,
    run_ns: 1_000_000,
    spread: 0.10,
    overlap: 0.95,
    pages: 0.95,
    caches: 4,
};

/// What a cell's numbers are judged by, besides themselves.
pub(super) struct Suspicion<'a> {
    pub(super) kernel: &'a dyn Kernel,
    pub(super) params: &'a Params,
    pub(super) strands: usize,
    pub(super) last_cache_bytes: Option<u64>,
}

impl Suspicion<'_> {
    /// Everything that speaks against the cell's numbers, by code.
    pub(super) fn marks(&self, cell: &Cell, passport: &Passport) -> Vec<Mark> {
        let crowded = cell.seats.len() > self.strands || stacked(&cell.seats);
        let knobs = self.kernel.card().knobs;
        let found = [
            ("V01", pin(cell, passport)),
            ("V02", migrated(cell, passport)),
            ("V03", if crowded || knobs.is_empty() { None } else { preempted(cell) }),
            ("V05", self.stolen(cell, passport)),
            ("V07", throttled(passport)),
            ("V09", if knobs.is_empty() { None } else { short(cell) }),
            ("V13", if knobs.is_empty() { None } else { spread(cell) }),
            ("V18", if crowded || knobs.is_empty() { None } else { apart(cell) }),
            ("V19", crowded.then(|| oversubscribed(cell, self.strands))),
            ("V20", if knobs.contains(&Knob::Pages) { pages(passport, self.params) } else { None }),
            ("V24", unoptimised()),
            ("V27", if knobs.contains(&Knob::Size) { self.cached() } else { None }),
        ];
        found.into_iter().filter_map(|(code, reason)| Some(Mark { code: code.into(), reason: reason? })).collect()
    }

    fn stolen(&self, cell: &Cell, passport: &Passport) -> Option<String> {
        let window: u64 = cell.runs.iter().map(|run| run.interval_ns).sum();
        let stolen = passport.steal_ns?;
        // What was there to be stolen: the time of the strands that the workers were on.
        let share = stolen as f64 / (window as f64 * cell.seats.len().min(self.strands) as f64);
        let counted = window >= THRESHOLDS.steal_window_ns || stolen >= THRESHOLDS.steal_ticks_ns;
        (counted && share > THRESHOLDS.steal)
            .then(|| format!("the hypervisor took {} of the workers' time", human::percent(share.min(1.0))))
    }

    fn cached(&self) -> Option<String> {
        let cache = self.last_cache_bytes?;
        (self.params.size.0 < THRESHOLDS.caches * cache).then(|| {
            format!(
                "a block of {} is less than {} times the last-level cache of {}",
                human::iec(self.params.size.0),
                THRESHOLDS.caches,
                human::iec(cache)
            )
        })
    }
}

fn stacked(seats: &[Option<u32>]) -> bool {
    let mut taken: Vec<_> = seats.iter().flatten().collect();
    let workers = taken.len();
    taken.sort_unstable();
    taken.dedup();
    taken.len() < workers
}

fn pin(cell: &Cell, passport: &Passport) -> Option<String> {
    let pinned = cell.seats.iter().any(Option::is_some);
    match passport.binding_honoured {
        Some(false) => Some("a worker was not on its seat: the binding was not honoured".into()),
        None if pinned => Some("the system does not tell whether the binding was honoured".into()),
        _ => None,
    }
}

fn migrated(cell: &Cell, passport: &Passport) -> Option<String> {
    let moves = passport.counts.migrations.filter(|&moves| moves > 0)?;
    cell.seats.iter().all(Option::is_some).then(|| format!("seated workers were moved {moves} times"))
}

fn preempted(cell: &Cell) -> Option<String> {
    let dirty = cell.runs.iter().filter(|run| run.laps.iter().any(waited)).count();
    (dirty > 0).then(|| format!("in {dirty} of {} repetitions a worker had to wait for its strand", cell.runs.len()))
}

/// An involuntary switch by itself says little: every lap of a good part of a second has some, of microseconds. The time
/// that it cost counts; only where the system does not tell that, the switch must do.
fn waited(lap: &Lap) -> bool {
    let time = lap.end_ns.saturating_sub(lap.start_ns) as f64;
    match lap.counts.run_delay_ns {
        Some(delay) => delay as f64 > THRESHOLDS.run_delay * time,
        None => lap.counts.involuntary_switches.is_some_and(|switches| switches > 0),
    }
}

fn throttled(passport: &Passport) -> Option<String> {
    let periods = passport.throttled_periods.filter(|&periods| periods > 0)?;
    Some(format!("the control group's processor quota stopped the process in {periods} periods"))
}

fn short(cell: &Cell) -> Option<String> {
    let shortest = cell.runs.iter().map(|run| run.interval_ns).min()?;
    (shortest < THRESHOLDS.run_ns).then(|| {
        format!(
            "the shortest repetition took {}, less than the {} that can be trusted",
            human::nanos(shortest as f64),
            human::nanos(THRESHOLDS.run_ns as f64)
        )
    })
}

fn spread(cell: &Cell) -> Option<String> {
    let spread = cell.summary?.spread?;
    (spread > THRESHOLDS.spread).then(|| format!("the repetitions differ by {}", human::percent(spread)))
}

/// From the last start to the first end all workers are at work; the rest of the interval is not a parallel run.
fn apart(cell: &Cell) -> Option<String> {
    let overlap = cell.runs.iter().map(|run| {
        let last_start = run.laps.iter().map(|lap| lap.start_ns).max().unwrap_or(0);
        let first_end = run.laps.iter().map(|lap| lap.end_ns).min().unwrap_or(0);
        first_end.saturating_sub(last_start) as f64 / run.interval_ns.max(1) as f64
    });
    let least = overlap.fold(1.0, f64::min);
    (least < THRESHOLDS.overlap).then(|| {
        format!("in one repetition all workers were at work together for only {} of the time", human::percent(least))
    })
}

fn oversubscribed(cell: &Cell, strands: usize) -> String {
    if cell.seats.len() > strands {
        format!(
            "{} workers, and {strands} can run at once: there are no more strands, or the CPU quota is used up",
            cell.seats.len()
        )
    } else {
        "workers share a strand although others are free".into()
    }
}

fn pages(passport: &Passport, params: &Params) -> Option<String> {
    let Some(pages) = passport.pages else {
        return Some(format!("asked for {} pages; the system does not tell what was given", params.pages));
    };
    let base = pages.base_page_bytes;
    if params.pages == PagePolicy::Small && base != PagePolicy::Small.bytes() as u64 {
        return Some(format!("asked for {} pages; this system's smallest have {}", params.pages, human::iec(base)));
    }
    let total = pages.base_bytes + pages.transparent_bytes + pages.huge_2m_bytes + pages.huge_1g_bytes;
    let share = of_kind(&pages, params.pages) as f64 / total as f64;
    (share < THRESHOLDS.pages)
        .then(|| format!("asked for {} pages; {} of the memory got them", params.pages, human::percent(share)))
}

fn of_kind(pages: &Pages, policy: PagePolicy) -> u64 {
    match policy {
        PagePolicy::Small => pages.base_bytes,
        PagePolicy::Transparent => pages.transparent_bytes,
        PagePolicy::Huge2M => pages.huge_2m_bytes,
        PagePolicy::Huge1G => pages.huge_1g_bytes,
    }
}

fn unoptimised() -> Option<String> {
    cfg!(debug_assertions).then(|| "measured by a build without optimisation".into())
}
