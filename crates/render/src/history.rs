//! A history as columns, CSV or JSON: the tables of [`page::history`](charz_analysis::page::history).

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::{Map, Value, json as object};

use super::formats::Format;
use super::look::TerminalStyle;
use super::outline::Block;
use super::report::csv::{harmless, record};
use super::{json, term, wrapped};
use charz_analysis::figure::{Datum, Table};
use charz_analysis::page::history::{changes, levels, reports, values};
use charz_claims::history::{ALPHA, Added, Entry, Timeline, Track};
use charz_data::escape::{counted, plain};
use charz_words::history::{remarks, summary};

/// How the tables are written; other formats show the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    Columns,
    Json,
    Csv,
}

/// Each with what it shows of series.
#[rustfmt::skip]
pub const FORMATS: &[Format<Tables>] = &[
    Format { name: "table", about: "the changes, and the levels between them", write: Tables::Columns },
    Format { name: "json", about: "reports, changes, levels and values, as numbers", write: Tables::Json },
    Format { name: "csv", about: "one row per value, with the number of its level", write: Tables::Csv },
];

/// The reports, the oldest first.
pub fn write_list(entries: &[Entry], format: Tables, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Tables::Csv => csv(&reports(entries), out),
        Tables::Json => json::write_pretty_line(
            &object!({ "schema": schema("charz-history"), "reports": objects(&reports(entries)) }),
            out,
        ),
        Tables::Columns => {
            let Some(newest) = entries.last() else { return writeln!(out, "no report is in this history yet") };
            let processor = newest.report.host.processor.as_deref().unwrap_or("an unknown processor");
            let cpus = counted(newest.report.machine.strands.len(), "CPU");
            writeln!(out, "{}, {cpus}\n", plain(processor.trim()))?;
            columns(&reports(entries), look, out)
        }
    }
}

/// Some series of a timeline, with their changes. What is said is said of all of `asked`, among which `tracks` are.
pub fn write_plot(
    timeline: &Timeline<'_>,
    asked: &[&Track<'_>],
    tracks: &[&Track<'_>],
    format: Tables,
    look: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Tables::Csv => csv(&values(timeline, tracks), out),
        Tables::Json => {
            let told = object!({
                "schema": schema("charz-timeline"),
                "alpha": ALPHA,
                "reports": objects(&reports(timeline.entries)),
                "changes": objects(&changes(timeline, tracks)),
                "levels": objects(&levels(timeline, tracks)),
                "values": objects(&values(timeline, tracks)),
            });
            json::write_pretty_line(&told, out)
        }
        Tables::Columns => {
            let changes = changes(timeline, tracks);
            // What changed is in the table.
            for headline in summary(timeline, asked).iter().take(1) {
                wrapped::hanging(headline, 2, look.sentences(), out)?;
                writeln!(out)?;
            }
            if !changes.rows.is_empty() {
                columns(&changes, look, out)?;
                writeln!(out)?;
            }
            if !tracks.is_empty() {
                columns(&levels(timeline, tracks), look, out)?;
                writeln!(out)?;
            }
            remarks(timeline, asked).iter().try_for_each(|remark| wrapped::hanging(remark, 2, look.sentences(), out))
        }
    }
}

/// What happened to the reports of these files; of the entries the cells are not read.
pub fn write_added(
    files: &[PathBuf],
    added: &[(i64, Added)],
    entries: &[Entry],
    out: &mut dyn Write,
) -> io::Result<()> {
    let reports = reports(entries);
    for (file, (id, added)) in files.iter().zip(added) {
        let how = match added {
            Added::New => "added",
            Added::Later => "replaced the earlier state of its sweep",
            Added::Same => "was there already; nothing changed",
            Added::Earlier => "a later state of its sweep is there; nothing changed",
        };
        write!(out, "report {id}: {}, {how}", plain(&file.display().to_string()))?;
        let row = reports.rows.iter().find(|row| row.data[0].number == Some(*id as f64));
        let changed = row.and_then(|row| row.data.last()).filter(|changed| changed.text != "-");
        match (added, changed) {
            (Added::New | Added::Later, Some(changed)) => {
                writeln!(out, "; changed since the report before it: {}", plain(&changed.text))?;
            }
            _ => writeln!(out)?,
        }
    }
    Ok(())
}

/// The words of people for what programs know by its name.
const COLUMNS: [(&str, &str); 3] = [("began", "started"), ("no number", "no result"), ("what changed", "changes")];

fn columns(table: &Table, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let mut table = table.clone();
    for name in &mut table.heading {
        if let Some((_, word)) = COLUMNS.iter().find(|(known, _)| known == name) {
            *name = (*word).to_owned();
        }
    }
    term::text(&[Block::table(&table)], look, out)
}

/// Numbers in base units; what is not known is an empty field.
fn csv(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    record(out, table.heading.iter().map(|name| key(name)))?;
    for row in &table.rows {
        let field = |datum: &Datum| match datum {
            Datum { number: Some(number), .. } => number.to_string(),
            Datum { text, .. } if text == "-" => String::new(),
            Datum { text, .. } => harmless(text),
        };
        record(out, row.data.iter().map(field))?;
    }
    Ok(())
}

fn objects(table: &Table) -> Vec<Map<String, Value>> {
    let value = |datum: &Datum| match datum {
        Datum { number: Some(number), .. } if number.fract() == 0.0 && number.abs() < 1e15 => (*number as i64).into(),
        Datum { number: Some(number), .. } => (*number).into(),
        Datum { text, .. } if text == "-" => Value::Null,
        Datum { text, .. } => text.as_str().into(),
    };
    let object = |data: &[Datum]| table.heading.iter().map(|name| key(name)).zip(data.iter().map(value)).collect();
    table.rows.iter().map(|row| object(&row.data)).collect()
}

fn key(name: &str) -> String {
    name.replace(' ', "_")
}

fn schema(name: &str) -> Value {
    object!({ "name": name, "major": 1, "minor": 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::{EVIL, assert_inert, written};
    use charz_claims::history::fixtures::entries;

    fn shown(change: impl Fn(&mut Entry), format: Tables, width: usize) -> String {
        let look = TerminalStyle { columns: width, tables: width, ..TerminalStyle::PLAIN };
        let mut entries = entries();
        entries.iter_mut().for_each(change);
        let timeline = Timeline::new(&entries);
        let tracks: Vec<&Track<'_>> = timeline.tracks.iter().collect();
        written(|out| write_plot(&timeline, &tracks, &tracks, format, &look, out))
            + &written(|out| write_list(timeline.entries, format, &look, out))
    }

    #[test]
    fn hostile_names_steer_nothing() {
        let spoil = |entry: &mut Entry| {
            entry.label = Some(EVIL.into());
            entry.report.host.kernel = Some(format!("{EVIL}{}", entry.id / 13));
            for cell in &mut entry.report.cells {
                (cell.kernel, cell.mapping) = (EVIL.into(), EVIL.into());
                cell.reason = Some(EVIL.into());
            }
        };
        for format in FORMATS.iter().map(|format| format.write) {
            let text = shown(spoil, format, 100);
            assert_inert("history", &text);
            assert!(text.contains("script"), "{text}");
            if format == Tables::Csv {
                let mut rows = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
                assert!(rows.records().all(|row| row.unwrap().iter().all(|field| !field.starts_with('='))), "{text}");
            }
        }
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in [60, 100] {
            let text = shown(|_| (), Tables::Columns, width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        }
    }

    /// Of the gap in the eleventh report, and of the change around it.
    #[test]
    fn json_and_csv_have_the_numbers_and_none_for_a_gap() {
        let text = shown(|_| (), Tables::Json, 100);
        let told: Vec<Value> = serde_json::Deserializer::from_str(&text).into_iter().map(Result::unwrap).collect();
        let [plot, list] = told.as_slice() else { panic!("{text}") };
        assert_eq!((plot["values"].as_array().unwrap().len(), &plot["reports"]), (40, &list["reports"]));
        let gap = plot["values"].as_array().unwrap().iter().find(|value| value["report"] == 11).unwrap();
        assert_eq!((&gap["value"], &gap["status"]), (&Value::Null, &"invalid".into()));
        let change = &plot["changes"][0];
        assert_eq!((&change["last_before"], &change["first_after"]), (&10.into(), &13.into()));
        let text = shown(|_| (), Tables::Csv, 100);
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        let headers = reader.headers().unwrap().clone();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).take(40).collect();
        let column = |row: usize, name| &rows[row][headers.iter().position(|header| header == name).unwrap()];
        assert_eq!((column(10, "value"), column(10, "low"), column(10, "level")), ("", "", ""));
        assert_eq!((column(9, "level"), column(12, "level"), column(12, "unit")), ("1", "2", "B/s"));
    }
}
