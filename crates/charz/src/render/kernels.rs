//! The catalog of kernels.

use std::io::{self, Write};

use charz_kernels::{Counts, Crew, Kernel, Knob};
use serde::Serialize;

use super::grid;

/// A way to list the kernels.
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// Writes the list.
    pub write: fn(&mut dyn Write) -> io::Result<()>,
}

/// Every way.
pub const FORMATS: &[Format] = &[Format { name: "table", write: table }, Format { name: "json", write: json }];

#[derive(Serialize)]
struct Row {
    name: &'static str,
    family: &'static str,
    about: &'static str,
    counts: &'static str,
    one_is: String,
    beside: &'static str,
    parameters: Vec<&'static str>,
    source: &'static str,
    by_default: bool,
    /// Operations or bytes of a worker.
    most_per_cycle: Option<f64>,
    contends: bool,
    workers: String,
    available: bool,
    unavailable_because: Option<String>,
}

impl Row {
    fn of(kernel: &dyn Kernel) -> Self {
        let card = kernel.card();
        let (counts, one_is) = match card.counts {
            Counts::Ops(meaning) => ("ops", meaning.to_owned()),
            Counts::Bytes(meaning) => ("bytes", meaning.to_owned()),
            Counts::Turns(meaning) => ("time per op", meaning.to_owned()),
            Counts::Steps(meaning) => ("time per step", meaning.to_owned()),
            Counts::Handled(meaning) => ("time per GiB", meaning.to_owned()),
            Counts::Samples(first, second) => {
                ("times", format!("a pair of times: {first}; {second}, whose median is the number"))
            }
            Counts::Nothing => ("time", "the time of a run is of interest, no work is counted".to_owned()),
        };
        let obstacle = kernel.check().err().map(|error| error.to_string());
        Row {
            name: card.name,
            family: card.family.name(),
            about: card.about,
            counts,
            one_is,
            beside: card.beside,
            parameters: card.knobs.iter().map(|&knob| flag(knob)).collect(),
            source: card.source,
            by_default: card.by_default,
            most_per_cycle: card.most_per_cycle,
            contends: card.contends,
            workers: match card.crew {
                Crew::Any => "any number".to_owned(),
                Crew::Exactly(number) => format!("exactly {number}"),
                Crew::AtLeast(number) => format!("{number} or more"),
            },
            available: obstacle.is_none(),
            unavailable_because: obstacle,
        }
    }
}

fn flag(knob: Knob) -> &'static str {
    match knob {
        Knob::Iterations => "--iterations",
        Knob::Size => "--size",
        Knob::Pages => "--pages",
        Knob::Stride => "--stride",
        Knob::Chains => "--chains",
        Knob::Delay => "--delay",
        Knob::Layout => "--layout",
        Knob::Samples => "--samples",
        Knob::Span => "--span",
        Knob::Sections => "--critical, --parallel",
        Knob::Period => "--period",
        Knob::Timeout => "--timeout",
    }
}

fn rows() -> Vec<Row> {
    charz_kernels::kernels().map(Row::of).collect()
}

fn table(out: &mut dyn Write) -> io::Result<()> {
    for row in rows() {
        let here = match &row.unavailable_because {
            None => "runs here".to_owned(),
            Some(reason) => format!("cannot run here: {reason}"),
        };
        writeln!(out, "{} ({}, {here})", row.name, row.family)?;
        writeln!(out, "    {}", row.about)?;
        writeln!(out, "    counts {}: {}", row.counts, row.one_is)?;
        if !row.beside.is_empty() {
            writeln!(out, "    beside that: {}", row.beside)?;
        }
        if let Some(most) = row.most_per_cycle {
            writeln!(out, "    more than {most} {} a cycle and worker would be a mistake", row.counts)?;
        }
        if row.contends {
            writeln!(out, "    its workers fight for one line of memory")?;
        }
        writeln!(out, "    takes {} workers", row.workers)?;
        if !row.parameters.is_empty() {
            writeln!(out, "    obeys {}", row.parameters.join(", "))?;
        }
    }
    Ok(())
}

fn json(out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &rows())?;
    writeln!(out)
}

/// The page `docs/kernels.md`. Whether a kernel can run depends on the machine and is left out.
pub fn markdown() -> String {
    let rows = rows()
        .into_iter()
        .map(|row| {
            let default = if row.by_default { "yes" } else { "" };
            vec![
                format!("`{}`", row.name),
                row.family.into(),
                row.about.into(),
                format!("{}: {}", row.counts, row.one_is),
                row.beside.into(),
                row.workers,
                row.most_per_cycle.map(|most| most.to_string()).unwrap_or_default(),
                row.parameters.iter().map(|flag| format!("`{flag}`")).collect::<Vec<_>>().join(" "),
                default.into(),
                row.source.into(),
            ]
        })
        .collect();
    let header = [
        "kernel",
        "family",
        "what a worker does",
        "what is counted",
        "beside that",
        "workers",
        "bound a cycle",
        "obeys",
        "default",
        "source",
    ];
    format!(
        "# Kernels\n\nGenerated by `cargo xtask docs` from the catalog. `charz kernels` says which of them can run on a \
         machine, and why the others cannot.\n\n{}",
        grid::markdown(&header, rows)
    )
}
