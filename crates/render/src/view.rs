//! Every way to look at reports.

use charz_data::escape;
use std::io::{self, Write};

use super::look::Look;
use super::{bencher, html, markdown, openmetrics, picture, report, term};
use charz_analysis::figure::Figure;
use charz_analysis::page::Page;
use charz_data::report::Report;

/// A way to look at reports.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Its name.
    pub name: &'static str,
    /// What it is good for.
    pub about: &'static str,
    /// What it takes, and what writes it.
    pub draw: Draw,
}

/// What a view takes.
#[derive(Clone, Copy, Debug)]
pub enum Draw {
    /// A single report.
    Report(fn(&Report, &Look, &mut dyn Write) -> io::Result<()>),
    /// The page of one report or several.
    Page(fn(&Page, &Look, &mut dyn Write) -> io::Result<()>),
    /// A single figure of a page.
    Figure(fn(&Figure, &mut dyn Write) -> io::Result<()>),
    /// A single figure of a page, as bytes that are no text.
    Binary(fn(&Figure, &mut dyn Write) -> io::Result<()>),
}

/// Every way; those of a single report are told again from [`report::FORMATS`].
pub fn views() -> Vec<View> {
    let of_report = report::FORMATS.iter().map(|format| View {
        name: format.name,
        about: format.about,
        draw: Draw::Report(format.write),
    });
    of_report.chain(VIEWS.iter().copied()).collect()
}

const VIEWS: &[View] = &[
    View {
        name: "html",
        about: "one file for a browser that needs nothing else: figures, findings, every point; of one report or several",
        draw: Draw::Page(html::write),
    },
    View {
        name: "term",
        about: "figures and findings for a terminal; of one report or several",
        draw: Draw::Page(term::write),
    },
    View {
        name: "markdown",
        about: "findings and tables for a wiki or a merge request",
        draw: Draw::Page(markdown::write),
    },
    View { name: "figures", about: "the names of the figures, for --figure", draw: Draw::Page(figures) },
    View { name: "svg", about: "one figure as a scalable picture", draw: Draw::Figure(picture::svg) },
    View {
        name: "png",
        about: "one figure as a bitmap, where charz was built with it",
        draw: Draw::Binary(picture::png),
    },
    View {
        name: "openmetrics",
        about: "the numbers for a node exporter's text file, in base units; -o FILE.prom replaces it at once",
        draw: Draw::Report(|report, _, out| openmetrics::write(report, out)),
    },
    View {
        name: "bencher",
        about: "the numbers as Bencher Metric Format; suspect ones end in -bencher-ignore",
        draw: Draw::Report(|report, _, out| bencher::write(report, out)),
    },
    View {
        name: "github-bigger",
        about: "the numbers for github-action-benchmark of which more is better: customBiggerIsBetter",
        draw: Draw::Report(|report, _, out| bencher::write_bigger(report, out)),
    },
    View {
        name: "github-smaller",
        about: "those of which less is better: customSmallerIsBetter",
        draw: Draw::Report(|report, _, out| bencher::write_smaller(report, out)),
    },
];

fn figures(page: &Page, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 2]> =
        page.figures().map(|figure| [figure.id.clone(), escape::plain(&figure.title)]).collect();
    super::grid::columns(&["figure", "shows"], &[0, 1], &rows, out)
}

#[cfg(test)]
pub(crate) mod tests;
