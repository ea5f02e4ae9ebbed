//! Advice in words: the answer first.

use super::{Advice, Load, Strands};
use crate::card::MEMORY;
use crate::number::{Origin, better};
use crate::verdict::{Claim, Loss, joined};
use charz_data::Role;
use charz_data::card::Numbers;
use charz_data::checks::V07;
use charz_data::escape::counted;
use charz_data::report::{Cell, Ending, Interval, Invocation, MemoryHome};
use charz_data::units;
use charz_stats::LEAST_FOR_INTERVAL;

/// Below this share of its CPUs a program is bound by something else.
const IDLE: f64 = 0.1;

impl Advice<'_> {
    /// `Compute-bound (arith-int): 2 threads, round-robin; unpinned threads lose 3.2% (2.1 to 4.4%).`
    pub fn sentence(&self) -> String {
        if let Some(text) = self.shortage() {
            return text;
        }
        if let Some(reason) = self.occupied() {
            let title = self.title();
            return format!(
                "{title}: nothing can be advised: {reason}; stop them, or wait for them with --wait-quiet."
            );
        }
        let cell = self.best.cell;
        let (threads, doubt) = (counted(cell.workers as usize, "thread"), units::doubt(self.doubtful));
        let is_open_below = self.open.is_none() && self.is_open_below();
        let bound = match self.open {
            Some(_) => "at least ",
            None if is_open_below => "at most ",
            None => "",
        };
        let mut text = format!("{}: {bound}{threads}{doubt}, {}", self.title(), self.mapping());
        if let Some(auto) = &self.auto {
            match auto.claim() {
                Claim::Shown(share) if share > 0.0 => {
                    let by = if auto.number.origin == Origin::Capacity { "" } else { ", by what was delivered" };
                    text += &format!("; unpinned threads {}{by}", lost(auto, Subject::Several));
                }
                Claim::None if auto.is_clock => text += "; unpinned threads differ by the clock only",
                _ => {}
            }
        }
        if self.peak.cell.workers > cell.workers {
            text += &format!("; within 5% of the peak at {}", self.peak.cell.workers);
        }
        if let Some(fewer) = &self.fewer {
            let (they, subject) =
                if fewer.number.cell.workers == 1 { ("it", Subject::One) } else { ("they", Subject::Several) };
            text += &format!("; {} may be enough: {they} {}", fewer.number.cell.workers, lost(fewer, subject));
        }
        if self.is_only_count && self.open.is_none() {
            text += "; no other number of threads has a result";
            let is_other = |other: &&Cell| {
                (&other.kernel, other.value().is_some()) == (&cell.kernel, true) && other.workers != cell.workers
            };
            let others = self.report.cells.iter().filter(is_other);
            text += match others.map(|other| other.point == cell.point).max() {
                None => "",
                Some(true) => " at this size",
                Some(false) => " with these parameters",
            };
        }
        if let Some(open) = &self.open {
            text += &format!("; {open}");
        }
        if is_open_below {
            text += "; fewer have no number and may be enough";
        }
        if let Some(cpus) = self.quota {
            text += &format!("; the CPU quota of {cpus:.2} has no time for more");
        }
        if let Some(wanted) = self.wanted_cpus().filter(|wanted| *wanted < IDLE * cell.workers as f64) {
            let cpus = counted(cell.workers as usize, "CPU");
            text += &format!("; it waits rather than computes: it has work for {wanted:.1} of {cpus}");
        }
        format!("{text}.")
    }

    /// Of threads that contend and gain nothing by it, or of which that is not known.
    pub(super) fn why_not(&self) -> Option<String> {
        let (best, kernel) = (self.best, &self.best.cell.kernel);
        if best.cell.workers > 1 {
            let widest = if self.peak.slack() > best.slack() { self.peak } else { best };
            let half = widest.interval.map(|interval| units::percent(interval.half_width(widest.value)));
            let half = half.map(|half| format!(" ±{half}")).unwrap_or_default();
            return Some(format!(
                "numbers of threads that contend for {kernel} vary too much: {}{half}",
                widest.cited()
            ));
        }
        let several = self.regret.iter().map(|loss| loss.number).filter(|number| number.cell.workers > 1);
        let together = several.reduce(better)?;
        let how = if best.is_better(&together) { "less together than" } else { "hardly more together than" };
        let numbers = format!("{}, {}", best.cited(), together.cited());
        Some(format!("threads that contend for {kernel} do {how} one alone: {numbers}"))
    }

    /// How many CPUs the program had work for, in the run that had most.
    fn wanted_cpus(&self) -> Option<f64> {
        let evidence = self.best.cell.invocations.iter().filter_map(|invocation| invocation.evidence.as_ref());
        evidence.filter_map(|evidence| evidence.program.as_ref()?.wanted_cpus).reduce(f64::max)
    }

    /// The load, with the kernel that stands for it where others have results too.
    fn title(&self) -> String {
        let title = match self.load {
            Load::Workload => return self.best.cell.kernel.clone(),
            load => match self.best.cell.level.as_deref().filter(|level| *level != MEMORY) {
                // What lies in a cache has the speed of that cache.
                Some(cache) if load == Load::Bandwidth => format!("{cache}-bound"),
                Some(cache) if load == Load::Latency => format!("{} in {cache}", load.title()),
                _ => load.title().to_owned(),
            },
        };
        match self.is_one_of_several || self.load == Load::Contended {
            true => format!("{title} ({})", self.best.cell.kernel),
            false => title,
        }
    }

    /// `Your program: too few runs to advise: 1 of 6; charz sweep --resume FILE --budget 6m makes them.`
    fn shortage(&self) -> Option<String> {
        let runs = self.too_few?;
        if runs >= LEAST_FOR_INTERVAL {
            let title = self.title();
            return Some(format!(
                "{title}: too noisy to advise: {runs} runs give no interval; measure again with --wait-quiet."
            ));
        }
        let (cell, is_done) = (self.best.cell, |run: &&Invocation| run.ending == Ending::Done);
        let are_made = cell.invocations.iter().filter(is_done).count() >= LEAST_FOR_INTERVAL;
        if are_made && self.best.runs == runs && cell.marks.iter().any(|mark| mark.code == V07.code) {
            let why = "the CPU quota stopped the others (charz explain V07)";
            return Some(format!("{}: too few runs to advise: {runs} of {LEAST_FOR_INTERVAL}; {why}.", self.title()));
        }
        let fix = match (self.report.plan.min_invocations as usize) < LEAST_FOR_INTERVAL {
            true => format!("give --invocations {LEAST_FOR_INTERVAL}"),
            // Its attempts are used up.
            false if self.report.complete => "measure again with --wait-quiet".to_owned(),
            false => {
                // The runs were made in rounds, in the time that the sweep took.
                let missing = LEAST_FOR_INTERVAL.saturating_sub(runs).max(1) as f64 / runs.max(1) as f64;
                let budget = units::budget(self.report.wall_ns as f64 / 1e9 * missing);
                match self.report.resume() {
                    Some(resume) => format!("{resume} --budget {budget} makes them"),
                    None => "a sweep with a longer --budget makes them".to_owned(),
                }
            }
        };
        Some(format!("{}: too few runs to advise: {runs} of {LEAST_FOR_INTERVAL}; {fix}.", self.title()))
    }

    /// The mapping that is advised with those that are alike; where it cannot be said, that.
    pub fn mapping(&self) -> String {
        if !self.lacking.is_empty() {
            let verb = if self.lacking.len() == 1 { "has" } else { "have" };
            return format!("{} ({} {verb} no number)", self.joined(), self.lacking.join(", "));
        }
        let is_any = self.mappings > 1 && self.alike.len() + 1 == self.mappings;
        if is_any && self.is_equal {
            return "the mapping makes no difference".to_owned();
        }
        if is_any {
            return format!("{} (no significant difference between the mappings)", self.best.cell.mapping);
        }
        let of_threads = |loss: &&Loss<'_>| loss.number.cell.workers == self.best.cell.workers;
        match self.regret.iter().filter(of_threads).find(|loss| loss.is_moved) {
            Some(moved) => format!("{} (others {})", self.joined(), lost(moved, Subject::Several)),
            None => self.joined(),
        }
    }

    fn joined(&self) -> String {
        let alike: Vec<&str> = self.alike.iter().map(|number| number.cell.mapping.as_str()).collect();
        joined(&self.best.cell.mapping, &alike, self.is_equal, self.doubtful && self.mappings > 1)
    }

    /// What further strands and memory elsewhere do, a sentence each.
    pub fn extras(&self) -> Vec<String> {
        // One chain leaves most of a core free, and the next thread takes that.
        let chain = match self.report.role(&self.best.cell.kernel) {
            Role::Arithmetic(Numbers::Integer) => Some("arith-int-ilp"),
            Role::Arithmetic(Numbers::Float) => Some("arith-float-ilp"),
            _ => None,
        };
        let chain = chain.map(|dense| {
            format!("; each waits for its own results: charz sweep --kernel {dense} measures threads that fill a core")
        });
        let strands = self.strands.iter().map(|found| strands(found) + chain.as_deref().unwrap_or_default());
        let elsewhere = self.memory.iter().map(|loss| {
            let home = loss.number.cell.point.memory.unwrap_or_default();
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
}

impl Load {
    pub fn title(self) -> &'static str {
        match self {
            Load::Compute => "Compute-bound",
            Load::Simd => "SIMD-bound",
            Load::Bandwidth => "Memory-bound",
            Load::Latency => "Latency-bound",
            Load::Contended => "Contended",
            Load::Program => "Your program",
            Load::Workload => "Workload",
        }
    }
}

fn strands(strands: &Strands<'_>) -> String {
    let cores = counted(strands.cores, "core");
    let what = match strands.per_core {
        2 => format!("a second thread per core, on {cores},"),
        several => format!("{several} threads per core, on {cores},"),
    };
    let open = if strands.is_sure() { "" } else { ", which is not shown" };
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
pub fn lost(loss: &Loss<'_>, subject: Subject) -> String {
    if loss.is_moved {
        return "cannot be compared: the host moved the CPUs".to_owned();
    }
    let is_less = loss.share < 0.0;
    let unit = loss.number.cell.unit;
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
    let clock = if loss.is_clock { " at one clock" } else { "" };
    format!("{verb}{ending} {share}{after}{}{clock}{}", units::doubt(loss.doubtful), within(interval))
}

/// ` (2.1 to 4.4%)`.
fn within(interval: Option<Interval>) -> String {
    interval.map(|found| format!(" ({})", units::percent_range(found.low, found.high))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::advise::advise;
    use crate::answer::Answer;
    use charz_data::report::Unit;
    use charz_data::report::fixtures::{cell, report};
    use charz_data::{Growth, GrowthStep, Halt};

    #[test]
    fn fewer_threads_that_may_do_as_well_are_named() {
        let sentence = |eight: f64, width: f64| {
            let of = |threads: u64, value: f64| {
                cell("mem-read", threads, Unit::BytesPerSecond, value * 1e9).in_order().within(width)
            };
            let report = report(vec![of(4, 40.0), of(8, eight), of(16, 80.0)]).on(16);
            advise(&report)[0].sentence()
        };
        let noisy = sentence(79.0, 0.05);
        assert!(noisy.contains(": 16 threads") && noisy.contains("; 8 may be enough: "), "{noisy}");
        let [sure, slow] = [sentence(79.0, 0.005), sentence(60.0, 0.05)];
        assert!(sure.contains(": 8 threads") && !sure.contains("may be"), "{sure}");
        assert!(slow.contains(": 16 threads") && !slow.contains("may be"), "{slow}");
    }

    #[test]
    fn another_number_of_threads_is_missing_at_the_size_that_was_reached() {
        let of = |by: &str, threads: u64, size: u64| {
            let mut cell = cell("fft-mutex", threads, Unit::OpsPerSecond, 1e6).under(by).in_order();
            let growth = Growth::new(vec![GrowthStep { size, ..GrowthStep::default() }], Halt::Time);
            let runs = cell.invocations.iter_mut().flat_map(|one| &mut one.runs);
            runs.for_each(|run| run.growth = Some(Box::new(growth.clone())));
            cell
        };
        let report = report(vec![of("rr", 1, 7), of("rr", 2, 8), of("dumb", 2, 8)]).on(2);
        let said = advise(&report)[0].sentence();
        assert!(said.contains("no other number of threads has a result at this size"), "{said}");
        let names: Vec<String> = Answer::of(&report).rows.iter().map(|row| row.name()).collect();
        assert_eq!(names, ["fft-mutex size 7", "fft-mutex size 8"]);
    }

    #[test]
    fn what_the_host_moved_is_neither_alike_nor_worse() {
        let of = |by: &str, value: f64, ns: f64| cell("mem-read", 2, Unit::BytesPerSecond, value).under(by).apart(ns);
        for (rr, auto) in [(79e9, 47e9), (47e9, 79e9)] {
            let report = report(vec![of("rr", rr, 130.0).in_order(), of("auto", auto, 25.0)]).on(8);
            let [advice] = &advise(&report)[..] else { panic!("one kernel") };
            assert!(advice.alike.is_empty() && !advice.is_clear());
            let said = advice.sentence();
            assert!(said.contains("others cannot be compared") && !said.contains("difference"), "{said}");
        }
    }
}
