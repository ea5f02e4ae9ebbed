//! Advice: the answer first.

mod line;
#[cfg(test)]
mod tests;
mod wire;

use charz_claims::advise::{Advice, Holds, Load, MoreThreads, NotAdvised, Remedy, Shared, Shortage, Strands, is_usual};
use charz_data::Role;
use charz_data::card::Numbers;
use charz_data::escape::counted;
use charz_data::report::{Cell, Interval, MemoryHome, Report};
use charz_data::units;
use charz_estimate::{NEARLY_ALL, Quantity, Relation, Strength, host_distance};
use charz_stats::LEAST_FOR_INTERVAL;

use crate::caveat;
use crate::estimate::cited;
use crate::verdict::joined;

pub use line::{launches, paste, program};
pub use wire::{Neighbour, Outcome, Wire, neighbour, outcome, wire};

/// Below this share of its CPUs a program is bound by something else.
const IDLE: f64 = 0.1;

/// What a report calls the last level, beyond all caches.
const MEMORY: &str = "memory";

/// `Compute-bound (arith-int): 2 threads, round-robin; unpinned threads lose 3.2% (2.1 to 4.4%).`
pub fn sentence(advice: &Advice<'_>) -> String {
    let title = title(advice);
    if let Some(shortage) = advice.shortage() {
        let is_beside = matches!(advice.shared, Some(Shared { holds: Holds::Beside, .. }));
        let report = Some(advice.report).filter(|_| !is_beside);
        return format!("{title}: {}.", lacking_runs(shortage, report));
    }
    if let Some(mark) = advice.occupied() {
        let reason = &mark.reason;
        return format!("{title}: nothing can be advised: {reason}; stop them, or wait for them with --wait-quiet.");
    }
    let cell = advice.best.cell;
    let (threads, doubt) = (counted(cell.workers as usize, "thread"), units::doubt(advice.doubtful));
    let is_open_below = advice.open.is_none() && advice.is_open_below();
    let bound = match advice.open {
        Some(_) => "at least ",
        None if is_open_below => "at most ",
        None => "",
    };
    let mut text = format!("{}: {bound}{threads}{doubt}, {}", title, mapping(advice));
    text += &by_delivered(advice);
    if let Some(auto) = &advice.auto {
        match auto.strength() {
            Strength::Shown(share) if share > 0.0 => {
                let by = if auto.estimate.quantity == Quantity::Capacity { "" } else { ", by what was delivered" };
                text += &format!("; unpinned threads {}{by}", lost(auto, Subject::Several));
            }
            Strength::Same if auto.is_clock() => text += "; unpinned threads differ by the clock only",
            _ => {}
        }
    }
    if advice.peak.cell.workers > cell.workers {
        text += &format!("; within 5% of the peak at {}", advice.peak.cell.workers);
    }
    if let Some(fewer) = &advice.fewer {
        let (they, subject) =
            if fewer.estimate.cell.workers == 1 { ("it", Subject::One) } else { ("they", Subject::Several) };
        text += &format!("; {} may be enough: {they} {}", fewer.estimate.cell.workers, lost(fewer, subject));
    }
    if advice.is_only_count && advice.open.is_none() {
        text += "; no other number of threads has a result";
        let is_other = |other: &&Cell| {
            (&other.kernel, other.value().is_some()) == (&cell.kernel, true) && other.workers != cell.workers
        };
        let others = advice.report.cells.iter().filter(is_other);
        text += match others.map(|other| other.point == cell.point).max() {
            None => "",
            Some(true) => " at this size",
            Some(false) => " with these parameters",
        };
    }
    if let Some(open) = &advice.open {
        text += &format!("; {}", more(open));
    }
    if is_open_below {
        text += "; fewer have no number and may be enough";
    }
    if let Some(cpus) = advice.quota {
        let many = if cell.workers as f64 >= cpus + 1.0 { "so many" } else { "more" };
        text += &format!("; the CPU quota of {cpus:.2} has no time for {many}");
    }
    text += &share_delivered(advice);
    if let Some(wanted) = advice.wanted_cpus().filter(|wanted| *wanted < IDLE * cell.workers as f64) {
        let cpus = counted(cell.workers as usize, "CPU");
        text += &format!("; it waits rather than computes: it has work for {wanted:.1} of {cpus}");
    }
    format!("{text}.")
}

fn placed(cell: &Cell) -> String {
    format!("{} {}", counted(cell.workers as usize, "thread"), cell.mapping)
}

/// That the advice is by what was delivered, and what the placement loses that is best by capacity; empty where it is by capacity.
fn by_delivered(advice: &Advice<'_>) -> String {
    let Some(Shared { holds: Holds::Differs(loss), .. }) = &advice.shared else { return String::new() };
    let sure = if loss.is_shown() { "" } else { " (a longer --budget makes it sure)" };
    let (best, loses) = (placed(loss.estimate.cell), lost(loss, Subject::Several));
    format!(", by what was delivered; {best}, best by capacity, {loses}{sure}")
}

/// How much of its capacity the advised placement delivered, and what else may do better; empty where it delivered all, and where the advice is
/// by that.
fn share_delivered(advice: &Advice<'_>) -> String {
    let Some(Shared { delivered, holds }) = &advice.shared else { return String::new() };
    let share = delivered.filter(|share| *share < NEARLY_ALL);
    let share = share.map(|share| format!("{} of its capacity was delivered", units::percent(share)));
    match holds {
        Holds::Beside | Holds::Differs(_) => String::new(),
        Holds::Same => share.map(|share| format!("; {share}")).unwrap_or_default(),
        Holds::Open(other) => {
            let share = share.map(|share| format!("{share}, and ")).unwrap_or_default();
            format!("; {share}{} may deliver more: a longer --budget shows it", placed(other.cell))
        }
    }
}

/// Why threads that contend for a kernel are given no advice.
pub fn not_advised(why: &NotAdvised<'_>) -> String {
    match why {
        NotAdvised::TooWide(widest) => {
            let half = widest.interval.map(|interval| units::percent(interval.half_width(widest.value)));
            let half = half.map(|half| format!(" ±{half}")).unwrap_or_default();
            let kernel = &widest.cell.kernel;
            format!("numbers of threads that contend for {kernel} vary too much: {}{half}", cited(widest))
        }
        NotAdvised::NoGain { alone, together } => {
            let how = if alone.is_better(together) { "less together than" } else { "hardly more together than" };
            let (kernel, numbers) = (&alone.cell.kernel, [alone, together].map(cited).join(", "));
            format!("threads that contend for {kernel} do {how} one alone: {numbers}")
        }
    }
}

/// `more, up to 64, have no number (x64 failed) and may do better`.
pub fn more(open: &MoreThreads) -> String {
    let tried = open.tried.map(|(threads, status)| format!(" (x{threads} {})", status.name())).unwrap_or_default();
    format!("more, up to {}, have no number{tried} and may do better", open.up_to)
}

/// The load, with the kernel that stands for it where others have results too.
fn title(advice: &Advice<'_>) -> String {
    let title = match advice.load {
        Load::Workload => return advice.best.cell.kernel.clone(),
        load => match advice.best.cell.level.as_deref().filter(|level| *level != MEMORY) {
            // What lies in a cache has the speed of that cache.
            Some(cache) if load == Load::Bandwidth => format!("{cache}-bound"),
            Some(cache) if load == Load::Latency => format!("{} in {cache}", load_title(load)),
            _ => load_title(load).to_owned(),
        },
    };
    match advice.is_one_of_several || advice.load == Load::Contended {
        true => format!("{title} ({})", advice.best.cell.kernel),
        false => title,
    }
}

/// `too few runs to advise: 1 of 6; charz sweep --resume FILE --budget 6m makes them`.
fn lacking_runs(Shortage { runs, remedy }: Shortage, report: Option<&Report>) -> String {
    let few = format!("too few runs to advise: {runs} of {LEAST_FOR_INTERVAL}");
    match remedy {
        Remedy::Quiet => {
            format!("too noisy to advise: {runs} runs give no interval; measure again with --wait-quiet")
        }
        Remedy::Quota => format!("{few}; the CPU quota stopped the others (charz explain V07)"),
        Remedy::MoreValues => format!("{few}; give the table as many values, or an interval, for each configuration"),
        Remedy::AskForMore => format!("{few}; give --runs {LEAST_FOR_INTERVAL}"),
        Remedy::Again => format!("{few}; measure again with --wait-quiet"),
        Remedy::Resume(seconds) => match report.and_then(Report::resume) {
            Some(resume) => format!("{few}; {resume} --budget {} makes them", units::budget(seconds)),
            None => format!("{few}; a longer --budget makes them"),
        },
    }
}

/// The mapping that is advised with those that are alike; where it cannot be said, that.
pub fn mapping(advice: &Advice<'_>) -> String {
    if !advice.lacking.is_empty() {
        let verb = if advice.lacking.len() == 1 { "has" } else { "have" };
        return format!("{} ({} {verb} no number)", all_alike(advice), advice.lacking.join(", "));
    }
    let is_any = advice.mappings > 1 && advice.alike.len() + 1 == advice.mappings;
    if is_any && advice.is_equal {
        return "the mapping makes no difference".to_owned();
    }
    if is_any {
        return format!("{} (no significant difference between the mappings)", advice.best.cell.mapping);
    }
    let of_threads = |loss: &&Relation<'_>| loss.estimate.cell.workers == advice.best.cell.workers;
    match advice.regret.iter().filter(of_threads).find(|loss| loss.is_forbidden()) {
        Some(other) => format!("{} (others {})", all_alike(advice), lost(other, Subject::Several)),
        None => all_alike(advice),
    }
}

fn all_alike(advice: &Advice<'_>) -> String {
    let alike: Vec<&str> = advice.alike.iter().map(|number| number.cell.mapping.as_str()).collect();
    joined(&advice.best.cell.mapping, &alike, advice.is_equal, advice.doubtful && advice.mappings > 1)
}

/// What further strands and memory elsewhere do, a sentence each.
pub fn extras(advice: &Advice<'_>) -> Vec<String> {
    // One chain leaves most of a core free, and the next thread takes that.
    let chain = match advice.report.role(&advice.best.cell.kernel) {
        Role::Arithmetic(Numbers::Integer) => Some("arith-int-ilp"),
        Role::Arithmetic(Numbers::Float) => Some("arith-float-ilp"),
        _ => None,
    };
    let chain = chain.map(|dense| {
        format!("; each waits for its own results: charz sweep --kernel {dense} measures threads that fill a core")
    });
    let strands = advice.strands.iter().map(|found| strands(found) + chain.as_deref().unwrap_or_default());
    let elsewhere = advice.memory.iter().map(|loss| {
        let home = loss.estimate.cell.point.memory.unwrap_or_default();
        let words = match home {
            MemoryHome::Local => "local memory".to_owned(),
            MemoryHome::First => "memory on the first thread's NUMA node".to_owned(),
            MemoryHome::Remote => "remote memory".to_owned(),
            MemoryHome::Interleaved => "interleaved memory".to_owned(),
            MemoryHome::Node(node) => format!("memory on NUMA node {node}"),
        };
        format!("{words} {}", lost(loss, Subject::One))
    });
    strands.chain(elsewhere).collect()
}

/// What bounds the programs of a load.
pub fn load_title(load: Load) -> &'static str {
    match load {
        Load::Compute => "Compute-bound",
        Load::Simd => "SIMD-bound",
        Load::Bandwidth => "Memory-bound",
        Load::Latency => "Latency-bound",
        Load::Contended => "Contended",
        Load::Program => "Your program",
        Load::Workload => "Workload",
    }
}

fn strands(strands: &Strands<'_>) -> String {
    let cores = counted(strands.cores, "core");
    let what = match strands.per_core {
        2 => format!("a second thread per core, on {cores},"),
        several => format!("{several} threads per core, on {cores},"),
    };
    let excludes_0 = strands.interval().is_some_and(|found| found.low > 0.0 || found.high < 0.0);
    let open = match excludes_0 {
        _ if strands.is_shown() => "",
        true => units::doubt(true),
        false => ", which is not shown",
    };
    let verb = if strands.gain() < 0.0 { "cost" } else { "add" };
    let verb = if strands.per_core == 2 { format!("{verb}s") } else { verb.to_owned() };
    let range = strands.interval().map(|interval| match strands.gain() < 0.0 {
        true => Interval { low: -interval.high, high: -interval.low },
        false => interval,
    });
    format!("{what} {verb} {}{}{open}", units::percent(strands.gain().abs()), within(range))
}

/// What a verb is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    One,
    Several,
}

/// `loses 3.2% (2.1 to 4.4%)`, with the marker of a noisy number.
pub fn lost(loss: &Relation<'_>, subject: Subject) -> String {
    if loss.is_forbidden() {
        return caveat::not_comparable(loss.caveats);
    }
    let is_less = loss.share < 0.0;
    let unit = loss.estimate.cell.unit;
    let (verb, after) = match (unit.more_is_better(), is_less) {
        (true, false) => ("lose", ""),
        (true, true) => ("gain", ""),
        (false, false) if loss.is_work => ("do", " less work in the same time"),
        (false, true) if loss.is_work => ("do", " more work in the same time"),
        (false, false) if unit.is_time() => ("take", " longer"),
        (false, false) => ("take", " more"),
        (false, true) => ("take", " less"),
    };
    let ending = match subject {
        Subject::One if verb == "do" => "es",
        Subject::One => "s",
        Subject::Several => "",
    };
    let interval = loss.interval.map(|interval| match is_less {
        true => Interval { low: -interval.high, high: -interval.low },
        false => interval,
    });
    let share = units::percent(loss.share.abs());
    let clock = if loss.is_clock() { " at one clock" } else { "" };
    format!("{verb}{ending} {share}{after}{}{clock}{}", units::doubt(loss.is_doubtful()), within(interval))
}

/// The limit of a loss, in a column of its table; empty where nothing does.
pub fn remark(loss: &Relation<'_>) -> &'static str {
    match loss.strength() {
        Strength::NotComparable => caveat::why_not_comparable(loss.caveats),
        _ if loss.is_clock() => "the clock only",
        _ if loss.is_doubtful() => "noisy",
        Strength::Shown(_) => "",
        Strength::Same => "no difference",
        Strength::Open(_) => "open",
        Strength::TooFew(_) => "too few runs",
        Strength::TooNoisy(_) => "too noisy",
    }
}

/// ` (2.1 to 4.4%)`.
fn within(interval: Option<Interval>) -> String {
    interval.map(|found| format!(" ({})", units::percent_range(found.low, found.high))).unwrap_or_default()
}

/// `arith-int round-robin x2: 3.66 Gop/s ±0.4%`; of memory in a guest how far apart the host had put the CPUs.
pub fn evidence(advice: &Advice<'_>) -> String {
    let half = advice.best.interval.map(|interval| interval.half_width(advice.best.value));
    let half = half.map(|half| format!(" ±{}", units::percent(half))).unwrap_or_default();
    let home = Some(advice.home()).filter(|home| advice.best.cell.point.memory.is_none() && !is_usual(Some(*home)));
    let home = home.map(|home| format!(", memory {home}")).unwrap_or_default();
    let apart = host_distance(advice.report, advice.best.cell).filter(|_| advice.load == Load::Bandwidth);
    let apart = apart.map(|ns| format!(", CPUs {} apart", units::nanos(ns))).unwrap_or_default();
    format!("{}{half}{home}{apart}", cited(&advice.best))
}
