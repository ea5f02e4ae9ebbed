use std::io::Write;
use std::path::PathBuf;

use super::history;
use super::render::{names, read};
use crate::exit::{Error, Exit};
use crate::view::present;
use charz_analysis::machines as analysis;
use charz_analysis::page::Source;
use charz_claims::compare::{self, Refusal, Totals};
use charz_claims::history::Wanted;
use charz_data::at_once;
use charz_data::escape::quoted;
use charz_data::report::Report;
use charz_render::compare::{Compared, Format};
use charz_render::machines;
use charz_words::compare::refusal;

pub enum Options {
    Two {
        base: Base,
        new: PathBuf,
        terms: Terms,
    },
    Machines {
        reports: Vec<PathBuf>,
        /// What a machine costs in an hour, by the name of its report or host.
        prices: Vec<(String, f64)>,
        format: &'static machines::Format,
    },
}

/// What makes a difference of two reports a verdict, and how it is shown.
pub struct Terms {
    pub rules: compare::Options,
    pub strict: bool,
    pub format: &'static Format,
}

pub enum Base {
    File(PathBuf),
    History {
        /// `None` takes the user's.
        file: Option<PathBuf>,
        wanted: Wanted,
    },
}

impl Options {
    pub(super) fn inputs(&self) -> Vec<PathBuf> {
        let (base, new) = match self {
            Options::Machines { reports, .. } => return reports.clone(),
            Options::Two { base: Base::File(file), new, .. } => (Some(file.clone()), new),
            Options::Two { base: Base::History { file, .. }, new, .. } => (history::file(file.clone()).ok(), new),
        };
        base.into_iter().chain([new.clone()]).collect()
    }
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    match options {
        Options::Two { base, new, terms } => two(base, new, terms, out),
        Options::Machines { reports, prices, format } => many(reports, prices, format, out),
    }
}

fn many(
    files: &[PathBuf],
    prices: &[(String, f64)],
    format: &machines::Format,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    if files.len() < 2 {
        return Err(Error::bad_input("--machines: two reports at least are needed; name another one"));
    }
    let reports: Vec<Report> = files.iter().map(|file| read(file)).collect::<Result<_, _>>()?;
    let names = names(files);
    let is_of = |at: usize, name: &str| names[at] == name || reports[at].host.name.as_deref() == Some(name);
    if let Some((name, _)) = prices.iter().find(|(name, _)| !(0..files.len()).any(|at| is_of(at, name))) {
        let known = names.join(", ");
        return Err(Error::bad_input(format!("--price: no report or host is called {name:?}; there are {known}")));
    }
    let of = |at: usize| prices.iter().filter(move |(name, _)| is_of(at, name)).map(|(_, price)| *price);
    for (at, name) in names.iter().enumerate() {
        if let Some((one, other)) = of(at).zip(of(at).skip(1)).find(|(one, other)| one != other) {
            return Err(Error::bad_input(format!("--price: {name:?} has two prices, {one} and {other}; give it one")));
        }
    }
    let price = |at: usize| of(at).next();
    let sources: Vec<Source<'_>> = names.iter().zip(&reports).map(|(name, report)| Source { name, report }).collect();
    let found = analysis::machines(&sources, &(0..files.len()).map(price).collect::<Vec<_>>());
    present(format, &machines::Shown { sources: &sources, machines: &found }, out)?;
    let mut values = found.rows.iter().flat_map(|row| &row.values).flatten();
    Ok(if values.any(|value| value.times.is_some()) { Exit::Done } else { Exit::NoVerdict })
}

fn two(base: &Base, new_file: &PathBuf, terms: &Terms, out: &mut dyn Write) -> Result<Exit, Error> {
    let is_file = matches!(base, Base::File(_));
    let (base, new, notes, file) = match base {
        Base::File(file) => {
            // Reading takes nearly all of the time.
            let mut reports = at_once([file, new_file], |file| read(file)).into_iter();
            let mut next = || reports.next().expect("each file is read or refused");
            (next()?, next()?, Vec::new(), file.clone())
        }
        Base::History { file, wanted } => {
            let new = read(new_file)?;
            let (base, notes) = history::baseline(file.clone(), &new, *wanted, &terms.rules)?;
            (base, new, notes, "the base from the history".into())
        }
    };
    let comparison = compare::compare([&base, &new], &terms.rules).map_err(|why| {
        let exit = if matches!(why, Refusal::Nothing(..)) { Exit::NoVerdict } else { Exit::BadInput };
        let files = [&file, new_file].map(|file| quoted(&file.to_string_lossy())).join(" ");
        Error::ended(exit, format!("{file:?} and {new_file:?}: {}", refusal(&why, is_file.then_some(&files))))
    })?;
    let names = names(&[file, new_file.clone()]);
    let reports = [Source { name: &names[0], report: &base }, Source { name: &names[1], report: &new }];
    present(terms.format, &Compared { reports, comparison: &comparison, asides: &notes }, out)?;
    let exit = exit(&comparison.totals, terms.strict);
    // The program is about to end. Taking millions of small pieces apart first would take a tenth as long as reading them did.
    drop(comparison);
    std::mem::forget((base, new));
    Ok(exit)
}

/// A regression outweighs what could not be judged; a comparison without any verdict, or with a difference that is open, is no pass.
pub(super) fn exit(totals: &Totals, strict: bool) -> Exit {
    if totals.slower > 0 {
        Exit::Regression
    } else if totals.has_no_verdict() || totals.open > 0 || (strict && totals.inconclusive + totals.uncompared > 0) {
        Exit::NoVerdict
    } else {
        Exit::Done
    }
}

#[cfg(test)]
mod tests {
    use charz_data::report::{self, Unit, fixtures};

    use super::*;

    #[test]
    fn a_machine_has_one_price() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["a", "b"].map(|name| {
            let (file, mut report) = (folder.path().join(format!("{name}.json")), fixtures::report(Vec::new()));
            report.host.name = Some(format!("host-{name}"));
            report::write(&report, &[], false, &mut std::fs::File::create(&file).unwrap()).unwrap();
            file
        });
        let exit = |prices: &[(&str, f64)]| {
            let prices: Vec<_> = prices.iter().map(|(name, price)| ((*name).to_owned(), *price)).collect();
            many(&files, &prices, &machines::FORMATS[0], &mut Vec::new()).map_err(|error| error.exit)
        };
        assert_eq!(exit(&[("a", 1.0), ("a", 2.0)]), Err(Exit::BadInput));
        assert_eq!(exit(&[("host-b", 1.0), ("a", 1.0), ("b", 2.0)]), Err(Exit::BadInput), "by its file and its host");
        assert_eq!(exit(&[("a", 1.0), ("b", 2.0), ("host-a", 1.0)]), Ok(Exit::NoVerdict), "without a cell");
    }

    /// The others may have much in common.
    #[test]
    fn machines_of_which_none_is_held_against_the_first_are_no_pass() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, kernel: &str| {
            let file = folder.path().join(name);
            let report = fixtures::report(vec![fixtures::cell(kernel, 1, Unit::OpsPerSecond, 1e9).in_order()]);
            report::write(&report, &[], false, &mut std::fs::File::create(&file).unwrap()).unwrap();
            file
        };
        let [first, one, other] =
            [("a", "arith-float"), ("b", "arith-int"), ("c", "arith-int")].map(|(name, kernel)| file(name, kernel));
        let exit = |files: &[PathBuf]| many(files, &[], &machines::FORMATS[0], &mut Vec::new()).unwrap();
        assert_eq!(exit(&[first, one.clone(), other.clone()]), Exit::NoVerdict);
        assert_eq!(exit(&[one, other]), Exit::Done);
    }
}
