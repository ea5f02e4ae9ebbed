//! `charz replicate`: its flags, and the sweep that it makes.

use std::path::PathBuf;

use clap::{Args, Command, Id};

use super::choice::choice;
use super::counters::CountersArgs;
use super::format::{FormatArgs, takes_one};
use super::groups::{OversubscribedArgs, RunArgs, WhatArgs, budget};
use super::help;
use super::layers::Layers;
use super::named;
use super::parameters::AmountArgs;
use super::quantities::time;
use super::sweep::{SweepArgs, preset, sweep};
use crate::command::replicate::{Options, Selection};
use crate::exit::Error;
use charz_data::params;
use charz_measure::plan::Budget;
use charz_render::replicate::{DOCUMENT_LISTS, FORMATS};
use charz_replicate::{DOCUMENTS, Document, Figure};

#[derive(Debug, Args)]
#[command(mut_arg("budget", |arg| budget(arg, "auto").long_help(help::PLANNED_BUDGET)))]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
pub(crate) struct ReplicateArgs {
    /// The document: t3-4, cmt, cascade, tacc or solaris
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: Option<String>,
    /// Only list the documents, or the figures of one and how far each can be replicated here
    #[arg(long, conflicts_with_all = measuring().chain(["from".into()]))]
    pub(crate) list: bool,
    /// Read this report instead of measuring; - is standard input, last the newest report in this folder
    #[arg(long, value_name = "REPORT", conflicts_with_all = measuring())]
    pub(crate) from: Option<PathBuf>,
    /// The report of a machine to compare with that of --from, where the document compares machines
    #[arg(long, value_name = "REPORT", requires = "from")]
    pub(crate) against: Option<PathBuf>,
    /// Only these figures, by number: 5, figure-5, table-2, separated by commas
    #[arg(long, alias = "figure", value_name = "FIGURE,…", allow_hyphen_values = true)]
    pub(crate) only: Vec<String>,
    #[command(flatten)]
    pub(crate) amounts: AmountArgs,
    #[command(flatten)]
    pub(crate) oversubscribed: OversubscribedArgs,
    /// Also run oversubscribed configurations on systems that panic on a lockup
    #[arg(long)]
    pub(crate) accept_panic: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(super) counters: CountersArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// The flags that only a sweep obeys.
fn measuring() -> impl Iterator<Item = Id> {
    let flags = CountersArgs::augment_args(OversubscribedArgs::augment_args(AmountArgs::augment_args(
        RunArgs::augment_args(Command::new("")),
    )));
    let ids: Vec<Id> = flags.get_arguments().map(|arg| arg.get_id().clone()).collect();
    // What is written of a report that is read goes into a file too.
    ids.into_iter().filter(|id| id != "output").chain(["accept_panic".into()])
}

pub(super) fn replicate(args: ReplicateArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<Options, Error> {
    let names = || DOCUMENTS.iter().map(|document| (document.citation.name.as_str(), document));
    // That of a measurement is its report.
    let file = args.run.output.as_deref().filter(|_| args.list || args.from.is_some());
    let Some(name) = &args.document else {
        let names: Vec<&str> = names().map(|(name, _)| name).collect();
        return match args.list {
            true => Ok(Options::Documents(args.format.for_file(file, DOCUMENT_LISTS)?)),
            false => Err(Error::bad_input(format!(
                "which document? choose from {}; charz replicate --list shows their titles",
                names.join(", ")
            ))),
        };
    };
    let document = choice("charz replicate", name, names())?;
    let selection =
        Selection { document, figures: figures(document, &args.only)?, format: args.format.for_file(file, FORMATS)? };
    if args.list {
        return Ok(Options::List(selection));
    }
    if let Some(report) = args.from {
        if args.against.is_some() && !selection.figures.iter().any(|figure| figure.compares_machines()) {
            return Err(Error::bad_input(
                "--against: no figure that was chosen compares two machines; section 6.4 of t3-4 does",
            ));
        }
        // Both at once: standard input holds one report.
        let mut reports = named::reports(std::iter::once(report).chain(args.against).collect(), notes)?;
        let against = (reports.len() > 1).then(|| reports.remove(1));
        return Ok(Options::From { selection, report: reports.remove(0), against });
    }
    let protocol = &document.protocol;
    // The kernels, mappings and worker counts follow from the document and the machine.
    let own = preset(&[("kernel", "noop"), ("layout", &protocol.layout), ("period", &protocol.period)])?;
    let what = WhatArgs {
        amounts: args.amounts.or(&params::SAMPLES, &protocol.samples),
        oversubscribed: args.oversubscribed,
        accept_panic: args.accept_panic,
        ..own.what
    };
    let asked = SweepArgs { what, run: args.run, counters: args.counters, format: args.format, ..own };
    let mut new = Box::new(sweep(asked, layers, notes)?);
    if new.request.budget == Budget::Fitting {
        new.request.budget = Budget::Planned(time("--budget", &protocol.budget, "--budget 10m")?);
    }
    Ok(Options::Measure { selection, new })
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
            let is_of = |kind: &str| all().find(|figure| is_named(figure, kind, piece));
            let named = is_of("figure").or_else(|| is_of("section"));
            let names = || all().map(|figure| (figure.number.as_str(), figure));
            wanted.push(named.map_or_else(|| choice("--only", piece, names()), Ok)?);
        }
    }
    Ok(all().filter(|figure| wanted.iter().any(|wanted| wanted.number == figure.number)).collect())
}

/// Compares letters and digits; a bare number is one of this kind.
fn is_named(figure: &Figure, kind: &str, text: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|mark| mark.is_alphanumeric()).collect::<String>().to_lowercase();
    let (number, text) = (plain(&figure.number), plain(text));
    !text.is_empty() && (number == text || number == format!("{kind}{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::tests::check_refused;

    #[track_caller]
    fn check(document: &str, only: &[&str], expected: &[&str]) {
        let only: Vec<String> = only.iter().map(|text| (*text).to_owned()).collect();
        let found = figures(charz_replicate::find(document).unwrap(), &only).unwrap();
        assert_eq!(found.iter().map(|figure| figure.number.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn figures_by_number() {
        check("t3-4", &["5"], &["Figure 5"]);
        check("t3-4", &["1,6"], &["Figure 1", "Figure 6"]);
        check("t3-4", &["figure-6,FIGURE 5", "Section 6.2"], &["Figure 5", "Figure 6", "Section 6.2"]);
        check("cmt", &["table2"], &["Table 2"]);
        check("solaris", &["vmtasks: ISM, T4-2"], &["vmtasks: ISM, T4-2"]);
        let document = charz_replicate::find("t3-4").unwrap();
        check_refused(figures(document, &["Figure 17".into()]), "Figure 1");
        check_refused(figures(document, &["5,".into()]), "\"\"");
        let solaris = charz_replicate::find("solaris").unwrap();
        check_refused(figures(solaris, &["0".into()]), "; vmtasks: ISM, T4-2; ");
    }
}
