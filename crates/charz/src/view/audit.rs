//! What an audit found: one format a line in [`FORMATS`].

use std::collections::BTreeMap;
use std::io::{self, Write};

use charz_topology::Machine;
use serde::Serialize;
use serde_json::json as object;

use super::look;
use charz_analysis::figure::{Datum, Table};
use charz_analysis::page::{self, Section};
use charz_audit::{Audit, Evidence, Figure, Kind, Reason, Relation, Verdict};
use charz_data::escape::counted;
use charz_data::{Arrange, units};
use charz_render::grid::columns;
use charz_render::look::TerminalStyle;
use charz_render::{html, json, wrapped};

pub type Format = charz_render::formats::Format<fn(&Page<'_>, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

pub static FORMATS: &[Format] = &[
    Format { name: "table", about: "counts of each relation, then those contradicted or inconclusive", write: table },
    Format { name: "json", about: "every relation with its evidence", write: write_json },
    Format {
        name: "html",
        about: "one file for a browser: the verdict, every relation, the machine as the system reports it",
        write: |page, look, out| html::write(&as_page(page), look, out),
    },
];

/// What is shown.
pub struct Page<'a> {
    /// As claimed.
    pub machine: &'a Machine,
    pub audit: &'a Audit,
    pub affinity: Option<Affinity>,
    pub seed: u64,
    /// The host, and when it was audited.
    pub of: String,
    /// Whether every relation is shown.
    pub verbose: bool,
}

/// How often threads changed their strand.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Affinity {
    pub workers: u64,
    /// Migrations of threads that the system places.
    pub free: u64,
    /// Migrations of as many threads that are bound.
    pub bound: u64,
}

fn write_json(page: &Page<'_>, _: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let Audit { relations, machine, rounds, cut_short } = page.audit;
    let figure = |one: &Figure| object!({ "name": one.name.to_string(), "value": one.value, "unit": one.unit });
    let relation = |of: &Relation| {
        let Evidence { claimed, measured, figures, rounds, confidence, reason } = &of.evidence;
        object!({
            "kind": of.kind.to_string(), "a": of.a, "b": of.b, "verdict": of.verdict.name(),
            "evidence": {
                "claimed": claimed, "measured": measured, "figures": figures.iter().map(figure).collect::<Vec<_>>(),
                "rounds": rounds, "confidence": confidence, "reason": reason.as_ref().map(because),
            },
        })
    };
    let all = object!({
        "relations": relations.iter().map(relation).collect::<Vec<_>>(), "affinity": page.affinity,
        "alu": machine.alu.to_string(), "rounds": rounds, "cut_short": cut_short, "seed": page.seed,
    });
    json::write_pretty_line(&all, out)
}

fn as_page(page: &Page<'_>) -> page::Page {
    let Audit { relations, .. } = page.audit;
    let mut summary = vec![headline(page)];
    summary.extend(page.affinity.map(|affinity| affinity.told()));
    summary.push(ended(page));
    let heading = ["relation", "confirmed", "contradicted", "inconclusive", "figures"];
    let words = |cells: Vec<String>| cells.into_iter().map(Datum::word).collect::<Vec<_>>();
    let kinds = Table::new(&heading, counts(relations).into_iter().map(|row| words(row.into())));
    let mut all: Vec<&Relation> = relations.iter().collect();
    all.arrange_by_key(|relation| Verdict::ALL.iter().position(|verdict| *verdict == relation.verdict));
    let row = |relation: &&Relation| words(vec![relation.verdict.name().to_owned(), at_length(relation)]);
    let each = Table::new(&["verdict", "relation"], all.iter().take(MOST_ON_PAGE).map(row));
    let each = Table { left_out: all.len() - each.rows.len(), ..each };
    let listed = |id, title, about: &str, table| Section {
        id,
        title,
        about: vec![about.to_owned()],
        table: Some(table),
        figures: Vec::new(),
    };
    let machine = super::topo::figure(page.machine);
    page::Page {
        title: format!("Audit of {}: {}", page.of, machine.title.split(" · ").next().unwrap_or_default()),
        summary,
        sections: vec![
            listed(
                "kinds",
                "Relations by kind",
                "How many relations of each kind were measured, and how they came out",
                kinds,
            ),
            Section { id: "machine", title: "The machine", figures: vec![machine], ..Section::default() },
            listed("relations", "Every relation", "What is claimed, what was measured, and how sure that is", each),
        ],
        ..page::Page::default()
    }
}

/// Columns before the text of a relation: the longest verdict and a blank.
const INDENT: usize = 13;
/// The most relations of a page; the JSON has all.
const MOST_ON_PAGE: usize = 2000;
/// The most relations that are listed of a kind and verdict.
const MOST_LISTED: usize = 10;

fn table(page: &Page<'_>, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let relations = &page.audit.relations;
    wrapped::labelled("", 0, &headline(page), look::paragraph(), out)?;
    writeln!(out)?;
    let rows = counts(relations);
    columns(&["relation", "confirmed", "contradicted", "inconclusive", "figures"], &[0, 4], &[], &rows, look, out)?;
    if let Some(affinity) = page.affinity {
        writeln!(out, "\n{}", affinity.told())?;
    }
    let kinds = by_kind(relations);
    for verdict in Verdict::ALL {
        let shown =
            |relation: &&&Relation| relation.verdict == verdict && (verdict != Verdict::Confirmed || page.verbose);
        for relations in kinds.values() {
            let listed: Vec<&&Relation> = relations.iter().filter(shown).collect();
            let most = if page.verbose { listed.len() } else { MOST_LISTED };
            for relation in listed.iter().take(most) {
                let text = at_length(relation);
                writeln!(out)?;
                wrapped::labelled(verdict.name(), INDENT, &text, look::paragraph(), out)?;
            }
            if listed.len() > most {
                writeln!(out, "  and {} more (-v lists them)", listed.len() - most)?;
            }
        }
    }
    writeln!(out, "\n{}", ended(page))
}

fn ended(page: &Page<'_>) -> String {
    let ended = if page.audit.cut_short { ", which is not all: more time with --budget" } else { "" };
    format!("{} rounds{ended}; the same ones again: --seed {}", page.audit.rounds, page.seed)
}

fn by_kind(relations: &[Relation]) -> BTreeMap<Kind, Vec<&Relation>> {
    let mut kinds: BTreeMap<Kind, Vec<&Relation>> = BTreeMap::new();
    relations.iter().for_each(|relation| kinds.entry(relation.kind).or_default().push(relation));
    kinds
}

/// A row for each kind: its name, how many came out how, and the range of its figures.
fn counts(relations: &[Relation]) -> Vec<[String; 5]> {
    let row = |(kind, relations): (Kind, Vec<&Relation>)| {
        let count = |verdict| number(relations.iter().filter(|relation| relation.verdict == verdict).count());
        let [contradicted, inconclusive, confirmed] = Verdict::ALL.map(count);
        [title(kind), confirmed, contradicted, inconclusive, range(&relations)]
    };
    by_kind(relations).into_iter().map(row).collect()
}

impl Affinity {
    fn told(&self) -> String {
        let threads = counted(self.workers as usize, "thread");
        format!("migrations of {threads}: {} unpinned, {} pinned", self.free, self.bound)
    }
}

fn number(count: usize) -> String {
    if count == 0 { "-".to_owned() } else { count.to_string() }
}

/// The answer: whether the claim holds, and what was measured of its parts.
fn headline(page: &Page<'_>) -> String {
    let relations = &page.audit.relations;
    let of = |verdict| relations.iter().filter(move |relation| relation.verdict == verdict);
    let mut wrong: Vec<String> = of(Verdict::Contradicted).map(|relation| title(relation.kind)).collect();
    wrong.dedup();
    // What Linux does not claim, such as ALU groups, neither confirms nor contradicts it.
    let structural = |relation: &&Relation| {
        relation.evidence.claimed.is_some() && !matches!(relation.kind, Kind::Clock | Kind::Tsc | Kind::CoreKind)
    };
    // Without its cores, a topology is not decided.
    let of_cores = |verdict| of(verdict).any(|relation| relation.kind == Kind::Core);
    let is_open = of_cores(Verdict::Inconclusive) && !of_cores(Verdict::Confirmed);
    let open = of(Verdict::Inconclusive).filter(structural).count();
    let verdict = match (wrong.is_empty(), open, of(Verdict::Confirmed).filter(structural).count()) {
        (false, ..) => format!("contradicted ({})", wrong.join(", ")),
        (true, 0, 1..) => "confirmed".to_owned(),
        (true, _, confirmed) if is_open || confirmed == 0 => "not decided".to_owned(),
        (true, open, confirmed) => {
            format!("confirmed in {confirmed} of {}, {open} undecided", counted(confirmed + open, "claim"))
        }
    };
    let machine = page.machine;
    let mut parts = vec![counted(machine.cores.len(), "core"), counted(machine.strands.len(), "CPU")];
    for level in [2, 3] {
        let caches = machine.caches.iter().filter(|cache| cache.level == level).count();
        if caches > 0 {
            parts.push(format!("{caches} L{level}"));
        }
    }
    parts.push(counted(machine.packages.len(), "socket"));
    parts.push(counted(machine.numa_nodes.len(), "NUMA node"));
    format!("Linux's topology is {verdict}: {}; ALU groups: {}", parts.join(", "), groups(page.audit))
}

/// How many ALU groups cores have.
fn groups(audit: &Audit) -> String {
    let machine = &audit.machine;
    if !machine.alu.is_known() {
        return "not measured".to_owned();
    }
    let mut most: BTreeMap<Option<u32>, u32> = BTreeMap::new();
    for strand in &machine.strands {
        let groups = most.entry(strand.core).or_default();
        *groups = strand.alu.saturating_add(1).max(*groups);
    }
    let source = machine.alu.to_string();
    let source = source.split(':').next().unwrap_or_default();
    match (most.values().min(), most.values().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most} per core, {source}"),
        (Some(same), _) => format!("{same} per core, {source}"),
        _ => "no core known".to_owned(),
    }
}

fn title(kind: Kind) -> String {
    match kind {
        Kind::Core => "same core".to_owned(),
        Kind::Alu => "same ALU group".to_owned(),
        Kind::Cache(level) => format!("same L{level}"),
        Kind::Package => "same socket".to_owned(),
        Kind::Numa => "NUMA node of CPU".to_owned(),
        Kind::CoreKind => "kind of core".to_owned(),
        Kind::Clock => "clock".to_owned(),
        Kind::Tsc => "time-stamp counters".to_owned(),
    }
}

/// The first figure of all relations, from the least to the most, of those that are shared and those that are not.
fn range(relations: &[&Relation]) -> String {
    let of = |shared: bool| {
        let mut values: Vec<&Figure> = relations
            .iter()
            .filter(|relation| relation.evidence.claimed.or(relation.evidence.measured) == Some(shared))
            .filter_map(|relation| relation.evidence.figures.first())
            .collect();
        values.arrange_by(|a, b| a.value.total_cmp(&b.value));
        let (first, last) = (values.first()?, values.last()?);
        let name = first.name.to_string().replace('_', " ");
        let text = match first.value == last.value {
            true => amount(first),
            false => format!("{} to {}", amount(first), amount(last)),
        };
        Some(format!("{name} {text}{}", if shared { "" } else { " apart" }))
    };
    [of(true), of(false)].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn amount(figure: &Figure) -> String {
    match figure.unit {
        "Hz" => format!("{:.2} GHz", figure.value / 1e9),
        "op/s" => format!("{}op/s", units::count_of(figure.value)),
        "ns" => format!("{:.1} ns", figure.value),
        "1" => format!("{}", figure.value),
        _ => format!("{:.2}", figure.value),
    }
}

fn at_length(relation: &Relation) -> String {
    let evidence = &relation.evidence;
    let between = match (relation.a, relation.b) {
        (Some(a), Some(b)) if relation.kind == Kind::Numa => format!(" (CPU {a}, node {b})"),
        (Some(a), Some(b)) => format!(" (CPUs {a} and {b})"),
        (Some(a), None) => format!(" (CPU {a})"),
        (None, _) => String::new(),
    };
    let claimed = match evidence.claimed {
        Some(true) => ", claimed",
        Some(false) => ", claimed not to be",
        None => "",
    };
    let figures: Vec<String> = evidence
        .figures
        .iter()
        .map(|one| format!("{} {}", one.name.to_string().replace('_', " "), amount(one)))
        .collect();
    let figures = if figures.is_empty() { String::new() } else { format!("; {}", figures.join(", ")) };
    let confidence = evidence.confidence.map(|share| format!("; confidence {share:.3}")).unwrap_or_default();
    let reason = evidence.reason.as_ref().map(|reason| format!(": {}", because(reason))).unwrap_or_default();
    format!("{}{between}{claimed}{reason}{figures}{confidence}", title(relation.kind))
}

/// Why nothing was decided, or what a contradiction rests on: a clause.
fn because(reason: &Reason) -> String {
    let plain = match reason {
        Reason::NotMeasured => "not measured",
        Reason::MeasuredOnce => "measured once only",
        Reason::RoundsDisagree => "rounds disagree",
        Reason::ChainSlowsDown => {
            "even a dependent chain slows down: the two may take turns on one hardware thread, or their clock falls"
        }
        Reason::SeenTwice => "seen twice, apart in time",
        Reason::NotSeenAgain => "not seen a second time",
        Reason::Opposite => "another measurement shows the opposite",
        Reason::SlowEachOther => "the two slow each other down, in this cache or on the way to the next level",
        Reason::AsLong => "a line takes as long between claimed neighbours as between others",
        Reason::NoneShares => "no pair is claimed to share it, so there is nothing to compare with",
        Reason::MemoryUnknown => "the time of a load from memory is not known",
        Reason::BetweenTimes => "between the times of pairs that share it and of those that do not",
        Reason::NotFaster => {
            "no farther pair to compare with, and the transfer is not clearly faster than a load from memory"
        }
        Reason::NodesAlike => "the memory of both nodes is about as far",
        Reason::RatesDiffer => "rates differ as those of kinds of core do, or a CPU was disturbed",
        Reason::RateOfAnother => "its rate is that of another kind too",
        Reason::AsAFasterKind => "as fast as a faster kind, in all rounds",
        Reason::BelowItsKind => "slower than its kind: of another kind, or disturbed",
        Reason::NoClock => "the clock was not measured",
        Reason::NoClaimedClock => "the system claims no clock",
        Reason::OutsideRange => "the measured clock is outside of the range that the system claims",
        Reason::NoCounters => "no time-stamp counter is read here by which CPUs could be compared",
        Reason::OffNominal(words) => words,
        Reason::Between(ratio) => return format!("a ratio of {ratio:.2} is neither that of one core nor that of two"),
        Reason::Noisy(share) => return format!("numbers of the same CPU differ by {:.0}%", share * 100.0),
        Reason::Crosstalk([alone, with]) => {
            return format!(
                "pairs that run at once disturb each other: a ratio of {alone:.2} alone, {with:.2} with others"
            );
        }
        Reason::ManySiblings(most) => {
            return format!("it, or what seems to be its sibling, seems to have more than {most} siblings: noise");
        }
        Reason::FewRounds(rounds, needed) => {
            return format!("measured in {rounds} rounds of the {needed} that are needed");
        }
        Reason::NotSeenAgainAs(why) => return format!("not seen a second time: {}", because(why)),
        Reason::CountersAgree(ns) => {
            return format!("counters agree within {ns} ns, so they cannot tell sockets apart");
        }
    };
    plain.to_owned()
}

/// The sentence on a contradiction, for the file of the machine as measured.
pub fn doubt(relation: &Relation) -> Option<String> {
    let strand = relation.a.filter(|_| relation.verdict == Verdict::Contradicted)?;
    let figures = &relation.evidence.figures;
    let figures: Vec<String> = figures.iter().map(|one| format!("{} {:.3}", one.name, one.value)).collect();
    let shares = if relation.evidence.claimed == Some(true) { "does not share its" } else { "shares its" };
    let found = match (relation.kind, relation.b) {
        (Kind::Numa, Some(node)) => format!("is not nearest to NUMA node {node}"),
        (kind, Some(other)) => format!("{shares} {kind} with {other}"),
        (_, None) => "is of another kind of core".to_owned(),
    };
    Some(format!("by measurement, strand {strand} {found}, against the claim ({})", figures.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_audit::Evidence;

    #[test]
    fn a_topology_is_confirmed_by_what_is_claimed_of_it_and_its_cores() {
        use Verdict::{Confirmed, Inconclusive};
        let machine = charz_topology::discover(&charz_topology::Source::Synthetic("core:1 pu:2".into())).unwrap();
        let of = |(kind, claimed, verdict)| {
            let evidence = Evidence { claimed, ..Evidence::default() };
            Relation { kind, a: Some(0), b: Some(1), verdict, evidence }
        };
        let (alu, l2) = ((Kind::Alu, None, Confirmed), |verdict| (Kind::Cache(2), Some(true), verdict));
        let core = |verdict| (Kind::Core, Some(true), verdict);
        for (relations, expected) in [
            (vec![core(Inconclusive), alu], "not decided:"),
            (vec![core(Inconclusive), l2(Confirmed)], "not decided:"),
            (vec![core(Confirmed), (Kind::Alu, None, Inconclusive)], "confirmed:"),
            (vec![core(Confirmed), l2(Inconclusive), alu], "confirmed in 1 of 2 claims, 1 undecided:"),
        ] {
            let relations = relations.into_iter().map(of).collect();
            let audit = Audit { relations, machine: machine.clone(), rounds: 1, cut_short: false };
            let said = headline(&Page {
                machine: &machine,
                audit: &audit,
                affinity: None,
                seed: 1,
                of: String::new(),
                verbose: false,
            });
            assert!(said.contains(&format!("is {expected}")), "{said}");
        }
    }
}
