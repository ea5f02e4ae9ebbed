//! Comparisons of two reports in English.

mod effect;
pub mod wire;

use std::time::{Duration, UNIX_EPOCH};

use crate::point;
use charz_claims::compare::{
    ALPHA, Caveat, Comparison, Described, Design, Note, Nothing, Quantity, Reason, Refusal, Repeat, Row, Said, Unlike,
    Unusable, Verdict,
};
use charz_data::checks::V19;
use charz_data::escape::counted;
use charz_data::machine::Strand;
use charz_data::program::ProgramFile;
use charz_data::report::{Interval, SCHEMA_MAJOR, SCHEMA_MINOR, Status};
use charz_data::{Arrange, cpulist, units};
use charz_estimate::grouped;

pub use effect::{signed, times};

/// What the two sides are called.
pub fn sides(design: Design) -> [&'static str; 2] {
    match design {
        Design::Sequential => ["base", "new"],
        Design::Interleaved => ["A", "B"],
    }
}

/// A caveat behind a verdict.
pub fn caveat(caveat: Caveat) -> &'static str {
    match caveat {
        Caveat::OtherMachine => "other machine",
        Caveat::OtherBuild => "other build",
        Caveat::OtherPlan => "other plan",
        Caveat::Suspect => "noisy",
    }
}

/// What allows a comparison in spite of it.
fn flag(caveat: Caveat) -> &'static str {
    match caveat {
        Caveat::OtherMachine => "--cross-machine",
        Caveat::OtherBuild => "--cross-build",
        Caveat::OtherPlan => "--cross-plan",
        Caveat::Suspect => "--allow-suspect",
    }
}

/// In what two sides are not alike, as a clause.
pub fn unlike(unlike: &Unlike<'_>) -> String {
    let cpus = |counts: &[usize; 3]| {
        let nouns = ["socket", "core", "CPU"];
        counts.iter().zip(nouns).map(|(count, noun)| counted(*count, noun)).collect::<Vec<_>>().join(", ")
    };
    let place = |strand: &&Strand| {
        let id = |id: Option<u32>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
        format!("CPU {} of core {}, socket {}", strand.os_id, id(strand.core), id(strand.package))
    };
    let plans =
        |flag: &str, [one, other]: [String; 2]| format!("their plans differ in --{flag} ({one:?} and {other:?})");
    match unlike {
        Unlike::Processor(names) => {
            let [one, other] = names.map(|name| quoted(name.map(str::to_owned)));
            format!("they were measured on different processors ({one} and {other})")
        }
        Unlike::Counts([one, other]) => {
            format!("the machines differ in their CPUs ({} against {})", cpus(one), cpus(other))
        }
        Unlike::Position([one, other]) => {
            format!("the machines differ in their CPUs ({} against {})", place(one), place(other))
        }
        Unlike::Memory(both) => {
            let [one, other] = both.map(|(bytes, _)| bytes.map_or_else(|| "an unknown size".into(), units::iec));
            let [(_, nodes), (_, others)] = both;
            format!("the machines differ in their memory ({one} on {nodes} NUMA nodes, and {other} on {others})")
        }
        Unlike::Nodes(both) => {
            let [one, other] = both.map(|strand| cpulist::print(&strand.numa_nodes));
            let cpu = both[0].os_id;
            format!("the machines differ in their NUMA nodes (CPU {cpu} on node {one:?} against {other:?})")
        }
        Unlike::Build(fact, None) => format!("of neither the {fact} is known"),
        Unlike::Build(fact, Some(both)) => {
            let [one, other] = both.each_ref().map(|said| quoted(said.as_ref().map(self::said)));
            format!("they were measured by builds that differ in the {fact} ({one} and {other})")
        }
        Unlike::Param(param, both) => plans(param.name, both.map(param.show)),
        Unlike::Term(flag, both) => {
            plans(flag, both.each_ref().map(|said| said.as_ref().map(self::said).unwrap_or_default()))
        }
        Unlike::LastSize([one, other]) => {
            format!("their iterations ended at sizes {one} and {other}; the same --span on machines as busy gives one")
        }
        Unlike::Turns => format!("only one of the two is {} ({})", V19.title, V19.code),
        Unlike::Seats => "its threads were on different CPUs in the two reports".to_owned(),
        Unlike::Allowed(both) => {
            let [one, other] = both.each_ref().map(said);
            format!("its threads could use the CPUs {one} in the one report, {other} in the other")
        }
        Unlike::Path(both) => {
            let [one, other] = both.each_ref().map(|paths| paths.iter().copied().collect::<Vec<_>>().join("; "));
            format!("the kernel chose different code paths ({one:?} and {other:?})")
        }
        Unlike::Estimator => "the values come from the iterations in different ways".to_owned(),
        Unlike::BestOf([one, other]) => {
            format!("the best of {one} iterations against the best of {other}; give both sweeps the same --iterations")
        }
        Unlike::Block(both) => {
            let [one, other] = both.map(units::iec);
            format!("a thread's block has {one} and {other}")
        }
        Unlike::Apart(both) => {
            let [one, other] = both.map(units::nanos);
            format!("the CPUs were {one} apart, and are {other}: the host moved them, or they are others")
        }
    }
}

fn quoted(word: Option<String>) -> String {
    word.map_or_else(|| "unknown".into(), |word| format!("{word:?}"))
}

/// What a report says of a fact.
pub fn said(said: &Said<'_>) -> String {
    let file = |file: &ProgramFile| {
        let ProgramFile { path, device, inode, bytes, modified_ns } = file;
        // Before 1970 and after 9999 there is no such text.
        let since = u64::try_from(*modified_ns).ok().map(Duration::from_nanos);
        let written = since.map_or_else(
            || format!("{modified_ns}ns"),
            |since| humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string(),
        );
        format!("{path} of {bytes} bytes, written {written}, inode {inode} of device {device}")
    };
    match said {
        Said::Text(text) => (*text).to_owned(),
        Said::Version([version, commit]) => format!("{version} ({commit})"),
        Said::Nanos(nanos) => format!("{nanos}ns"),
        Said::Cpus(ids) => cpulist::print(ids),
        Said::Files([]) => "of a name for each run".to_owned(),
        Said::Files(files) => files.iter().map(file).collect::<Vec<_>>().join("; "),
        Said::Words(words) => words.iter().copied().collect::<Vec<_>>().join(", "),
        Said::Value(value) => value.to_string(),
        Said::Codes(codes) => codes.map(|codes| format!("{codes:?}")).unwrap_or_default(),
    }
}

/// Why a row has no verdict.
pub fn reason(reason: &Reason<'_>, design: Design) -> String {
    let (names, both) = match design {
        Design::Sequential => (["base report", "new report"], "both reports"),
        Design::Interleaved => (["A", "B"], "both sides"),
    };
    let unusable = |unusable: &Unusable<'_>| {
        let what = if unusable.status == Status::Suspect { "noisy" } else { unusable.status.name() };
        what.to_owned() + &unusable.why.map(|why| format!(" ({why})")).unwrap_or_default()
    };
    match reason {
        Reason::Absent { side } => format!("not in the {}", names[*side]),
        Reason::Unusable([Some(one), Some(other)]) if one == other => format!("{both}: {}", unusable(one)),
        // The one may be a consequence of the other.
        Reason::Unusable(sides) => {
            let own =
                names.iter().zip(sides).filter_map(|(name, why)| Some(format!("{name}: {}", unusable(why.as_ref()?))));
            own.collect::<Vec<_>>().join("; ")
        }
        Reason::Units => "the two count different things".to_owned(),
        Reason::Unlike(unlike, caveat) => {
            let allow = caveat.map(|caveat| format!("; {} compares it all the same", flag(caveat)));
            self::unlike(unlike) + &allow.unwrap_or_default()
        }
        Reason::Doubt(doubt) => doubt.to_string(),
        Reason::Contradicted => "the two values and their runs do not differ alike".to_owned(),
        Reason::Coarse => "the bins of the times and the step of the clock are too coarse".to_owned(),
        Reason::SharedCpus => {
            "unpinned threads shared CPUs, which a capacity does not show; --delivered compares what was done"
                .to_owned()
        }
    }
}

/// Why two reports are not compared; of two files what compares them all the same, as a command line begins.
pub fn refusal(refusal: &Refusal<'_>, files: Option<&str>) -> String {
    match refusal {
        Refusal::Unlike(unlike) => {
            let (clause, allow) = (self::unlike(unlike), unlike.caveat().map(flag).unwrap_or_default());
            match (unlike.caveat(), files) {
                (Some(Caveat::OtherMachine), None) => {
                    format!("{clause}; {allow} compares the configurations that both have")
                }
                (Some(Caveat::OtherMachine), Some(files)) => format!(
                    "{clause}; charz compare --machines {files} compares whole machines, {allow} the configurations that both have"
                ),
                _ => format!(
                    "the reports cannot be compared: {clause}; measure both alike, or compare them all the same with {allow}"
                ),
            }
        }
        Refusal::Nothing(nothing, comparison) => {
            let why = match nothing {
                Nothing::InCommon => {
                    ": the reports have no configuration in common; measure both with the same --kernel, --mapping \
                                      and --threads"
                        .to_owned()
                }
                Nothing::Usable { side } => {
                    let instead = match comparison.allow_suspect {
                        true => "",
                        false => ", or compare noisy numbers with --allow-suspect",
                    };
                    format!(
                        ": no number of the {} report is usable; fix what charz doctor finds and measure again{instead}",
                        sides(comparison.design)[*side]
                    )
                }
                Nothing::Alike => {
                    let first = comparison.rows.iter().find(|row| row.cells.iter().all(Option::is_some));
                    format!(
                        "; {}",
                        first
                            .and_then(|row| row.reason.as_ref())
                            .map_or(String::new(), |why| reason(why, comparison.design))
                    )
                }
            };
            let apart = apart(comparison).map(|clause| format!("; {clause}")).unwrap_or_default();
            format!("nothing could be compared{why}{apart}")
        }
    }
}

/// What allows a comparison that is refused, for the reader of a history: `they were … ; --cross-build allows the comparison`.
pub fn allowed(unlike: &Unlike<'_>) -> String {
    format!("{}; {} allows the comparison", self::unlike(unlike), unlike.caveat().map(flag).unwrap_or_default())
}

/// What is worth knowing, as a clause.
pub fn note(note: &Note<'_>) -> String {
    let side = |side: usize| sides(Design::Sequential)[side];
    match note {
        Note::Same => "both are the same report".to_owned(),
        Note::Later { side: of, minor } => format!(
            "the {} report has format version {SCHEMA_MAJOR}.{minor}, of which this program knows what \
             {SCHEMA_MAJOR}.{SCHEMA_MINOR} has",
            side(*of)
        ),
        Note::Incomplete { side: of } => format!("the {} report is not complete", side(*of)),
        Note::Surroundings(what, both) => {
            let [one, other] = both.each_ref().map(|said| quoted(said.as_ref().map(self::said)));
            format!("the {what} is another one ({one} and {other})")
        }
        Note::Unnamed => "neither report names its program: they are taken for one".to_owned(),
        Note::Described(what) => {
            let word = |what: &Described| match what {
                Described::Caches => "caches",
                Described::Groups => "groups",
                Described::AluGroups => "ALU groups",
                Described::Kinds => "kinds of core",
            };
            format!(
                "the descriptions of the CPUs differ in their {}",
                what.iter().map(word).collect::<Vec<_>>().join(" and ")
            )
        }
        Note::GuestMemory(kernels) => format!(
            "memory of a guest is what its host gives in that hour, so another hour may differ: {}",
            kernels.iter().copied().collect::<Vec<_>>().join(", ")
        ),
    }
}

/// Which configuration differs so between two measurements of one thing.
pub fn shown_by(repeat: &Repeat<'_>, design: Design) -> String {
    let [low, high] = repeat.cells;
    format!(
        "{}: {}{} x{} differs so between {} and {} on the same CPUs",
        sides(design)[repeat.side],
        low.kernel,
        point::label(&low.point),
        low.workers,
        low.mapping,
        high.mapping
    )
}

/// The mapping of either side, or both where they differ.
pub fn mapping(row: &Row<'_>) -> String {
    match row.cells {
        [Some(base), Some(new)] if base.mapping != new.mapping => format!("{} -> {}", base.mapping, new.mapping),
        _ => row.cell().mapping.clone(),
    }
}

/// The configuration of a row: `mem-read 4k round-robin x2`.
pub fn name(row: &Row<'_>) -> String {
    let cell = row.cell();
    format!("{}{} {} x{}", cell.kernel, point::label(&cell.point), mapping(row), cell.workers)
}

/// What the clock of the cores has to do with a row.
pub fn of_clock(row: &Row<'_>) -> Option<String> {
    let clock = row.shown.clock?;
    let higher = signed(clock.ratio - 1.0);
    Some(match clock.is_counted {
        true => format!("clock {higher}"),
        false => format!("compared at one clock, the second side's was {higher}"),
    })
}

/// The most configurations that are named.
const MOST: usize = 3;
/// The most differences without a verdict that are named.
const FEW: usize = 2;

/// What matters first. Verdicts in this order, cells of one verdict in the comparison's.
const ORDER: [Verdict; 5] =
    [Verdict::Slower, Verdict::Faster, Verdict::Inconclusive, Verdict::Uncompared, Verdict::Same];

/// The rows of a comparison, what matters first.
pub fn sorted<'c, 'a>(comparison: &'c Comparison<'a>) -> Vec<&'c Row<'a>> {
    ORDER.into_iter().flat_map(|verdict| of(comparison, verdict)).collect()
}

fn of<'c, 'a>(comparison: &'c Comparison<'a>, verdict: Verdict) -> impl Iterator<Item = &'c Row<'a>> {
    comparison.rows.iter().filter(move |row| row.verdict == verdict)
}

/// The answer: `new is 1.31 ±0.04 times as fast at mem-read x2; 3 the same within ±4.0%, 1 inconclusive; 4 of the 8 skipped differ by
/// 37 to 44%.`
pub fn sentence(comparison: &Comparison<'_>, new: &str) -> String {
    let mut clauses = Vec::new();
    let mut differing: Vec<&Row<'_>> = of(comparison, Verdict::Slower).chain(of(comparison, Verdict::Faster)).collect();
    let distance = |row: &Row<'_>| row.shown.effect.map_or(0.0, |effect| effect.ln().abs());
    differing.arrange_by(|one, other| distance(other).total_cmp(&distance(one)));
    if !differing.is_empty() {
        let equal = grouped(differing.iter().take(MOST).copied(), |row| times_of(comparison, row));
        let mut last = "";
        let each = equal.iter().map(|rows| {
            let other =
                |row: &Row<'_>| if row.shown.despite.contains(&Caveat::OtherPlan) { " (other plan)" } else { "" };
            let names: Vec<String> = rows.iter().map(|row| name(row) + other(row)).collect();
            let (verb, times) = times_of(comparison, rows[0]);
            let verb = if std::mem::replace(&mut last, verb) == verb { String::new() } else { format!("{verb} ") };
            format!("{verb}{times} at {}", names.join(" and "))
        });
        let named = each.collect::<Vec<_>>().join(", ");
        let more = differing.len().saturating_sub(MOST);
        let more = if more > 0 { format!(", and differs at {more} more") } else { String::new() };
        clauses.push(format!("{new} {named}{more}"));
    }
    let mut same: Vec<f64> = of(comparison, Verdict::Same).map(|row| row.shown.margin).collect();
    same.arrange_by(f64::total_cmp);
    // Those with a margin of their own by the largest of these.
    let (usual, wide) = same.split_at(same.partition_point(|margin| *margin <= comparison.margin));
    let same = |margins: &[f64]| {
        let margin = units::percent(*margins.last()?);
        Some(format!("{} the same within ±{margin}", margins.len()))
    };
    let open = comparison.totals.inconclusive;
    let open = (open > 0).then(|| format!("{open} inconclusive"));
    let rest: Vec<String> = [same(usual), same(wide), open].into_iter().flatten().collect();
    clauses.extend((!rest.is_empty()).then(|| rest.join(", ")));
    if comparison.totals.compared() == 0 {
        clauses.push("nothing could be compared".to_owned());
    }
    clauses.extend(apart(comparison));
    let is_cross = comparison.rows.iter().any(|row| row.shown.despite.contains(&Caveat::OtherMachine));
    let alone = comparison.rows.iter().filter(|row| row.cells.contains(&None)).count();
    if is_cross && alone > 0 {
        let rows = counted(alone, "configuration");
        clauses.push(format!(
            "{rows} of one machine only, such as other thread counts, left out: --machines compares whole machines"
        ));
    }
    if comparison.quantity == Quantity::Delivered {
        clauses.push("load included: without --delivered the machine itself is compared".to_owned());
    }
    format!("{}.", clauses.join("; "))
}

/// The verb, and how many times: `is`, `1.31 times as fast`; of joules `takes`, `0.80 times as much`.
fn times_of(comparison: &Comparison<'_>, row: &Row<'_>) -> (&'static str, String) {
    let effect = row.shown.effect.unwrap_or(1.0);
    let interval = row.shown.interval.map(|Interval { low, high }| [low, high]);
    match comparison.quantity {
        Quantity::Delivered => ("delivered", times(effect, interval, ["much", "little"])),
        Quantity::Capacity if row.cell().unit.is_of_speed() => ("is", times(effect, interval, ["fast", "slow"])),
        Quantity::Capacity => {
            let interval = interval.map(|[low, high]| [high.recip(), low.recip()]);
            ("takes", times(effect.recip(), interval, ["much", "little"]))
        }
    }
}

/// The differences without a verdict that are beyond the margin, few by their names: `4 of the 8 skipped differ by −44.0% to +37.2%, surely
/// beyond ±4.0%`. Of too few runs for an interval there is only their size.
fn apart(comparison: &Comparison<'_>) -> Option<String> {
    let clause = |verdict: Verdict, is_sure: bool| {
        let own = of(comparison, verdict).filter(|row| row.shown.apart && row.shown.interval.is_some() == is_sure);
        let own: Vec<(&Row<'_>, f64)> = own.filter_map(|row| Some((row, row.shown.effect? - 1.0))).collect();
        let [low, high] = [f64::min, f64::max].map(|end| own.iter().map(|(_, share)| *share).reduce(end));
        let (low, high) = low.zip(high)?;
        let (all, word) = (of(comparison, verdict).count(), verdict.name());
        let which = if all == 1 { format!("the one {word}") } else { format!("{} of the {all} {word}", own.len()) };
        let verb = if own.len() == 1 { "differs" } else { "differ" };
        let named = own.iter().map(|(row, share)| format!("{} by {}", name(row), signed(*share)));
        Some(match own.len() {
            ..=FEW => format!("{which} {verb}: {}", named.collect::<Vec<_>>().join(" and ")),
            _ => format!("{which} {verb} by {} to {}", signed(low), signed(high)),
        })
    };
    let both = |(is_sure, end): (bool, String)| {
        let clauses = [Verdict::Uncompared, Verdict::Inconclusive].into_iter();
        let clauses: Vec<String> = clauses.filter_map(|verdict| clause(verdict, is_sure)).collect();
        (!clauses.is_empty()).then(|| clauses.join(", ") + &end)
    };
    let surely = format!(", surely beyond ±{}", units::percent(comparison.margin));
    let all: Vec<String> =
        [(true, surely), (false, ", in too few runs".to_owned())].into_iter().filter_map(both).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// The counts in one line.
pub fn counts(comparison: &Comparison<'_>) -> String {
    let totals = &comparison.totals;
    let rest = format!("{} inconclusive, {} skipped", totals.inconclusive, totals.uncompared);
    match totals.has_no_verdict() {
        true => format!("No verdict: {rest}"),
        false => format!("{} slower, {} faster, {} same, {rest}", totals.slower, totals.faster, totals.same),
    }
}

/// Sentences about the comparison as a whole; `asides` are clauses of who made it.
pub fn remarks(comparison: &Comparison<'_>, asides: &[String]) -> Vec<String> {
    let totals = &comparison.totals;
    let mut remarks = Vec::new();
    if totals.fewest < totals.needed && totals.inconclusive > 0 {
        let (needed, all) = (totals.needed, counted(totals.compared(), "comparison"));
        // Who measured both knows what ended them.
        let fix = match comparison.design {
            Design::Sequential => format!("; measure both with --runs {needed}"),
            Design::Interleaved => String::new(),
        };
        remarks.push(format!("too few runs: {} per side, {needed} needed for {all}{fix}", totals.fewest));
    }
    remarks.extend(comparison.differences.iter().map(|unlike| format!("compared despite: {}", self::unlike(unlike))));
    remarks.extend(notes(comparison, asides).into_iter().map(|note| format!("note: {note}")));
    remarks
}

/// What is worth knowing: a clause each, those of who made the comparison first.
pub fn notes(comparison: &Comparison<'_>, asides: &[String]) -> Vec<String> {
    asides.iter().cloned().chain(comparison.notes.iter().map(note)).collect()
}

/// What the verdicts rest on: the margin, and what widens it most.
pub fn rule(comparison: &Comparison<'_>) -> String {
    let margin = comparison.margin;
    let is_wide = |row: &&Row<'_>| row.verdict != Verdict::Uncompared && row.shown.margin > margin;
    let wider = comparison.repeat.filter(|repeat| repeat.difference > margin).map(|repeat| {
        let wide = counted(comparison.rows.iter().filter(is_wide).count(), "configuration");
        let by = shown_by(&repeat, comparison.design);
        format!(", up to {} for {wide} ({by})", units::percent(repeat.difference))
    });
    let runs = match comparison.design {
        Design::Sequential => "runs not interleaved",
        Design::Interleaved => "runs interleaved",
    };
    format!(
        "{}, threshold {}{}, α = {} (FDR), {} CI, {runs}",
        comparison.quantity.name(),
        units::percent(margin),
        wider.unwrap_or_default(),
        units::percent(ALPHA),
        units::percent(1.0 - ALPHA),
    )
}
