use std::io::{self, Write};

use super::look;
use charz_data::params::{LAYOUT, MEMORY, MIX, PAGES, Param, SIZE};
use charz_data::{Card, KNOWN_AS, Params};
use charz_kernels::{Family, Kernel, Metric, WorkerCount};
use charz_render::grid::columns;
use charz_render::look::{LONGEST, TerminalStyle};
use charz_render::{json, wrapped};
use serde::Serialize;

pub type Format = charz_render::formats::Format<fn(&Of, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

pub static FORMATS: &[Format] = &[
    Format { name: "table", about: "", write: table },
    Format { name: "json", about: "", write: |of, _, out| json::write_pretty_line(&of.rows(), out) },
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
    #[serde(skip)]
    params: &'static [&'static Param],
    example: String,
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
            params: &card.params,
            example: example(card),
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

/// A command line with the parameters that the kernel is for, each with two values where a sweep may vary it. Where blocks lie
/// and how large they are is left to the sweep.
pub(crate) fn example(card: &Card) -> String {
    let is_own = |param: &&&Param| !param.is_amount() && ![SIZE, PAGES, MEMORY, LAYOUT, MIX].contains(param);
    let flag = |param: &&Param| {
        let usual = (param.show)(&Params::default());
        match param.example {
            example if example == usual => None,
            example if param.vary => Some(format!(" --{} {usual},{example}", param.name)),
            example => Some(format!(" --{} {example}", param.name)),
        }
    };
    let flags: String = card.params.iter().filter(is_own).filter_map(flag).take(2).collect();
    format!("charz sweep --kernel {}{flags}", card.name)
}

fn rows() -> Vec<Row> {
    charz_workloads::kernels().map(Row::of).collect()
}

fn table(of: &Of, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let rows = of.rows();
    match (of, rows.as_slice()) {
        (Of::Index, rows) => index(rows, if look.tables == usize::MAX { LONGEST } else { look.tables }, out),
        (Of::Some(_), [one]) => at_length(one, out),
        (Of::Some(_), rows) => {
            let rows: Vec<_> = rows.iter().map(|row| [row.name.to_owned(), row.about.to_owned()]).collect();
            columns(&["kernel", "what a thread does"], &[0, 1], &[], &rows, look, out)
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
        Family::Floor => "measurement overhead",
    }
}

fn index(rows: &[Row], width: usize, out: &mut dyn Write) -> io::Result<()> {
    let (families, kernels) = (charz_workloads::families().count(), rows.len());
    let counts = format!("{kernels} kernels in {families} families");
    wrapped::hanging(&format!("{counts} (charz kernels FAMILY or NAME shows more, --all everything)"), 2, width, out)?;
    for family in charz_workloads::families() {
        let of_family: Vec<&Row> = rows.iter().filter(|row| row.family == family.name()).collect();
        let mut names: Vec<String> = Vec::new();
        for row in &of_family {
            let kind: Vec<&Row> =
                of_family.iter().copied().filter(|other| stem(other.name) == stem(row.name)).collect();
            let name = heading(&kind);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let (measures, names) = (measures(family), names.join(" "));
        let line = format!("{measures}: {names}");
        if INDENT + line.len() <= width {
            wrapped::labelled(family.name(), INDENT, &line, width, out)?;
        } else {
            wrapped::labelled(family.name(), INDENT, measures, width, out)?;
            wrapped::labelled("", INDENT, &names, width, out)?;
        }
    }
    let usual: Vec<&str> = rows.iter().filter(|row| row.by_default).map(|row| row.name).collect();
    wrapped::hanging(&format!("default sweep: {}", usual.join(" ")), 2, width, out)?;
    wrapped::hanging("a program of yours: charz sweep --command './bench --threads {threads}'", 2, width, out)?;
    writeln!(out, "known elsewhere as (--kernel takes these names too):")?;
    // No line ends between a name and what it stands for.
    let known = KNOWN_AS.iter().map(|known| format!("{}\u{a0}->\u{a0}{}", known.name, known.kernels.join(", ")));
    let mut text = Vec::new();
    wrapped::labelled("", 2, &known.collect::<Vec<_>>().join("; "), width, &mut text)?;
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
    let bound = row.max_per_cycle.map(|max| {
        format!("{} per cycle and thread; where the clock is known, more is refused (V17)", significant(max))
    });
    let bound = bound.unwrap_or_default();
    wrapped::hanging(&format!("{} ({}, {here})", row.name, row.family), 2, width, out)?;
    let contends = if row.contends { "; they contend: more threads than CPUs only with --oversubscribed" } else { "" };
    for (label, text) in [
        ("", row.about.to_owned()),
        ("counts", format!("{}: {}", row.counts, row.one_is)),
        ("not counted", row.beside.to_owned()),
        ("threads", format!("{}{contends}", threads(&row.workers))),
        ("bound", bound),
        ("source", row.source.to_owned()),
        ("example", row.example.clone()),
    ] {
        if !text.is_empty() {
            wrapped::labelled(&format!("  {label}"), 2 + INDENT, &text, width, out)?;
        }
    }
    for (index, param) in row.params.iter().enumerate() {
        let label = if index == 0 { "  options" } else { "" };
        wrapped::labelled(label, 2 + INDENT, &option(param), width, out)?;
    }
    Ok(())
}

/// An option with its meaning, default and limits.
fn option(param: &Param) -> String {
    let usual = if param.auto { "auto".to_owned() } else { (param.show)(&Params::default()).replace(' ', "") };
    let limits = match param.quantity.range() {
        range if range.is_empty() => range,
        range => format!("; {range}"),
    };
    let details = if param.details.is_empty() { String::new() } else { format!(" {}", param.details) };
    format!("--{} {}: {} (default {usual}{limits}).{details}", param.name, param.value, param.about)
}

/// In three significant digits: `0.667`, `0.00833`, `6`.
fn significant(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

/// `any`, `2`, `2 or more`.
fn threads(workers: &str) -> &str {
    match workers {
        "any number" => "any",
        workers => workers.trim_start_matches("exactly "),
    }
}

/// The page `docs/kernels.md`: one line per kernel.
pub fn markdown() -> String {
    let rows = rows();
    let usual: Vec<String> = rows.iter().filter(|row| row.by_default).map(|row| format!("`{}`", row.name)).collect();
    let mut text = format!(
        "# Kernels\n\nGenerated by `cargo xtask docs` from the catalog: each kernel, the unit of its number (where empty, as above), and what one \
         thread does (`…` is where it differs from the line above). `charz kernels NAME` prints the rest, an example \
         too; `charz kernels --all` that of all. How they measure: [methodology](methodology.md).\n\n\
         A sweep without flags measures {}.\n",
        usual.join(", ")
    );
    for family in charz_workloads::families() {
        let of_family: Vec<&Row> = rows.iter().filter(|row| row.family == family.name()).collect();
        let width = of_family.iter().map(|row| row.name.len()).max().unwrap_or_default();
        text += &format!("\n## {}\n\n{}:\n\n```text\n", family.name(), measures(family));
        let mut before: Option<&Row> = None;
        for row in of_family {
            let unit = unit(row.counts);
            let shown = if before.is_some_and(|before| self::unit(before.counts) == unit) { "" } else { unit };
            text += &format!(
                "{:width$}  {shown:6}  {}\n",
                row.name,
                brief(row.about, before.map_or("", |before| before.about))
            );
            before = Some(row);
        }
        text += "```\n";
    }
    text
}

/// The base unit of a number, by what is counted.
fn unit(counts: &str) -> &'static str {
    match counts {
        "ops" => "op/s",
        "bytes" => "B/s",
        "time per GiB" => "ms/GiB",
        "reported" => "own",
        _ => "ns",
    }
}

/// The first clause of what a kernel does; of one that begins as the kernel before it, what differs.
fn brief(about: &str, before: &str) -> String {
    let first = clause(about);
    let alike: usize =
        about.chars().zip(before.chars()).take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum();
    let alike = match about[alike..].starts_with([',', ':', ';']) {
        true => alike + 1,
        false => about[..alike].rfind(' ').map_or(0, |at| at + 1),
    };
    let is_alike = about[..alike].split_whitespace().count() >= ALIKE || alike > first.len();
    match about[alike..].trim_start() {
        rest if is_alike && !rest.is_empty() => format!("…{}", clause(rest)),
        _ => first.to_owned(),
    }
}

/// The fewest words that two kernels begin with alike where the second is cut.
const ALIKE: usize = 4;

/// The text up to its first comma, colon, semicolon or bracket, but for lists of numbers.
fn clause(text: &str) -> &str {
    let ends = |(at, mark): &(usize, &str)| {
        let rest = &text[at + mark.len()..];
        mark.starts_with(' ')
            || rest.strip_prefix(' ').is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
    };
    let mut marks = text.char_indices().filter_map(|(at, mark)| match mark {
        ',' | ':' | ';' => Some((at, &text[at..=at])),
        ' ' if text[at..].starts_with(" (") => Some((at, &text[at..at + 2])),
        _ => None,
    });
    marks.find(ends).map_or(text, |(at, _)| &text[..at])
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(of: &Of) -> String {
        let mut out = Vec::new();
        table(of, &TerminalStyle::PLAIN, &mut out).unwrap();
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
    fn an_example_has_what_the_kernel_is_for() {
        for (name, flags) in [
            ("lock-striped", " --stripes 16,256 --inside-steps 0,100"),
            ("mem-triad", ""),
            ("cmt-compute", " --process fresh,warm"),
        ] {
            let shown = example(charz_workloads::find(name).unwrap().card());
            assert_eq!(shown, format!("charz sweep --kernel {name}{flags}"));
        }
    }

    #[test]
    fn one_kernel_has_a_few_lines_and_several_have_one_each() {
        let find = |name: &str| charz_workloads::find(name).unwrap();
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
        assert!(all.contains(" 0.667 per cycle") && !all.contains("0.6666"), "{all}");
        for (typed, threads_shown) in [("any number", "any"), ("exactly 1", "1"), ("2 or more", "2 or more")] {
            assert_eq!(threads(typed), threads_shown);
        }
    }

    #[test]
    fn the_page_has_a_line_per_kernel_and_says_what_prints_the_rest() {
        let page = markdown();
        for row in rows() {
            let lines = page.lines().filter(|line| line.split(' ').next() == Some(row.name));
            assert_eq!(lines.count(), 1, "{}", row.name);
        }
        for command in ["`charz kernels --all`", "`charz kernels NAME`"] {
            assert!(page.contains(command), "{page}");
        }
    }

    #[test]
    fn a_line_is_a_clause_or_what_differs() {
        for (about, before, line) in [
            ("reads std::time::Instant (twice), again", "", "reads std::time::Instant"),
            ("transforms 2, 4, ... up to 8 numbers, each alone", "", "transforms 2, 4, ... up to 8 numbers"),
            ("fills a block, once, with ones", "fills a block, once, with zeros", "…ones"),
            ("reads a clock, behind a fence", "reads a clock again", "…behind a fence"),
            ("waits for no thread by ppoll", "waits for no thread by poll", "…ppoll"),
            ("fills a block, once", "fills a room, once", "fills a block"),
        ] {
            assert_eq!(brief(about, before), line);
        }
    }
}
