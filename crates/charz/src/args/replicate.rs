//! What `charz replicate` is asked for, in terms of the sweep that it makes.

use super::ab::unkept;
use super::convert::{choice, sweep};
use super::layers::Layers;
use super::spelling::{AxesArgs, HowArgs, ReplicateArgs, WhatArgs};
use super::usual;
use crate::command::replicate::{Asked, Options};
use crate::exit::Error;
use crate::render::replicate::FORMATS;
use crate::replicate::{DOCUMENTS, Document, Figure};

pub(super) fn replicate(args: ReplicateArgs, notes: &mut Vec<String>) -> Result<Options, Error> {
    let Some(name) = &args.document else {
        return match args.list {
            true => Ok(Options::Documents),
            false => Err(Error::bad_input(format!(
                "which document? choose from {}; charz replicate --list tells what they are",
                DOCUMENTS.iter().map(|document| document.name.as_str()).collect::<Vec<_>>().join(", ")
            ))),
        };
    };
    let document = choice("charz replicate", name, DOCUMENTS.iter().map(|document| (&document.name, document)))?;
    let wanted = Asked {
        document,
        figures: figures(document, &args.only)?,
        format: choice("--format", &args.format, FORMATS.iter().map(|format| (format.name, format)))?,
    };
    if args.list {
        return Ok(Options::List(wanted));
    }
    if let Some(report) = args.from {
        return Ok(Options::From { asked: wanted, report });
    }
    // Which kernels, mappings and numbers of workers follows from the document and the machine.
    let what = WhatArgs {
        iterations: args.iterations,
        samples: if args.samples == "auto" { document.protocol.samples.clone() } else { args.samples },
        span: args.span,
        seed: args.seed,
        oversubscribe: args.oversubscribe,
        accept_panic: args.accept_panic,
        wait: args.wait,
        clock: args.clock,
        binder: args.binder,
        ..usual::what(&["noop"])
    };
    let how = HowArgs {
        layout: document.protocol.layout.clone(),
        period: document.protocol.period.clone(),
        ..usual::how(AxesArgs::with_size("auto"))
    };
    let budget = if args.budget == "auto" { &document.protocol.budget } else { &args.budget };
    let mut asked = unkept(what, how, &args.invocations, budget);
    (asked.precision, asked.strict, asked.dry_run) = (args.precision, args.strict, args.dry_run);
    (asked.output, asked.force) = (args.output, args.force);
    Ok(Options::Measure { asked: wanted, new: Box::new(sweep(asked, &Layers::default(), notes)?) })
}

/// The figures that were named, in the document's order; all where none was. The names of some have a comma in them: what is none
/// as a whole is taken apart.
fn figures(document: &'static Document, only: &[String]) -> Result<Vec<&'static Figure>, Error> {
    if only.is_empty() {
        return Ok(document.figures.iter().collect());
    }
    let find = |text: &str| document.figures.iter().find(|figure| is_named(figure, text));
    let whole = |text: &str| document.figures.iter().find(|figure| figure.number.eq_ignore_ascii_case(text.trim()));
    let mut wanted: Vec<&Figure> = Vec::new();
    for text in only {
        match whole(text) {
            Some(figure) => wanted.push(figure),
            None => {
                for piece in text.split(',') {
                    let names = || document.figures.iter().map(|figure| (figure.number.as_str(), figure));
                    wanted.push(find(piece).map_or_else(|| choice("--only", piece, names()), Ok)?);
                }
            }
        }
    }
    let is_wanted = |figure: &&Figure| wanted.iter().any(|wanted| wanted.number == figure.number);
    Ok(document.figures.iter().filter(is_wanted).collect())
}

/// Whether a text names a figure: letters and digits decide, and a number alone is that of a figure.
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
        let found = figures(crate::replicate::find(document).unwrap(), &only).unwrap();
        assert_eq!(found.iter().map(|figure| figure.number.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn figures_by_number() {
        check("t3-4", &["5"], &["Figure 5"]);
        check("t3-4", &["1,6"], &["Figure 1", "Figure 6"]);
        check("t3-4", &["figure-6,FIGURE 5", "Section 6.2"], &["Figure 5", "Figure 6", "Section 6.2"]);
        check("cmt", &["table2"], &["Table 2"]);
        check("solaris", &["vmtasks: ISM, T4-2"], &["vmtasks: ISM, T4-2"]);
        let document = crate::replicate::find("t3-4").unwrap();
        check_refused(figures(document, &["Figure 17".into()]), "Figure 1");
        check_refused(figures(document, &["5,".into()]), "\"\"");
    }
}
