//! `charz replicate`: its flags, and the sweep that it makes.

use std::path::PathBuf;

use clap::Args;

use super::convert::{choice, sweep};
use super::flags::WhatArgs;
use super::layers::Layers;
use super::parameters::{AmountArgs, ParamArgs};
use super::presets::SquareArgs;
use super::{help, presets};
use crate::command::replicate::{Asked, Options};
use crate::exit::Error;
use charz_analysis::replicate::{DOCUMENTS, Document, Figure};
use charz_data::params;
use charz_render::replicate::FORMATS;

/// Run what a source document ran, and show each of its figures beside its own values
///
/// The documents are t3-4 (the SPARC T3-4 report), cmt (chip multi-threading), cascade (rings of mutexes), tacc (multi-core systems
/// in HPC) and solaris (its scalability). The program has their surviving values and citations. Every figure and table is listed by
/// its number: done, partly, not measured, or not possible with the reason; and each conclusion of the document is checked on this
/// machine. Worker counts are the document's, up to twice the strands.
///
/// The result is the report of a sweep, which charz sweep --resume finishes and charz render shows; --from reads a report that
/// exists, also of another machine.
#[derive(Debug, Args)]
#[command(mut_arg("budget", |budget| {
    budget.default_value("auto").help("The longest that it may take, with a unit, e.g. 90s, 10m; auto is a few minutes, by document")
}))]
pub(crate) struct ReplicateArgs {
    /// The document: t3-4, cmt, cascade, tacc or solaris
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: Option<String>,
    /// Only list the documents, or the figures of one and how far each can be replicated here
    #[arg(long, conflicts_with_all = ["from", "output", "force", "dry_run"])]
    pub(crate) list: bool,
    /// Read this report instead of measuring
    #[arg(long, value_name = "REPORT", conflicts_with_all = ["output", "force", "dry_run"])]
    pub(crate) from: Option<PathBuf>,
    /// Only these figures, by number: 5, figure-5, table-2, separated by commas
    #[arg(long, value_name = "FIGURE,…", allow_hyphen_values = true)]
    pub(crate) only: Vec<String>,
    /// Steps of the loop per worker and repetition in compute kernels: auto, or a number
    ///
    /// auto takes as many as the budget allows, at most 100,000,000. The T3-4 report took 1,000,000,000.
    #[arg(long, value_name = "N", default_value = "auto", allow_hyphen_values = true)]
    pub(crate) iterations: String,
    /// Pairs of times per repetition where each is stamped: auto, or a number
    ///
    /// auto takes as many as the budget allows, at most 10,000; for t3-4 always 10,000, which add up to its 100,000.
    #[arg(long, value_name = "N", default_value = "auto", allow_hyphen_values = true)]
    pub(crate) samples: String,
    /// Length of a repetition that runs for a given time: auto, or e.g. 20ms
    #[arg(long, value_name = "TIME", default_value = "auto", allow_hyphen_values = true)]
    pub(crate) span: String,
    /// Let up to K times as many workers as strands contend
    #[arg(long, value_name = "K", default_value = "1", allow_hyphen_values = true)]
    pub(crate) oversubscribe: String,
    /// Run such cells also where the kernel is set to panic on a lockup
    #[arg(long)]
    pub(crate) accept_panic: bool,
    #[command(flatten)]
    pub(crate) sweep: SquareArgs,
    /// The clock: os, tsc, or auto, as for charz sweep
    #[arg(long, default_value = "auto")]
    pub(crate) clock: String,
    /// What binds workers to seats: hwloc, or core-affinity
    #[arg(long, default_value = "hwloc")]
    pub(crate) binder: String,
    #[arg(long, default_value = "table", help = help::formats(FORMATS.iter().map(|f| f.name)))]
    pub(crate) format: String,
}

pub(super) fn replicate(args: ReplicateArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<Options, Error> {
    let names = || DOCUMENTS.iter().map(|document| (document.citation.name.as_str(), document));
    let Some(name) = &args.document else {
        let names: Vec<&str> = names().map(|(name, _)| name).collect();
        return match args.list {
            true => Ok(Options::Documents),
            false => Err(Error::bad_input(format!(
                "which document? choose from {}; charz replicate --list shows their titles",
                names.join(", ")
            ))),
        };
    };
    let document = choice("charz replicate", name, names())?;
    let asked = Asked {
        document,
        figures: figures(document, &args.only)?,
        format: choice("--format", &args.format, FORMATS.iter().map(|format| (format.name, format)))?,
    };
    if args.list {
        return Ok(Options::List(asked));
    }
    if let Some(report) = args.from {
        return Ok(Options::From { asked, report });
    }
    let protocol = &document.protocol;
    let or_protocol = |text: String, own: &str| if text == "auto" { own.to_owned() } else { text };
    // The kernels, mappings and worker counts follow from the document and the machine.
    let what = WhatArgs {
        amounts: AmountArgs::default()
            .with(&params::ITERATIONS, args.iterations)
            .with(&params::SAMPLES, or_protocol(args.samples, &protocol.samples))
            .with(&params::SPAN, args.span),
        oversubscribe: args.oversubscribe,
        accept_panic: args.accept_panic,
        clock: args.clock,
        binder: args.binder,
        ..presets::what(&["noop"])
    };
    let mut square = args.sweep;
    square.budget = or_protocol(square.budget, &protocol.budget);
    let params = ParamArgs::default()
        .with(&params::LAYOUT, protocol.layout.clone())
        .with(&params::PERIOD, protocol.period.clone());
    let asked_sweep = presets::square(what, params, square);
    Ok(Options::Measure { asked, new: Box::new(sweep(asked_sweep, layers, notes)?) })
}

/// The named figures in the document's order; all if none is named. Since some numbers contain a comma, a text that is no number as
/// a whole is split.
fn figures(document: &'static Document, only: &[String]) -> Result<Vec<&'static Figure>, Error> {
    let all = || document.figures.iter();
    if only.is_empty() {
        return Ok(all().collect());
    }
    let mut wanted: Vec<&Figure> = Vec::new();
    for text in only {
        if let Some(figure) = all().find(|figure| figure.number.eq_ignore_ascii_case(text.trim())) {
            wanted.push(figure);
            continue;
        }
        for piece in text.split(',') {
            let named = all().find(|figure| is_named(figure, piece));
            let names = || all().map(|figure| (figure.number.as_str(), figure));
            wanted.push(named.map_or_else(|| choice("--only", piece, names()), Ok)?);
        }
    }
    Ok(all().filter(|figure| wanted.iter().any(|wanted| wanted.number == figure.number)).collect())
}

/// Compares letters and digits; a bare number is that of a figure.
fn is_named(figure: &Figure, text: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|mark| mark.is_alphanumeric()).collect::<String>().to_lowercase();
    let (number, text) = (plain(&figure.number), plain(text));
    !text.is_empty() && (number == text || number == format!("figure{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::quantities::tests::check_refused;

    #[track_caller]
    fn check(document: &str, only: &[&str], expected: &[&str]) {
        let only: Vec<String> = only.iter().map(|text| (*text).to_owned()).collect();
        let found = figures(charz_analysis::replicate::find(document).unwrap(), &only).unwrap();
        assert_eq!(found.iter().map(|figure| figure.number.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn figures_by_number() {
        check("t3-4", &["5"], &["Figure 5"]);
        check("t3-4", &["1,6"], &["Figure 1", "Figure 6"]);
        check("t3-4", &["figure-6,FIGURE 5", "Section 6.2"], &["Figure 5", "Figure 6", "Section 6.2"]);
        check("cmt", &["table2"], &["Table 2"]);
        check("solaris", &["vmtasks: ISM, T4-2"], &["vmtasks: ISM, T4-2"]);
        let document = charz_analysis::replicate::find("t3-4").unwrap();
        check_refused(figures(document, &["Figure 17".into()]), "Figure 1");
        check_refused(figures(document, &["5,".into()]), "\"\"");
    }
}
