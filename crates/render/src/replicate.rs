//! A source document beside this machine.

mod csv;
mod page;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use super::look::TerminalStyle;
use super::outline::{Block, section};
use super::{grid, html, json, markdown, term};
use charz_data::escape::counted;
use charz_data::units;
use charz_replicate::{
    DOCUMENTS, FigureModel, GapKind, Number, PublishedRange, Reference, ReplicatedFigure, Replication, Row, Status,
    Verdict, Why,
};
use charz_words::replicate as words;

/// Writes what was measured or, before a sweep, what can be.
pub type Format = super::formats::Format<fn(&Replication<'_>, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

pub const FORMATS: &[Format] = &[
    Format {
        name: "table",
        about: "each figure with its values, the document's beside this machine's",
        write: |replication, look, out| term::text(&blocks(replication), look, out),
    },
    Format {
        name: "json",
        about: "everything; charz docs replication-schema describes the fields",
        write: |replication, _, out| json::write_pretty_line(replication, out),
    },
    Format {
        name: "markdown",
        about: "the table as Markdown",
        write: |replication, _, out| markdown::text(&blocks(replication), usize::MAX, out),
    },
    Format {
        name: "csv",
        about: "one row per value of the document",
        write: |replication, _, out| csv::write(replication, out),
    },
    Format {
        name: "html",
        about: "one file for a browser: curves, the document's and the model's beside this machine's",
        write: |replication, look, out| html::write(&page::of(replication), look, out),
    },
];

/// Writes the list of documents.
pub type ListWriter = super::formats::Format<fn(&TerminalStyle, &mut dyn Write) -> io::Result<()>>;

/// The formats of the list of documents.
pub const DOCUMENT_LISTS: &[ListWriter] = &[
    ListWriter { name: "table", about: "", write: documents },
    ListWriter {
        name: "json",
        about: "",
        write: |_, out| json::write_pretty_line(&DOCUMENTS.iter().map(entry).collect::<Vec<_>>(), out),
    },
];

fn entry(document: &charz_replicate::Document) -> serde_json::Value {
    let citation = &document.citation;
    serde_json::json!({ "document": citation.name, "figures": document.figures.len(), "title": citation.title })
}

fn documents(look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let row = |document: &charz_replicate::Document| {
        let citation = &document.citation;
        [citation.name.clone(), document.figures.len().to_string(), citation.title.clone()]
    };
    let rows: Vec<[String; 3]> = DOCUMENTS.iter().map(row).collect();
    grid::columns(&["document", "figures", "title"], &[0, 2], &[], &rows, look, out)?;
    writeln!(out, "\ncharz replicate DOCUMENT --list lists its figures, and how far each can be replicated here")
}

fn blocks(replication: &Replication<'_>) -> Vec<Block<'static>> {
    let document = &replication.document;
    let mut blocks = vec![
        Block::Title(document.title.clone()),
        Block::Text(format!("{}, {}; {}", document.authors, document.published, document.id)),
        Block::Text(totals(replication)),
    ];
    if replication.report.is_some() {
        for figure in &replication.figures {
            write_figure(replication, figure, &mut blocks);
        }
    } else {
        let item = |figure: &ReplicatedFigure<'_>| match figure.reasons.is_empty() {
            true => Block::item(name(figure)),
            false => Block::item(format!("{}: {}", name(figure), words::reasons(figure).join("; "))),
        };
        let figures = replication.figures.iter().map(item).collect();
        blocks.extend(section("Figures, and how far a sweep here can replicate them", figures));
    }
    let how = origin(replication).into_iter().chain([replication.protocol.to_owned()]).map(Block::Text).collect();
    blocks.extend(section("How it was measured", how));
    let contradictions = replication.inconsistencies.iter().map(Block::item).collect();
    blocks.extend(section("Where the document contradicts itself", contradictions));
    blocks
}

fn name(figure: &ReplicatedFigure<'_>) -> String {
    format!("{}: {} [{}]", figure.number, figure.title, words::status(figure.status))
}

/// The machine, the report and the clock.
fn origin(replication: &Replication<'_>) -> Vec<String> {
    let Some(origin) = &replication.report else { return Vec::new() };
    let mut lines = vec![format!(
        "here: {}, {}, {}; started {}",
        origin.host.unwrap_or("this host").trim(),
        origin.processor.unwrap_or("unknown processor").trim(),
        counted(usize::try_from(origin.strands).unwrap_or(usize::MAX), "usable CPU"),
        origin.started,
    )];
    lines.extend(replication.clock.map(|clock| {
        let whose = if clock.claimed { "nominal" } else { "measured" };
        format!("cycles: nanoseconds times {:.2} GHz, the {whose} clock", clock.hz / 1e9)
    }));
    lines.push("ratio: the number here over the document's first, or over the nearer end of a range".to_owned());
    if !origin.complete {
        let finishes = origin.report.resume().map(|resume| format!(": {resume} finishes it"));
        lines.push(format!("the sweep is not complete{}", finishes.unwrap_or_default()));
    }
    lines
}

/// Figures by status, and conclusions by verdict.
fn totals(replication: &Replication<'_>) -> String {
    use {Status as S, Verdict as V};
    let all = [S::Done, S::Partly, S::Undecided, S::NotMeasured, S::Impossible, S::Drawing];
    let figures = all.map(|status| (replication.figures_with(status), words::status(status)));
    let figures = figures.iter().filter(|(count, _)| *count > 0).map(|(count, words)| format!("{count} {words}"));
    let figures = figures.collect::<Vec<_>>().join(", ");
    let verdicts = [V::Holds, V::Fails, V::Undecided, V::NotMeasured, V::Impossible];
    let counts = verdicts.map(|verdict| (replication.claims_with(verdict), verdict));
    let is_shown = |(count, verdict): &&(usize, V)| *count > 0 || matches!(verdict, V::Holds | V::Fails);
    let claims = counts.iter().filter(is_shown).map(|(count, verdict)| words::counted_verdict(*count, *verdict));
    let name = &replication.document.name;
    match counts.iter().all(|(count, _)| *count == 0) {
        true => format!("{name} figures: {figures}"),
        false => format!("{name} figures: {figures}; conclusions: {}", claims.collect::<Vec<_>>().join(", ")),
    }
}

fn write_figure(replication: &Replication<'_>, figure: &ReplicatedFigure<'_>, blocks: &mut Vec<Block<'static>>) {
    blocks.push(Block::Caption(name(figure)));
    blocks.push(Block::Text(format!("{} What survives: {}", figure.shows, figure.survives)));
    if !figure.reasons.is_empty() {
        blocks.push(Block::Text(format!("{}: {}", words::status(figure.status), words::reasons(figure).join("; "))));
    }
    let basis = words::basis(figure).filter(|_| figure.rows.iter().any(|row| row.here.is_some()));
    blocks.extend(basis.map(|words| Block::Text(format!("note: {words}"))));
    blocks.extend(figure.notes.iter().map(|note| Block::Text(format!("note: {note}"))));
    // Rows beyond this machine, which a reason mentions, are shown for the document's values only.
    let is_beyond = |row: &Row<'_>| row.gap.as_ref().map(Why::kind) == Some(GapKind::Machine);
    let rows: Vec<&Row<'_>> = figure.rows.iter().filter(|row| !row.published.is_empty() || !is_beyond(row)).collect();
    if !rows.is_empty() {
        write_rows(replication, &rows, blocks);
    }
    blocks.extend(figure.models.iter().map(|model| Block::Text(model_words(replication, model))));
    blocks.extend(figure.claims.iter().map(|claim| {
        let verdict = format!("{}{}", words::verdict(claim.verdict), units::doubt(claim.is_suspect()));
        Block::Item(verdict, format!("{}; {}", words::conclusion(claim), words::evidence(claim)))
    }));
}

/// What a model makes of a machine's values.
fn model_words(replication: &Replication<'_>, model: &FigureModel<'_>) -> String {
    let name = replication.machines.iter().find(|machine| machine.key == model.machine).map(|machine| &*machine.name);
    words::model(name.unwrap_or(model.machine), model)
}

/// A table with a column for each of the document's machines, and for what a model says of it, and the reasons of gaps below it.
fn write_rows(replication: &Replication<'_>, rows: &[&Row<'_>], blocks: &mut Vec<Block<'static>>) {
    let published = |row: &Row<'_>, machine: &Reference| {
        row.published.iter().find(|range| range.machine == machine.key).map(published_words)
    };
    let machines: Vec<&Reference> = replication
        .machines
        .iter()
        .filter(|machine| rows.iter().any(|row| published(row, machine).is_some()))
        .collect();
    let is_measured = rows.iter().any(|row| row.kernel.is_some());
    let counts_workers = rows.iter().all(|row| row.label.parse::<u64>().is_ok());
    let mut heading = vec![if counts_workers { "threads" } else { "" }.to_owned()];
    let predicted = |row: &Row<'_>, machine: &Reference| {
        let own = row.published.iter().find(|range| range.machine == machine.key)?.predicted.as_ref()?;
        Some(if own.is_fitted { "fitted".to_owned() } else { digits(own.value) })
    };
    let is_modelled = |machine: &&Reference| rows.iter().any(|row| predicted(row, machine).is_some());
    for machine in &machines {
        heading.push(machine.name.clone());
        heading.extend(is_modelled(machine).then(|| "model".to_owned()));
    }
    // What ran is not what a label in words is about.
    let names_workers = is_measured && rows.iter().any(|row| row.workers.is_some_and(|count| !is_label(row, count)));
    let is_short = rows.iter().any(|row| delivered(row).is_some());
    let own = [("threads here", names_workers), ("here", is_measured), ("95% interval", is_measured)];
    let own = own.into_iter().chain([("delivered", is_short), ("ratio", is_measured)]);
    heading.extend(own.filter(|(_, is_shown)| *is_shown).map(|(name, _)| name.to_owned()));
    heading.push("unit".to_owned());
    let (mut lines, mut gaps, mut notes, mut group) = (Vec::new(), Vec::<String>::new(), Vec::new(), "");
    for row in rows {
        if row.group != group {
            group = row.group;
            let mut line = vec![String::new(); heading.len()];
            line[0] = group.to_owned();
            lines.push(line);
        }
        let indent = if group.is_empty() { "" } else { "  " };
        let mut line = vec![format!("{indent}{}", row.label)];
        for machine in &machines {
            line.push(published(row, machine).unwrap_or_default());
            line.extend(is_modelled(machine).then(|| predicted(row, machine).unwrap_or_default()));
        }
        let here = row.here.as_ref();
        if is_measured {
            let doubt = units::doubt(here.is_some_and(|here| here.suspect));
            let gap = words::gap(row).map(|reason| {
                let at = gaps.iter().position(|other| *other == reason).unwrap_or(gaps.len());
                if at == gaps.len() {
                    gaps.push(reason);
                }
                format!("- ({})", at + 1)
            });
            let count = row.workers.map(units::count).unwrap_or_default();
            line.extend(names_workers.then_some(count));
            line.push(here.map(|here| digits(here.value) + doubt).or(gap).unwrap_or_default());
            line.push(here.map(interval).unwrap_or_default());
            line.extend(is_short.then(|| delivered(row).unwrap_or_default()));
            line.push(row.ratio.map(|ratio| digits(ratio) + doubt).unwrap_or_default());
        }
        line.push(row.unit.to_owned());
        lines.push(line);
        if let Some(note) = here.and_then(|here| here.note.as_ref()) {
            notes.push((group, words::note(note, row.unit), row.label));
        }
    }
    blocks.push(Block::Table { words: vec![0, heading.len() - 1], heading, spare: Vec::new(), rows: lines });
    blocks.extend(gaps.iter().enumerate().map(|(at, reason)| Block::Text(format!("({}) {reason}", at + 1))));
    // Rows of a group that have the same note have one.
    blocks.extend(notes.chunk_by(|one, other| (one.0, &one.1) == (other.0, &other.1)).map(|same| {
        let labels = same.iter().map(|(_, _, label)| *label).collect::<Vec<_>>().join(", ");
        let group = if same[0].0.is_empty() { String::new() } else { format!("{}, ", same[0].0) };
        Block::Text(format!("{group}{labels}: {}", same[0].1))
    }));
}

/// Whether a label is this number of threads.
fn is_label(row: &Row<'_>, count: u64) -> bool {
    row.label.parse() == Ok(count)
}

fn delivered(row: &Row<'_>) -> Option<String> {
    row.here.as_ref().and_then(words::delivered)
}

/// A value in the document's own digits.
fn published_words(range: &PublishedRange<'_>) -> String {
    let digits = |value: f64| match value.abs() >= 1e6 && value.fract() == 0.0 {
        true => units::count(value as u64),
        false => value.to_string(),
    };
    match range.low == range.high {
        true => digits(range.low),
        false => format!("{} to {}", digits(range.low), digits(range.high)),
    }
}

fn interval(number: &Number<'_>) -> String {
    match number.interval {
        Some([low, high]) => format!("{} to {}", digits(low), digits(high)),
        None => "-".to_owned(),
    }
}

/// Three significant digits without an exponent: the column has one unit, which is the document's.
fn digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        v if v < 0.001 => format!("{value:.5}"),
        v if v < 1.0 => format!("{value:.3}"),
        v if v < 10.0 => format!("{value:.2}"),
        v if v < 100.0 => format!("{value:.1}"),
        v if v < 1e15 && value > 0.0 => units::count(value.round() as u64),
        _ => format!("{value:.0}"),
    }
}
