use std::io::{self, Write};

use super::look;
use charz_data::KNOWN_AS;
use charz_kernels::{Family, Kernel, Metric, WorkerCount};
use charz_render::grid::columns;
use charz_render::{json, wrapped};
use serde::Serialize;

pub type Format = charz_render::formats::Format<fn(&Of, &mut dyn Write) -> io::Result<()>>;

pub static FORMATS: &[Format] = &[
    Format { name: "table", about: "", write: table },
    Format { name: "json", about: "", write: |of, out| json::write_pretty_line(&of.rows(), out) },
];

/// What is shown.
pub enum Of {
    /// The families with how their kernels' names begin. Programs get all kernels.
    Index,
    All,
    Some(Vec<&'static dyn Kernel>),
}

impl Of {
    fn rows(&self) -> Vec<Row> {
        match self {
            Of::Index | Of::All => rows(),
            Of::Some(kernels) => kernels.iter().map(|kernel| Row::of(*kernel)).collect(),
        }
    }
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    family: &'static str,
    about: &'static str,
    counts: &'static str,
    one_is: String,
    beside: &'static str,
    parameters: Vec<String>,
    source: &'static str,
    by_default: bool,
    /// Operations or bytes of a worker.
    max_per_cycle: Option<f64>,
    contends: bool,
    workers: String,
    available: bool,
    unavailable_because: Option<String>,
}

impl Row {
    fn of(kernel: &'static dyn Kernel) -> Self {
        let card = kernel.card();
        let (counts, one_is) = match &card.metric {
            Metric::Ops(meaning) => ("ops", meaning.to_string()),
            Metric::Bytes(meaning) => ("bytes", meaning.to_string()),
            Metric::SerialTime(meaning) => ("time per op", meaning.to_string()),
            Metric::OpTime(meaning) => ("time per step", meaning.to_string()),
            Metric::TimePerGib(meaning) => ("time per GiB", meaning.to_string()),
            Metric::SecondTime => {
                let [first, second] = card.times.as_ref().map_or(["", ""], |times| [&times.first, &times.second]);
                ("times", format!("a pair of times: {first}; {second}, whose median is the number"))
            }
            Metric::Reported(from) => ("reported", from.to_string()),
            Metric::Duration => ("time", "the time of a run is of interest, no work is counted".to_owned()),
        };
        let obstacle = kernel.check().err().map(|error| error.to_string());
        Row {
            name: &card.name,
            family: card.family.name(),
            about: &card.about,
            counts,
            one_is,
            beside: &card.uncounted_traffic,
            parameters: card.params.iter().map(|param| format!("--{}", param.name)).collect(),
            source: &card.source,
            by_default: card.by_default,
            max_per_cycle: card.max_per_cycle,
            contends: card.contends,
            workers: match card.workers {
                WorkerCount::Any => "any number".to_owned(),
                WorkerCount::Exactly(number) => format!("exactly {number}"),
                WorkerCount::AtLeast(number) => format!("{number} or more"),
            },
            available: obstacle.is_none(),
            unavailable_because: obstacle,
        }
    }
}

fn rows() -> Vec<Row> {
    charz_kernels::kernels().map(Row::of).collect()
}

fn table(of: &Of, out: &mut dyn Write) -> io::Result<()> {
    let rows = of.rows();
    match (of, rows.as_slice()) {
        (Of::Index, rows) => index(rows, out),
        (Of::Some(_), [one]) => at_length(one, out),
        (Of::Some(_), rows) => {
            let rows: Vec<_> = rows.iter().map(|row| [row.name.to_owned(), row.about.to_owned()]).collect();
            columns(&["kernel", "what a thread does"], &[0, 1], &rows, out)
        }
        (Of::All, rows) => rows.iter().try_for_each(|row| at_length(row, out)),
    }
}

/// What a family measures, in a few words.
fn measures(family: Family) -> &'static str {
    match family {
        Family::Compute => "dependency chains, peak throughput",
        Family::Memory => "bandwidth, latency, page operations, allocators",
        Family::Sync => "locks, atomics, queues, wake-ups, barriers, core-to-core latency, thread creation",
        Family::Timer => "cost of reading clocks, lateness of timeouts",
        Family::Workload => "whole programs",
        Family::Program => "programs of yours",
        Family::Floor => "the cost of the apparatus",
    }
}

fn index(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    const WIDTH: usize = 110;
    let (families, kernels) = (charz_kernels::families().count(), rows.len());
    writeln!(
        out,
        "{kernels} kernels in {families} families (charz kernels FAMILY or NAME shows more, --all everything)"
    )?;
    for family in charz_kernels::families() {
        let of_family: Vec<&Row> = rows.iter().filter(|row| row.family == family.name()).collect();
        let mut names: Vec<String> = Vec::new();
        for kind in of_family.chunk_by(|one, next| stem(one.name) == stem(next.name)) {
            names.push(heading(kind));
        }
        let (measures, names) = (measures(family), names.join(" "));
        let line = format!("{measures}: {names}");
        if INDENT + line.len() <= WIDTH {
            wrapped::labelled(family.name(), INDENT, &line, WIDTH, out)?;
        } else {
            wrapped::labelled(family.name(), INDENT, measures, WIDTH, out)?;
            wrapped::labelled("", INDENT, &names, WIDTH, out)?;
        }
    }
    let usual: Vec<&str> = rows.iter().filter(|row| row.by_default).map(|row| row.name).collect();
    writeln!(
        out,
        "default sweep: {}\na program of yours: charz sweep --command './bench --threads {{threads}}'\n\nKnown elsewhere as (--kernel takes these names too):",
        usual.join(" ")
    )?;
    let known = KNOWN_AS.iter().map(|known| format!("{}\u{a0}->\u{a0}{}", known.name, known.kernels.join(",\u{a0}")));
    // No line ends within a name and what it stands for.
    let mut text = Vec::new();
    wrapped::labelled("", 2, &known.collect::<Vec<_>>().join("; "), WIDTH, &mut text)?;
    out.write_all(String::from_utf8_lossy(&text).replace('\u{a0}', " ").as_bytes())
}

/// Columns before the text: the longest label and two blanks.
const INDENT: usize = 13;

fn at_length(row: &Row, out: &mut dyn Write) -> io::Result<()> {
    let width = look::paragraph();
    let here = match &row.unavailable_because {
        None => "runs here".to_owned(),
        Some(reason) => format!("cannot run here: {reason}"),
    };
    writeln!(out, "{} ({}, {here})", row.name, row.family)?;
    let contends = if row.contends { "; all write one cache line" } else { "" };
    for (label, text) in [
        ("", row.about.to_owned()),
        ("counts", format!("{}: {}", row.counts, row.one_is)),
        ("not counted", row.beside.to_owned()),
        ("threads", format!("{}{contends}", threads(&row.workers))),
        ("options", row.parameters.join(" ")),
        ("source", row.source.to_owned()),
        ("example", format!("charz sweep --kernel {}", row.name)),
    ] {
        if !text.is_empty() {
            wrapped::labelled(&format!("  {label}"), 2 + INDENT, &text, width, out)?;
        }
    }
    Ok(())
}

/// `any`, `2`, `2 or more`.
fn threads(workers: &str) -> &str {
    match workers {
        "any number" => "any",
        workers => workers.trim_start_matches("exactly "),
    }
}

pub fn markdown() -> String {
    let rows = rows();
    let mut text = "# Kernels\n\nGenerated by `cargo xtask docs` from the catalog. `charz kernels` says which kernels can run on a \
                    machine, and why the others cannot. How they measure: [methodology](methodology.md).\n\n\
                    Each part lists its kernels with what a worker does and what is special to each, then what several of them have \
                    in common: all, or those in brackets. The bound is what no core can exceed: a higher number is refused (V17). `*` marks the \
                    kernels of a sweep without flags.\n"
        .to_owned();
    for family in charz_kernels::families() {
        text += &format!("\n## {}\n", family.name());
        let of_family: Vec<&Row> = rows.iter().filter(|row| row.family == family.name()).collect();
        for kind in of_family.chunk_by(|one, next| stem(one.name) == stem(next.name)) {
            text += &part(kind);
        }
    }
    text
}

fn stem(name: &str) -> &str {
    name.split_once('-').map_or(name, |(stem, _)| stem)
}

/// The name, or how the names begin.
fn heading(kind: &[&Row]) -> String {
    match kind {
        [one] => one.name.to_owned(),
        _ => format!("{}-*", stem(kind[0].name)),
    }
}

type Fact = (&'static str, fn(&Row) -> String);

const FACTS: [Fact; 6] = [
    ("Counts", |row| format!("{}: {}", row.counts, row.one_is)),
    ("Not counted", |row| row.beside.to_owned()),
    ("Threads", |row| threads(&row.workers).to_owned()),
    ("Bound per cycle", |row| row.max_per_cycle.map(|max| max.to_string()).unwrap_or_default()),
    ("Parameters", |row| row.parameters.iter().map(|flag| format!("`{flag}`")).collect::<Vec<_>>().join(" ")),
    ("Source", |row| row.source.to_owned()),
];

fn part(kind: &[&Row]) -> String {
    let mut text = format!("\n### `{}`\n\n", heading(kind));
    for row in kind {
        let default = if row.by_default { "\\*" } else { "" };
        text += &format!("- `{}`{default}: {}\n", row.name, row.about);
        for (name, of) in FACTS {
            let value = of(row);
            let alone = kind.iter().filter(|other| of(other) == value).count() == 1;
            if alone && kind.len() > 1 && !value.is_empty() {
                text += &format!("  - {name}: {value}\n");
            }
        }
    }
    let shared: Vec<String> = FACTS.iter().filter_map(|(name, of)| shared(name, kind, *of)).collect();
    format!("{text}\n{}\n", shared.join("\\\n"))
}

/// A fact that several kernels have, once; `None` where there is none.
fn shared(name: &str, kind: &[&Row], of: fn(&Row) -> String) -> Option<String> {
    let mut values: Vec<(String, Vec<&str>)> = Vec::new();
    for row in kind {
        let value = of(row);
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, names)) => names.push(row.name),
            None => values.push((value, vec![row.name])),
        }
    }
    let several = |(value, names): &&(String, Vec<&str>)| !value.is_empty() && (names.len() > 1 || kind.len() == 1);
    let one = |(value, names): &(String, Vec<&str>)| match names.len() == kind.len() {
        true => value.clone(),
        false => format!("{value} ({})", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    };
    let told: Vec<String> = values.iter().filter(several).map(one).collect();
    (!told.is_empty()).then(|| format!("**{name}**: {}", told.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(of: &Of) -> String {
        let mut out = Vec::new();
        table(of, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_index_fits_on_a_screen_and_names_each_kernel_by_how_it_begins() {
        let index = shown(&Of::Index);
        assert!(index.lines().count() <= 24 && index.lines().all(|line| line.chars().count() <= 110), "{index}");
        let words: Vec<&str> = index.split_whitespace().collect();
        for row in rows() {
            let listed = words.contains(&row.name) || words.contains(&format!("{}-*", stem(row.name)).as_str());
            assert!(listed, "{} is not in the index: {index}", row.name);
        }
        for known in KNOWN_AS {
            assert!(words.contains(&known.name), "{}: {index}", known.name);
        }
    }

    #[test]
    fn one_kernel_has_a_few_lines_and_several_have_one_each() {
        let find = |name: &str| charz_kernels::find(name).unwrap();
        let one = shown(&Of::Some(vec![find("mem-triad")]));
        for word in ["mem-triad", "counts", "--size", "charz sweep --kernel mem-triad"] {
            assert!(one.contains(word), "{word}: {one}");
        }
        let several = shown(&Of::Some(vec![find("mem-copy"), find("mem-triad")]));
        assert_eq!(several.lines().count(), 3, "{several}");
        let all = shown(&Of::All);
        for row in rows() {
            assert!(all.lines().any(|line| line.starts_with(&format!("{} (", row.name))), "{}", row.name);
        }
        for (typed, threads_shown) in [("any number", "any"), ("exactly 1", "1"), ("2 or more", "2 or more")] {
            assert_eq!(threads(typed), threads_shown);
        }
    }
}
