//! The sweep that `charz replicate` makes.

use super::convert::{choice, sweep};
use super::layers::Layers;
use super::parameters::{AmountArgs, ParamArgs};
use super::spelling::{ReplicateArgs, WhatArgs};
use super::usual;
use crate::command::replicate::{Asked, Options};
use crate::exit::Error;
use charz_analysis::replicate::{DOCUMENTS, Document, Figure};
use charz_data::params;
use charz_render::replicate::FORMATS;

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
        ..usual::what(&["noop"])
    };
    let mut square = args.sweep;
    square.budget = or_protocol(square.budget, &protocol.budget);
    let params = ParamArgs::default()
        .with(&params::LAYOUT, protocol.layout.clone())
        .with(&params::PERIOD, protocol.period.clone());
    let asked_sweep = usual::square(what, params, square);
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
