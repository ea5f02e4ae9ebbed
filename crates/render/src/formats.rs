//! The formats of reports, pages and figures: one each in [`FORMATS`].

use std::io::{self, Write};

use super::look::TerminalStyle;
use super::report::csv;
use super::{html, hyperfine, json, markdown, openmetrics, picture, term, trackers};
use charz_analysis::figure::Figure;
use charz_analysis::page::Page;
use charz_data::report::{File, Report};
use charz_estimate::Estimates;
use charz_words::findings::findings;

/// One way to show something. The first of a list is the default.
#[derive(Clone, Copy, Debug)]
pub struct Format<W = Draw> {
    /// The word on the command line.
    pub name: &'static str,
    /// What it is for; empty where the name is enough.
    pub about: &'static str,
    pub write: W,
}

#[derive(Clone, Copy, Debug)]
pub enum Draw {
    /// A report for people; a line may follow it.
    Report(fn(&Report, &TerminalStyle, &mut dyn Write) -> io::Result<()>),
    /// A report for programs.
    Record(fn(&Report, &mut dyn Write) -> io::Result<()>),
    /// The runs of a user's program, for programs; of other reports it has none.
    Program(fn(&Report, &mut dyn Write) -> io::Result<()>),
    /// The rows of one report or several, for programs.
    Rows(fn(&[&Report], &mut dyn Write) -> io::Result<()>),
    /// The page of one report or several.
    Page(fn(&Page, &TerminalStyle, &mut dyn Write) -> io::Result<()>),
    /// A single figure of a page.
    Figure(fn(&Figure, &mut dyn Write) -> io::Result<()>),
    /// A single figure of a page, as bytes that are not text.
    Binary(fn(&Figure, &mut dyn Write) -> io::Result<()>),
}

impl Draw {
    /// Whether it shows a page, or a figure of one.
    pub fn is_of_page(&self) -> bool {
        matches!(self, Draw::Page(_) | Draw::Figure(_) | Draw::Binary(_))
    }
}

/// Writes the report of a sweep that has ended.
pub trait ReportWriter {
    /// Whether people read it; a line may then follow it.
    fn for_people(&self) -> bool;

    fn write(&self, report: &Report, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()>;
}

impl ReportWriter for Format {
    fn for_people(&self) -> bool {
        matches!(self.write, Draw::Report(_))
    }

    fn write(&self, report: &Report, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
        match self.write {
            Draw::Report(write) => write(report, look, out),
            Draw::Record(write) | Draw::Program(write) => write(report, out),
            Draw::Rows(write) => write(&[report], out),
            _ => Err(io::Error::other(format!("{} does not show a single report", self.name))),
        }
    }
}

/// What a sweep prints.
pub const SUMMARY: &Format = &Format {
    name: "summary",
    about: "the answer on one screen: machine, quality, one row per kernel, what to do",
    write: Draw::Report(term::answer),
};

/// Every table; what a sweep prints with -v.
pub const TABLE: &Format = &Format {
    name: "table",
    about: "the page as text: every number in tables, with every warning and finding",
    write: Draw::Report(term::tables),
};

pub const CSV: &Format = &Format {
    name: "csv",
    about: "one row per configuration; of one report or several",
    write: Draw::Rows(csv::write),
};

pub const JSON: &Format = &Format {
    name: "json",
    about: "the report itself",
    write: Draw::Record(|report, out| {
        json::write_pretty_line(&File::of(report, &findings(&Estimates::of(report))), out)
    }),
};

/// The formats in which a sweep shows its report.
pub const SWEPT: [&Format; 4] = [SUMMARY, TABLE, CSV, JSON];

/// The formats in which other commands show the report that they have just measured.
pub const MEASURED: [&Format; 3] = [TABLE, CSV, JSON];

pub const FORMATS: &[Format] = &[
    *SUMMARY,
    *TABLE,
    Format {
        name: "html",
        about: "one file for a browser that needs nothing else: figures, findings, every point; of one report or several. It names the \
                host, its system, the command line and other programs; charz render --anonymous leaves them out",
        write: Draw::Page(html::write),
    },
    Format {
        name: "markdown",
        about: "findings and tables for a wiki or a merge request",
        write: Draw::Page(markdown::write),
    },
    Format { name: "svg", about: "one figure as a scalable picture", write: Draw::Figure(picture::svg) },
    Format {
        name: "png",
        about: "one figure as a bitmap, where charz was built with it",
        write: Draw::Binary(picture::png),
    },
    *CSV,
    Format {
        name: "runs-csv",
        about: "one row per run, for statistics of one's own; of one report or several",
        write: Draw::Rows(csv::write_runs),
    },
    *JSON,
    Format {
        name: "openmetrics",
        about: "the numbers for a node exporter's text file, in base units; -o FILE.prom replaces it at once",
        write: Draw::Record(openmetrics::write),
    },
    Format {
        name: "bmf",
        about: "the numbers for Bencher, as Bencher Metric Format; suspect ones end in -bencher-ignore",
        write: Draw::Record(trackers::bmf),
    },
    Format {
        name: "bigger-is-better",
        about: "rates for github-action-benchmark, whose tool is then customBiggerIsBetter; suspect ones are series of their own",
        write: Draw::Record(trackers::bigger_is_better),
    },
    Format {
        name: "smaller-is-better",
        about: "times for the same, whose tool is then customSmallerIsBetter",
        write: Draw::Record(trackers::smaller_is_better),
    },
    Format {
        name: "hyperfine",
        about: "the times of a program (--command) as hyperfine exports them, for its plot scripts",
        write: Draw::Program(hyperfine::write),
    },
];

#[cfg(test)]
pub(crate) mod tests;
