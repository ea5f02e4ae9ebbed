//! The formats of reports, pages and figures: one each in [`FORMATS`].

use std::io::{self, Write};

use super::look::TerminalStyle;
use super::report::csv;
use super::{benchmark, html, json, markdown, openmetrics, picture, term};
use charz_analysis::figure::Figure;
use charz_analysis::page::Page;
use charz_data::report::Report;

#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub name: &'static str,
    pub about: &'static str,
    /// Whether people read it; a line may then follow it.
    pub for_people: bool,
    pub draw: Draw,
}

#[derive(Clone, Copy, Debug)]
pub enum Draw {
    Report(fn(&Report, &TerminalStyle, &mut dyn Write) -> io::Result<()>),
    /// The rows of one report or several, for programs.
    Rows(fn(&[&Report], &mut dyn Write) -> io::Result<()>),
    /// The page of one report or several.
    Page(fn(&Page, &TerminalStyle, &mut dyn Write) -> io::Result<()>),
    /// A single figure of a page.
    Figure(fn(&Figure, &mut dyn Write) -> io::Result<()>),
    /// A single figure of a page, as bytes that are not text.
    Binary(fn(&Figure, &mut dyn Write) -> io::Result<()>),
}

/// Writes the report of a sweep that has ended.
pub trait ReportWriter {
    /// Whether people read it; a line may then follow it.
    fn for_people(&self) -> bool;

    fn write(&self, report: &Report, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()>;
}

impl ReportWriter for Format {
    fn for_people(&self) -> bool {
        self.for_people
    }

    fn write(&self, report: &Report, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
        match self.draw {
            Draw::Report(write) => write(report, look, out),
            Draw::Rows(write) => write(&[report], out),
            _ => Err(io::Error::other(format!("{} does not show a single report", self.name))),
        }
    }
}

/// What a sweep prints.
pub const SUMMARY: &Format = &Format {
    name: "summary",
    about: "the answer on one screen: machine, quality, one row per kernel, what to do",
    for_people: true,
    draw: Draw::Report(term::answer),
};

/// Every table; what a sweep prints with -v.
pub const TABLE: &Format = &Format {
    name: "table",
    about: "every number in tables, with every warning and finding",
    for_people: true,
    draw: Draw::Report(term::tables),
};

pub const CSV: &Format = &Format {
    name: "csv",
    about: "one row per cell; of one report or several",
    for_people: false,
    draw: Draw::Rows(csv::write),
};

pub const JSON: &Format = &Format {
    name: "json",
    about: "the report itself",
    for_people: false,
    draw: Draw::Report(|report, _, out| json::write_pretty_line(report, out)),
};

/// The formats in which a sweep shows its report.
pub const SWEPT: [&Format; 4] = [SUMMARY, TABLE, CSV, JSON];

/// The formats in which other commands show the report that they have just measured.
pub const MEASURED: [&Format; 3] = [TABLE, CSV, JSON];

pub const FORMATS: &[Format] = &[
    *SUMMARY,
    *TABLE,
    Format {
        name: "term",
        about: "figures and findings for a terminal; of one report or several",
        for_people: true,
        draw: Draw::Page(term::write),
    },
    Format {
        name: "html",
        about: "one file for a browser that needs nothing else: figures, findings, every point; of one report or several",
        for_people: false,
        draw: Draw::Page(html::write),
    },
    Format {
        name: "markdown",
        about: "findings and tables for a wiki or a merge request",
        for_people: false,
        draw: Draw::Page(markdown::write),
    },
    Format {
        name: "svg",
        about: "one figure as a scalable picture",
        for_people: false,
        draw: Draw::Figure(picture::svg),
    },
    Format {
        name: "png",
        about: "one figure as a bitmap, where charz was built with it",
        for_people: false,
        draw: Draw::Binary(picture::png),
    },
    *CSV,
    Format {
        name: "runs-csv",
        about: "one row per run, for statistics of one's own; of one report or several",
        for_people: false,
        draw: Draw::Rows(csv::write_runs),
    },
    *JSON,
    Format {
        name: "openmetrics",
        about: "the numbers for a node exporter's text file, in base units; -o FILE.prom replaces it at once",
        for_people: false,
        draw: Draw::Report(|report, _, out| openmetrics::write(report, out)),
    },
    Format {
        name: "benchmark",
        about: "the numbers for a service that follows benchmarks, as Bencher Metric Format; suspect ones end in -bencher-ignore",
        for_people: false,
        draw: Draw::Report(|report, _, out| benchmark::write(report, out)),
    },
];

#[cfg(test)]
pub(crate) mod tests;
