//! Where a report comes from, and how to measure it again.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use super::Source;
use super::points::{doubt, short};
use crate::answer::NONE;
use charz_data::escape::{counted, one_line};
use charz_data::report::{Cell, Estimator, Report, SCHEMA_MAJOR, SCHEMA_MINOR, Status, Timer};
use charz_data::{params, renamed, units};

#[derive(Clone, Debug, PartialEq)]
pub struct About {
    pub name: String,
    /// When it was started: `22 Nov 2026, 00:35 UTC`.
    pub started: String,
    /// The name of the host, where it is known.
    pub host: Option<String>,
    pub environment: Vec<Fact>,
    pub plan: Vec<Fact>,
    /// What was disturbing when it was begun, a sentence each.
    pub disturbances: Vec<String>,
    /// What the sweep took, how its configurations ended, and how it goes on where it is not complete, a sentence each.
    pub outcome: Vec<String>,
    /// What to type for another report like it.
    pub command: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub label: &'static str,
    pub words: String,
}

/// What a page says of a report as its source.
pub fn about(source: &Source<'_>) -> About {
    let report = source.report;
    About {
        name: source.name.to_owned(),
        started: date(&report.started),
        host: report.host.name.clone(),
        environment: environment(report),
        plan: plan(report),
        disturbances: report.host.disturbances.clone(),
        outcome: outcome(report),
        command: in_todays_words(&report.command),
    }
}

/// A command line that has an option of version 0.1 in today's names.
fn in_todays_words(command: &str) -> String {
    let option =
        |word: &str| word.strip_prefix("--").and_then(|word| word.split('=').next()).unwrap_or_default().to_owned();
    // That it has steps, which were iterations, shows by the others only.
    let sure = [renamed::RUNS, renamed::ITERATIONS];
    let is_old = command.split(' ').any(|word| sure.iter().any(|(old, _)| option(word) == *old));
    let today = |word: &str| {
        let known = [sure[0], sure[1], renamed::STEPS].into_iter().find(|(old, _)| is_old && option(word) == *old);
        known.map_or_else(|| word.to_owned(), |(old, new)| word.replacen(old, new, 1))
    };
    command.split(' ').map(today).collect::<Vec<_>>().join(" ")
}

/// A date of RFC 3339 in words; any other text as it is.
fn date(text: &str) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words = || {
        let (day, time) = text.strip_suffix('Z')?.split_once('T')?;
        let mut day = day.split('-');
        let (year, month, day) = (day.next()?, day.next()?.parse::<usize>().ok()?, day.next()?);
        Some(format!(
            "{} {} {year}, {} UTC",
            day.trim_start_matches('0'),
            MONTHS.get(month.checked_sub(1)?)?,
            time.get(..5)?
        ))
    };
    words().unwrap_or_else(|| text.to_owned())
}

fn environment(report: &Report) -> Vec<Fact> {
    let (host, machine, tool) = (&report.host, &report.machine, &report.tool);
    let usable = machine.usable_strands().count();
    let bytes = |bytes: Option<u64>| bytes.map(units::iec);
    let virtual_machine = host.virtual_machine.map(|is| if is { "yes" } else { "no" }.to_owned());
    let facts = [
        ("host", host.name.clone()),
        ("processor", host.processor.as_deref().map(|name| name.trim().to_owned())),
        ("nominal clock", host.claimed_hz.map(units::hertz)),
        ("CPUs", Some(format!("{usable} usable of {}", machine.strands.len()))),
        ("cores", Some(machine.cores.len().to_string())),
        ("sockets", Some(machine.packages.len().to_string())),
        ("NUMA nodes", Some(machine.numa_nodes.len().to_string())),
        ("ALU slots", Some(machine.alu.to_string())),
        ("memory", bytes(host.memory.total_bytes)),
        ("available memory", bytes(host.memory.available_bytes)),
        ("memory per configuration", bytes(host.memory.budget_bytes)),
        ("system", host.kernel.clone()),
        ("virtual machine", virtual_machine),
        ("transparent huge pages", host.transparent_huge_pages.clone()),
        ("frequency governor", host.frequency_governor.clone()),
        ("energy", host.energy.clone()),
        ("CPU quota", Some(host.cpu_quota.clone().unwrap_or_else(|| "none".to_owned()))),
        ("clock source", host.clock_source.clone()),
        ("timer slack", host.timer_slack_ns.map(|nanos| units::nanos(nanos as f64))),
        ("clock readings", report.timer.as_ref().map(timer)),
        ("charz", Some(format!("{} ({})", tool.version, tool.commit))),
        ("built", Some(format!("{}, {}, for {}", tool.rustc, tool.profile, tool.target))),
        (
            "compiler flags",
            Some(tool.rustflags.clone()).filter(|flags| !flags.trim().is_empty()).or(Some("none".into())),
        ),
        ("kernels' source code", Some(format!("hash {}", tool.kernels))),
        ("hwloc", Some(tool.hwloc.clone())),
    ];
    facts
        .into_iter()
        .map(|(label, words)| Fact {
            label,
            words: words.map_or_else(|| "not known".to_owned(), |words| short(&words)),
        })
        .collect()
}

fn timer(timer: &Timer) -> String {
    let nanos = |nanos: u64| units::nanos(nanos as f64);
    let skew = timer.skew_ns.map_or_else(String::new, |skew| format!(", two CPUs differ by up to {}", nanos(skew)));
    format!(
        "a reading takes {}, the smallest step is {}, the largest gap was {}{skew}",
        nanos(timer.overhead_ns),
        nanos(timer.resolution_ns),
        nanos(timer.worst_gap_ns)
    )
}

fn plan(report: &Report) -> Vec<Fact> {
    let plan = &report.plan;
    let facts = [
        ("started", report.started.clone()),
        ("took", units::duration(Duration::from_nanos(report.wall_ns))),
        ("kernels", plan.kernels.join(", ")),
        ("mappings", plan.mappings.join(", ")),
        ("threads", plan.threads.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
        ("configurations", units::count(report.cells.len() as u64)),
        ("block per thread", blocks(report)),
        ("requested pages", plan.params.pages.to_string()),
        ("runs per configuration", format!("{} to {}", plan.min_invocations, plan.max_invocations)),
        ("budget", units::duration(Duration::from_nanos(plan.budget_ns))),
        ("order", format!("random, seed {}", plan.seed)),
        ("clock", plan.clock.clone()),
        ("pinned by", plan.binder.clone()),
        ("format", format!("{} {}.{}", report.schema.name, report.schema.major, report.schema.minor)),
        ("report", report.id.clone()),
    ];
    let facts = facts.into_iter().filter(|(_, words)| !words.is_empty());
    facts.map(|(label, words)| Fact { label, words: short(&words) }).collect()
}

fn outcome(report: &Report) -> Vec<String> {
    let mut sentences = Vec::new();
    if report.schema.minor > SCHEMA_MINOR && report.schema.major == SCHEMA_MAJOR {
        let minor = report.schema.minor;
        sentences.push(format!(
            "note: the report has format version {SCHEMA_MAJOR}.{minor}; what was added after {SCHEMA_MAJOR}.{SCHEMA_MINOR} is left out"
        ));
    }
    let count = |status: Status| (report.count(status) > 0).then(|| format!("{} {status}", report.count(status)));
    let invocations = || report.cells.iter().flat_map(|cell| &cell.invocations);
    let runs = invocations().flat_map(|invocation| &invocation.runs);
    // A sum of nothing is a negative zero.
    let timed: f64 = 0.0 + runs.map(|run| run.interval_ns as f64).sum::<f64>();
    sentences.push(format!(
        "{}: {}; {} in {}, {} of it timed",
        counted(report.cells.len(), "configuration"),
        Status::ALL.into_iter().filter_map(count).collect::<Vec<_>>().join(", "),
        counted(invocations().count(), "run"),
        units::duration(Duration::from_nanos(report.wall_ns)),
        units::percent(timed / report.wall_ns.max(1) as f64),
    ));
    let floor = |cell: &Cell| {
        let time = cell.value().map_or("unknown".to_owned(), units::nanos);
        format!("{time}{} ({})", doubt(cell), counted(cell.seats.len(), "thread"))
    };
    let floors: Vec<String> = report.floor.iter().map(floor).collect();
    if !floors.is_empty() {
        sentences.push(format!("timing overhead, an empty iteration: {}", floors.join(", ")));
    }
    sentences.extend(ESTIMATES.iter().filter_map(|(estimator, what)| {
        let of_charz = report.cells.iter().filter(|_| report.measured_by.is_none());
        let by = of_charz.filter(|cell| cell.estimator == *estimator).map(|cell| cell.kernel.as_str());
        let kernels: BTreeSet<&str> = by.collect();
        let names: Vec<&str> = kernels.iter().copied().take(MOST_NAMED).collect();
        let more = kernels.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!names.is_empty()).then(|| format!("median of the runs, each the {what}: {}{more}", names.join(", ")))
    }));
    if let Some(smallest) = report.cells.iter().filter_map(|cell| cell.block_bytes).min() {
        let smallest = units::iec(smallest);
        sentences
            .push(format!("threads that share a last cache divide the block that passes it, down to {smallest} each"));
    }
    if let Some(mark) = report.cells.iter().flat_map(|cell| &cell.marks).next() {
        sentences.push(format!("details of a warning: charz explain {}", one_line(&mark.code)));
    }
    if let Some(resume) = report.resume().filter(|_| report.incomplete().is_some()) {
        sentences.push(format!("continue with {resume}"));
    }
    sentences
}

/// How a run becomes a number, by the estimator.
const ESTIMATES: [(Estimator, &str); 3] = [
    (Estimator::FastMode, "speed of its undisturbed blocks"),
    (Estimator::Best, "best of its iterations"),
    (Estimator::Median, "median of its iterations"),
];

/// How many kernels a sentence names.
const MOST_NAMED: usize = 8;

/// The sizes of the blocks of its configurations; empty where none has one.
fn blocks(report: &Report) -> String {
    let obeys = |cell: &&Cell| {
        !cell.invocations.is_empty() && report.card(&cell.kernel).is_some_and(|card| card.obeys(&params::SIZE))
    };
    let sizes = || report.cells.iter().filter(obeys).map(|cell| cell.params(&report.plan.params).size_bytes);
    match sizes().min().zip(sizes().max()) {
        Some((min, max)) if min < max => format!("{} to {}", units::iec(min), units::iec(max)),
        Some((size, _)) => units::iec(size),
        None => String::new(),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub label: &'static str,
    /// What each report says of it, in their order.
    pub words: Vec<String>,
}

/// Facts that are not the same in all reports; nothing of one report alone, and nothing that is a report's own by its nature.
pub(super) fn differences(sources: &[About]) -> Vec<Difference> {
    const OWN: [&str; 7] =
        ["report", "started", "took", "order", "available memory", "memory per configuration", "clock readings"];
    let facts = |about: &'_ About| about.environment.iter().chain(&about.plan).cloned().collect::<Vec<Fact>>();
    let all: Vec<Vec<Fact>> = sources.iter().map(facts).collect();
    let mut seen = HashSet::from(OWN);
    let labels = all.iter().flatten().map(|fact| fact.label).filter(|label| seen.insert(label));
    let differ = |label| {
        let of = |facts: &Vec<Fact>| facts.iter().find(|fact| fact.label == label).map(|fact| fact.words.clone());
        let words: Vec<String> = all.iter().map(|facts| of(facts).unwrap_or_else(|| NONE.to_owned())).collect();
        let is_other = words.iter().any(|other| *other != words[0]);
        is_other.then_some(Difference { label, words })
    };
    labels.filter_map(differ).collect()
}

#[cfg(test)]
mod tests {
    use super::{NONE, about, blocks, date, differences, in_todays_words};
    use crate::page::Source;
    use charz_data::report::fixtures::{cell, report};
    use charz_data::report::{Cell, Point, Unit};

    #[test]
    fn an_old_command_line_has_the_names_of_today() {
        let old = "charz sweep --iterations 2000 --repetitions=2 --invocations 6 --command './a --iterations'";
        let new = "charz sweep --steps 2000 --iterations=2 --runs 6 --command './a --iterations'";
        assert_eq!(in_todays_words(old), new);
        assert_eq!(in_todays_words("charz sweep --iterations 5"), "charz sweep --iterations 5");
    }

    #[test]
    fn blocks_are_those_of_what_was_measured() {
        let of = |sizes: &[(Option<u64>, Option<u64>)]| {
            let sized = |(at, (own, block_bytes)): (usize, &(Option<u64>, Option<u64>))| {
                let cell = cell("mem-read", 1 + at as u64, Unit::BytesPerSecond, 40e9).in_order();
                let point = Point { size_bytes: *own, ..cell.point };
                Cell { point, block_bytes: *block_bytes, ..cell }
            };
            let mut made = report(sizes.iter().enumerate().map(sized).collect());
            made.plan.params.size_bytes = 256 << 20;
            made
        };
        let words = |sizes: &[_]| blocks(&of(sizes));
        assert_eq!(words(&[(None, None)]), "256 MiB");
        assert_eq!(words(&[(Some(128 << 20), None)]), "128 MiB");
        // A block that the workers divide is smaller than that of its configuration.
        assert_eq!(words(&[(Some(128 << 20), None), (Some(128 << 20), Some(32 << 20))]), "32 MiB to 128 MiB");
        let mut skipped = of(&[(Some(128 << 20), None), (Some(64 << 30), None)]);
        skipped.cells[1].invocations.clear();
        assert_eq!(blocks(&skipped), "128 MiB");
        let lock = report(vec![cell("lock-std", 1, Unit::NanosecondsPerOp, 10.0)]);
        assert_eq!(blocks(&lock), "");
        // The facts of a report without blocks are compared with their like.
        let abouts = [("a", &of(&[(None, None)])), ("b", &lock)].map(|(name, report)| about(&Source { name, report }));
        let found = differences(&abouts);
        let words = |label| found.iter().find(|found| found.label == label).map(|found| found.words.join("; "));
        assert_eq!(words("block per thread"), Some(format!("256 MiB; {NONE}")));
        assert_eq!([words("budget"), words("requested pages"), words("order")], [None, None, None]);
    }

    #[test]
    fn a_date_is_in_words_and_any_other_text_is_kept() {
        assert_eq!(date("2026-11-02T00:35:27Z"), "2 Nov 2026, 00:35 UTC");
        for odd in ["", "yesterday", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-01T0Z"] {
            assert_eq!(date(odd), odd);
        }
    }
}
