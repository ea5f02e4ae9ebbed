//! Samples of all CPUs: one format a line in [`FORMATS`].

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::{Map, Value, json as object};

use super::look;
use charz_data::cpulist;
use charz_data::escape::plain;
use charz_data::units;
use charz_render::report::csv::{harmless, record};
use charz_render::{grid, json};
use charz_system::per_cpu::calls;
use charz_topology::{Machine, Strand};

/// Writes a sample; the first one has the number 0.
pub type Format = charz_render::formats::Format<fn(&Told, usize, &Machine, &mut dyn Write) -> io::Result<()>>;

pub static FORMATS: &[Format] = &[
    Format {
        name: "table",
        about: "a row per CPU or group; on a terminal, without --key, --groups and --top, the heat map",
        write: usual,
    },
    Format { name: "heat", about: "each CPU as a mark by how busy it is, in the order of the hardware", write: heat },
    Format { name: "json", about: "one line per sample", write: write_json },
    Format { name: "csv", about: "one row per CPU or group and sample", write: csv },
];

/// The columns by which rows can be sorted: percentages of the interval, then numbers a second.
pub const COLUMNS: &[&str] =
    &["usr", "sys", "irq", "soft", "wt", "st", "idl", "busy", "rundelay", "intr", "xcal", "res", "cal", "tlb", "csw"];

/// The first columns, which make the whole interval together, and those of them in which a CPU is busy.
pub const SHARES: usize = 7;
const BUSY: usize = 4;

/// A sample.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Seconds since 1970.
    pub t: f64,
    pub interval_s: f64,
    pub rows: Vec<Row>,
    /// Percent of all CPUs, of which `rows` may have a few; `None` where none was counted.
    pub busy: Option<f64>,
    /// The threads of a process, in place of CPUs.
    pub threads: Option<Vec<Thread>>,
    /// Percent of a CPU of threads of the process that ended during the interval.
    pub ended: f64,
    /// The kinds of softirqs, in the order of the rows'.
    pub softirqs: Vec<String>,
    /// Columns, each with the reason.
    pub missing: Vec<(String, String)>,
    /// CPUs that went or came.
    pub changed: Vec<u32>,
    /// The CPU time of taking it.
    pub cost_ns: u64,
}

/// A CPU, or the mean of several.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub cpu: u32,
    pub name: String,
    /// Percent of the interval, in the order of [`COLUMNS`]; `None` where nothing was counted.
    pub shares: Option<[f64; SHARES]>,
    pub intr: Option<f64>,
    /// In the order of [`calls`].
    pub calls: Option<[f64; 3]>,
    pub csw: Option<f64>,
    pub rundelay: Option<f64>,
    pub softirqs: Vec<f64>,
}

#[derive(Clone, Debug)]
pub struct Thread {
    pub tid: u32,
    pub name: String,
    /// The CPU that it ran on last.
    pub cpu: Option<u32>,
    /// Those that it may run on: one where it has a seat.
    pub allowed: Vec<u32>,
    /// Percent of a CPU.
    pub busy: f64,
}

impl Row {
    pub fn value(&self, column: &str) -> Option<f64> {
        if let Some(at) = COLUMNS[..SHARES].iter().position(|name| *name == column) {
            return self.shares.map(|shares| shares[at]);
        }
        match column {
            "busy" => self.busy(),
            "rundelay" => self.rundelay,
            "intr" => self.intr,
            // Shootdowns are among the calls of functions.
            "xcal" => self.calls.map(|[res, cal, _]| res + cal),
            "csw" => self.csw,
            other => Some(self.calls?[calls().iter().position(|name| *name == other)?]),
        }
    }

    pub fn busy(&self) -> Option<f64> {
        Some(self.shares?[..BUSY].iter().sum())
    }

    pub fn mean(name: String, rows: &[Row]) -> Row {
        let count = rows.len().max(1) as f64;
        let known = |of: &dyn Fn(&Row) -> Option<f64>| rows.iter().map(of).sum::<Option<f64>>().map(|sum| sum / count);
        let shares: Vec<[f64; SHARES]> = rows.iter().filter_map(|row| row.shares).collect();
        let mean = |at: usize| shares.iter().map(|shares| shares[at]).sum::<f64>() / shares.len() as f64;
        let [res, cal, tlb] = [0, 1, 2].map(|at| known(&|row| Some(row.calls?[at])));
        Row {
            cpu: rows.first().map_or(0, |row| row.cpu),
            name,
            shares: (!shares.is_empty()).then(|| std::array::from_fn(mean)),
            intr: known(&|row| row.intr),
            calls: res.zip(cal).zip(tlb).map(|((res, cal), tlb)| [res, cal, tlb]),
            csw: known(&|row| row.csw),
            rundelay: known(&|row| row.rundelay),
            softirqs: (0..rows.first().map_or(0, |row| row.softirqs.len()))
                .map(|at| rows.iter().filter_map(|row| row.softirqs.get(at)).sum::<f64>() / count)
                .collect(),
        }
    }
}

fn usual(told: &Told, at: usize, machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
    let whole = told.threads.is_none() && told.rows.len() == machine.strands.len() && told.rows.len() > MOST_ROWS;
    if whole && look::is_terminal() { heat(told, at, machine, out) } else { table(told, at, machine, out) }
}

/// The most CPUs that a terminal has one by one.
const MOST_ROWS: usize = 16;

fn table(told: &Told, at: usize, _: &Machine, out: &mut dyn Write) -> io::Result<()> {
    if at > 0 {
        writeln!(out)?;
    }
    let style = &look::of_stdout();
    if let Some(threads) = &told.threads {
        let seat = |thread: &Thread| match (&thread.allowed[..], thread.cpu) {
            ([seat], Some(cpu)) if *seat == cpu => "on its CPU".to_owned(),
            ([_], _) => "not on its CPU".to_owned(),
            _ => "not bound".to_owned(),
        };
        let rows: Vec<[String; 6]> = threads
            .iter()
            .map(|thread| {
                let cpu = thread.cpu.map_or("-".into(), |cpu| cpu.to_string());
                let busy = format!("{:.0}", thread.busy);
                [thread.tid.to_string(), plain(&thread.name), cpu, busy, cpulist::shown(&thread.allowed), seat(thread)]
            })
            .collect();
        grid::columns(&["TID", "name", "CPU", "busy%", "allowed", "seat"], &[1, 4, 5], &[0], &rows, style, out)?;
        if told.ended > 0.0 {
            writeln!(out, "threads that ended meanwhile were busy for {:.0}% of a CPU", told.ended)?;
        }
    } else {
        let shown = ["usr", "sys", "irq", "soft", "wt", "st", "idl", "rundelay", "intr", "xcal", "csw"];
        let is_known = |column: &&str| told.rows.iter().any(|row| row.value(column).is_some());
        // Of shares that are missing there is no other word.
        let known: Vec<&str> =
            shown.into_iter().filter(|column| COLUMNS[..SHARES].contains(column) || is_known(column)).collect();
        let cell = |row: &Row, column: &str| row.value(column).map_or("-".to_owned(), |value| format!("{value:.0}"));
        let rows: Vec<Vec<String>> = told
            .rows
            .iter()
            .map(|row| [row.name.clone()].into_iter().chain(known.iter().map(|column| cell(row, column))).collect())
            .collect();
        let heading: Vec<&str> = ["CPU"].into_iter().chain(known).collect();
        grid::columns(&heading, &[], &[], &rows, style, out)?;
    }
    foot(told, at, out)
}

/// What cannot be seen, once, and what went on.
fn foot(told: &Told, at: usize, out: &mut dyn Write) -> io::Result<()> {
    if !told.changed.is_empty() {
        writeln!(out, "{} went offline or came back meanwhile", cpulist::cpus(&told.changed))?;
    }
    let cost = units::nanos(told.cost_ns as f64);
    let share = told.cost_ns as f64 / 1e9 / told.interval_s;
    writeln!(out, "{:.2} s; taking the sample cost {cost}, {} of a CPU", told.interval_s, units::percent(share))?;
    if at == 0 && !told.missing.is_empty() {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for (column, reason) in &told.missing {
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, columns)) => columns.push(column),
                None => reasons.push((reason, vec![column])),
            }
        }
        let told: Vec<String> =
            reasons.iter().map(|(reason, columns)| format!("{} ({reason})", columns.join(", "))).collect();
        charz_render::wrapped::hanging(
            &format!("not available: {}", told.join("; ")),
            2,
            look::of_stdout().sentences(),
            out,
        )?;
    }
    Ok(())
}

/// From idle to busy.
const MARKS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A line per NUMA node, folded at the terminal's width; a gap between cores of more than one CPU.
fn heat(told: &Told, at: usize, machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
    let is_of_cpus = told.rows.iter().all(|row| row.name == row.cpu.to_string());
    if told.threads.is_some() || !is_of_cpus {
        return table(told, at, machine, out);
    }
    let style = look::of_stdout();
    let mark = |row: &Row| {
        let Some(busy) = row.busy().map(|busy| busy.clamp(0.0, 100.0)) else { return '-' };
        match style.unicode {
            true => MARKS[(busy / 100.0 * 8.0).round() as usize],
            // From 0 to 9.
            false => char::from(b'0' + (busy / 100.0 * 9.0).round() as u8),
        }
    };
    let strands: HashMap<u32, &Strand> = machine.strands.iter().map(|strand| (strand.os_id, strand)).collect();
    let is_threaded = machine.cores.iter().any(|core| core.strands > 1);
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut last = None;
    for row in &told.rows {
        let strand = strands.get(&row.cpu);
        let of = |index: Option<u32>| index.map_or(String::new(), |index| index.to_string());
        let place = strand.map_or((String::new(), String::new()), |strand| {
            (of(strand.package), of(strand.numa.map(|node| machine.node_id(node))))
        });
        let name = format!("socket {} node {}", place.0, place.1);
        if lines.last().is_none_or(|(known, _)| *known != name) {
            lines.push((name, String::new()));
            last = None;
        }
        let core = strand.and_then(|strand| strand.core);
        if let Some((_, marks)) = lines.last_mut() {
            if is_threaded && last.is_some_and(|last| last != core) {
                marks.push(' ');
            }
            marks.push(mark(row));
        }
        last = Some(core);
    }
    let room = style.columns.min(style.tables).saturating_sub(20).max(16);
    for (name, marks) in lines {
        let marks: Vec<char> = marks.chars().collect();
        for (at, part) in marks.chunks(room).enumerate() {
            let name = if at == 0 { name.as_str() } else { "" };
            writeln!(out, "{name:<18}  {}", part.iter().collect::<String>())?;
        }
    }
    writeln!(
        out,
        "{}% busy; {} idle to {} busy",
        told.busy.map_or("-".to_owned(), |busy| format!("{busy:.0}")),
        if style.unicode { '·' } else { '0' },
        if style.unicode { '█' } else { '9' }
    )?;
    foot(told, at, out)
}

fn write_json(told: &Told, _: usize, _: &Machine, out: &mut dyn Write) -> io::Result<()> {
    let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
    let row = |row: &Row| {
        let mut fields = Map::new();
        let is_cpu = row.name == row.cpu.to_string();
        fields.insert(
            if is_cpu { "cpu" } else { "group" }.into(),
            if is_cpu { row.cpu.into() } else { row.name.clone().into() },
        );
        for column in COLUMNS {
            if let Some(value) = row.value(column) {
                fields.insert((*column).to_owned(), rounded(value).into());
            }
        }
        if !row.softirqs.is_empty() {
            let kinds =
                told.softirqs.iter().zip(&row.softirqs).map(|(name, value)| (name.clone(), rounded(*value).into()));
            fields.insert("softirqs".into(), Value::Object(kinds.collect()));
        }
        Value::Object(fields)
    };
    let missing: Vec<Value> =
        told.missing.iter().map(|(column, reason)| object!({ "column": column, "reason": reason })).collect();
    let mut line = object!({
        "t": rounded(told.t),
        "interval_s": rounded(told.interval_s),
        "cpus": told.rows.iter().map(row).collect::<Vec<_>>(),
        "missing": missing,
        "changed": told.changed,
        "cost_ns": told.cost_ns,
    });
    if let (Some(threads), Some(fields)) = (&told.threads, line.as_object_mut()) {
        let thread = |thread: &Thread| {
            object!({
                "tid": thread.tid, "name": thread.name, "cpu": thread.cpu, "allowed": thread.allowed, "busy": rounded(thread.busy),
            })
        };
        fields.insert("threads".into(), threads.iter().map(thread).collect());
        fields.insert("ended_busy".into(), rounded(told.ended).into());
    }
    json::write_compact(&line, out)?;
    writeln!(out)
}

fn csv(told: &Told, at: usize, _: &Machine, out: &mut dyn Write) -> io::Result<()> {
    let number = |value: Option<f64>| value.map(|value| format!("{value:.3}")).unwrap_or_default();
    if let Some(threads) = &told.threads {
        if at == 0 {
            record(out, ["t", "tid", "name", "cpu", "allowed", "busy"])?;
        }
        if told.ended > 0.0 {
            let fields = [number(Some(told.t)), String::new(), "ended".to_owned(), String::new(), String::new()];
            record(out, fields.into_iter().chain([number(Some(told.ended))]))?;
        }
        return threads.iter().try_for_each(|thread| {
            let cpu = thread.cpu.map(|cpu| cpu.to_string()).unwrap_or_default();
            let fields = [number(Some(told.t)), thread.tid.to_string(), harmless(&thread.name), cpu];
            record(out, fields.into_iter().chain([cpulist::print(&thread.allowed), number(Some(thread.busy))]))
        });
    }
    if at == 0 {
        record(out, ["t", "interval_s", "cpu"].iter().chain(COLUMNS))?;
    }
    told.rows.iter().try_for_each(|row| {
        let head = [number(Some(told.t)), number(Some(told.interval_s)), harmless(&row.name)];
        record(out, head.into_iter().chain(COLUMNS.iter().map(|column| number(row.value(column)))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_a_group_knows_only_what_all_of_it_know() {
        let row = |usr, csw| Row { shares: Some([usr; SHARES]), csw, softirqs: vec![usr], ..Row::default() };
        let mean = Row::mean("x".into(), &[row(10.0, Some(4.0)), row(30.0, Some(8.0))]);
        assert_eq!((mean.value("usr").unwrap(), mean.csw, mean.softirqs[0]), (20.0, Some(6.0), 20.0));
        // A CPU of which nothing was counted is not idle.
        let mean = |rows: &[Row]| Row::mean("x".into(), rows).busy();
        assert_eq!((mean(&[row(10.0, None), Row::default()]), mean(&[Row::default()])), (Some(40.0), None));
        assert_eq!(Row::mean("x".into(), &[row(1.0, None), row(3.0, Some(8.0))]).csw, None);
    }

    #[test]
    fn every_column_can_be_a_key() {
        let row = Row {
            shares: Some([1.0; SHARES]),
            intr: Some(1.0),
            calls: Some([1.0, 2.0, 3.0]),
            csw: Some(1.0),
            rundelay: Some(1.0),
            ..Row::default()
        };
        assert!(COLUMNS.iter().all(|column| row.value(column).is_some()));
        assert_eq!(Row::default().value("idl"), None);
        assert_eq!((row.value("xcal"), row.value("tlb"), row.value("nonsense")), (Some(3.0), Some(3.0), None));
    }
}
