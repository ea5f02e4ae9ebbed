//! A machine's card: what was measured beside what is claimed.

use std::io::{self, Write};

use charz_data::machine::Cache;

use crate::look::TerminalStyle;
use crate::outline::{Block, section};
use crate::term;
use charz_analysis::figure::{Datum, Table};
use charz_claims::card::{About, Card, Level, OPERATIONS, OffNominal};
use charz_claims::curve::Plateau;
use charz_data::escape::counted;
use charz_data::report::{Host, Report, Unit};
use charz_data::{PageKind, Role, units};
use charz_words::card::{contradiction, off_nominal};

/// Shown where there is no number.
const NONE: &str = "not measured";

pub(super) fn write(report: &Report, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    term::text(&blocks(&Card::of(report), report), look, out)
}

fn blocks(card: &Card<'_>, report: &Report) -> Vec<Block<'static>> {
    let machine = &report.machine;
    let words = [
        counted(machine.packages.len(), "socket"),
        counted(machine.cores.len(), "core"),
        counted(machine.strands.len(), "CPU"),
        counted(machine.numa_nodes.len(), "NUMA node"),
    ];
    let processor = report.host.processor.as_deref().map_or("an unnamed processor", str::trim);
    let title = format!("{processor}: {}, as reported by the system", words.join(", "));
    let workers = card.levels.iter().flat_map(|level| &level.bandwidths).map(|found| found.workers).max().unwrap_or(0);
    let usable = machine.usable_strands().count() as u64;
    let most = if workers == usable { "all".to_owned() } else { format!("{workers} threads") };
    let mut heading = ["level", "reported", "measured", "latency (cycles)"].map(str::to_owned).to_vec();
    for (operation, _) in OPERATIONS {
        heading.push(format!("{operation} 1 thread"));
        heading.extend((workers > 1).then(|| most.clone()));
    }
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    let memory = report.host.memory.total_bytes;
    let rows = card.levels.iter().map(|level| row(level, card, memory, workers));
    let mut blocks = vec![
        Block::Title(title),
        Block::Text(String::new()),
        Block::table(&Table::new(&heading, rows)),
        Block::Text(String::new()),
    ];
    blocks.extend(lines(card, &report.host).into_iter().map(|(label, text)| Block::Item(label.to_owned(), text)));
    if card.levels.iter().all(|level| level.found.is_none()) {
        let was_begun = report.cells.iter().any(|cell| matches!(report.role(&cell.kernel), Role::Latency(_)));
        let none = match was_begun && !report.complete {
            true => "the curve of latencies was not finished: give it more time with --budget",
            false => "the report has no curve of latencies: charz topo --measured without a report draws one",
        };
        blocks.push(Block::Item("note".to_owned(), none.to_owned()));
    }
    let about = charz_words::card::about;
    let contradictions = card.contradictions.iter();
    let contradictions = contradictions.map(|one| Block::Item(format!("! {}", about(one.about())), contradiction(one)));
    blocks.extend(section("Mismatches", contradictions.collect()));
    // An edge that the table has as a noisy one is known, if not well.
    let is_shown = |about: About| card.levels.iter().any(|own| of(own) == Some(about) && card.found(own).is_some());
    let unknown = card.unknown.iter().filter(|one| !is_shown(one.about()));
    let unknown = unknown.map(|one| Block::Item(about(one.about()), charz_words::card::unknown(one)));
    blocks.extend(section("Not enough measured", unknown.collect()));
    blocks
}

/// A mark where something contradicts.
fn mark(card: &Card<'_>, about: Option<About>) -> &'static str {
    if card.contradictions.iter().any(|found| Some(found.about()) == about) { " !" } else { "" }
}

fn of(level: &Level) -> Option<About> {
    level.cache.map(About::Cache)
}

fn row(level: &Level, card: &Card<'_>, memory: Option<u64>, most: u64) -> Vec<Datum> {
    let found = card.found(level);
    let doubt = units::doubt(found.is_some_and(|found| found.doubtful));
    let or_none = |datum: Option<Datum>| datum.unwrap_or_else(Datum::none);
    let latency = found.map(|found| {
        let cycles = card.clock.measured_hz.map(|hz| format!(" ({:.1})", found.ns * hz / 1e9)).unwrap_or_default();
        Datum::number(format!("{}{cycles}{doubt}", units::nanos(found.ns)), found.ns)
    });
    let too_few = card.is_thin(level).then(|| Datum::word("edge unknown"));
    let memory = memory.filter(|_| level.cache.is_none()).map(units::iec);
    let mut row = vec![
        Datum::word(format!("{}{}", charz_words::curve::level(level.cache), mark(card, of(level)))),
        or_none(level.claimed.as_ref().map(claim).or(memory).map(Datum::word)),
        or_none(found.map(|found| Datum::word(edge(found))).or(too_few)),
        or_none(latency),
    ];
    for (operation, _) in OPERATIONS {
        for workers in [1, most].into_iter().take(if most > 1 { 2 } else { 1 }) {
            let found = level.bandwidths.iter().find(|one| one.operation == operation && one.workers == workers);
            row.push(or_none(found.map(|one| {
                let rate = units::value(one.bytes_per_second, Unit::BytesPerSecond);
                Datum::number(format!("{rate}{}", units::doubt(one.suspect)), one.bytes_per_second)
            })));
        }
    }
    row
}

/// `32 KiB, 8-way, private (×2)`
fn claim((claimed, count): &(Cache, u32)) -> String {
    let size = claimed.size_bytes.map_or_else(|| "of unknown size".to_owned(), units::iec);
    let ways = claimed.ways.map(|ways| format!("{ways}-way"));
    let times = if *count == 1 { String::new() } else { format!(" (×{count})") };
    let shared = match claimed.strands {
        1 => format!("private{times}"),
        strands => format!("shared by {strands} CPUs{times}"),
    };
    [Some(size), ways, claimed.inclusion().map(str::to_owned), Some(shared)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

fn edge(found: &Plateau) -> String {
    found.edge.map_or_else(
        || format!("> {} (no edge seen)", units::iec(found.to_bytes)),
        |edge| {
            let (inside, beyond) = (units::iec(edge.inside_bytes), units::iec(edge.beyond_bytes));
            format!("{inside} to {beyond}{}", units::doubt(edge.doubtful))
        },
    )
}

/// What has no level.
fn lines(card: &Card<'_>, host: &Host) -> Vec<(&'static str, String)> {
    let hertz =
        |hz: Option<f64>, none: &str| hz.map_or_else(|| none.to_owned(), |hz| format!("{}Hz", units::count_of(hz)));
    let bytes = |bytes: Option<u32>, none: &str| bytes.map_or_else(|| none.to_owned(), |bytes| format!("{bytes} B"));
    let (claimed, measured) = (hertz(card.clock.claimed_hz, "nothing"), hertz(card.clock.measured_hz, NONE));
    let off = card.clock.measured_hz.zip(card.clock.claimed_hz).and_then(|(own, nominal)| OffNominal::of(own, nominal));
    let remark = off.map(|off| format!(": {}", off_nominal(off))).unwrap_or_default();
    let line = format!("{} (reported, not measurable: adjacent-line prefetch)", bytes(card.line_bytes, "unknown"));
    let tlb = card.tlb.map_or_else(
        || format!("{NONE}, or small pages are as fast as huge ones"),
        |tlb| {
            let (inside, beyond) = (units::iec(tlb.edge.inside_bytes), units::iec(tlb.edge.beyond_bytes));
            format!(
                "4k pages are as fast as huge ones up to {inside} to {beyond}{}; beyond, a load takes {}{} longer",
                units::doubt(tlb.edge.doubtful),
                units::nanos(tlb.extra_ns),
                units::doubt(tlb.doubtful)
            )
        },
    );
    let entries = [(PageKind::Small, host.tlb_4k_entries), (PageKind::Huge2M, host.tlb_2m_entries)];
    let entries = entries.into_iter().filter_map(|(pages, entries)| {
        let bytes = units::iec(entries?.saturating_mul(pages.bytes() as u64));
        Some(format!("{} entries for {pages} pages ({bytes})", units::count(entries?)))
    });
    let entries: Vec<String> = entries.collect();
    let mut lines = vec![
        ("clock", format!("{measured} measured, {claimed} reported{remark}")),
        ("line size", line),
        ("TLB reach", tlb),
    ];
    lines.extend((!entries.is_empty()).then(|| ("TLB size", format!("{} reported", entries.join(" and ")))));
    for pages in &card.pages {
        let obtained = pages.obtained.map_or_else(
            || "not known what was obtained".to_owned(),
            |share| format!("{} obtained", units::percent(share)),
        );
        let memory = |found: Plateau| format!("{}{}", units::nanos(found.ns), units::doubt(found.doubtful));
        let ns = pages.memory.map(|found| format!("; memory takes {} per load", memory(found))).unwrap_or_default();
        lines.push(("pages", format!("{}: {obtained}{ns}", pages.kind)));
    }
    if let Some(remote) = card.remote {
        let claimed = remote.claimed_times.map_or_else(|| "nothing".to_owned(), |times| format!("{times:.2} times"));
        lines.push((
            "remote",
            format!(
                "{:.2}{} times the latency of local memory measured, {claimed} reported{}",
                remote.times.value,
                units::doubt(remote.times.suspect),
                mark(card, Some(About::Numa))
            ),
        ));
    }
    lines
}

#[cfg(test)]
mod tests;
