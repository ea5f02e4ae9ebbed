use std::io::Write;
use std::path::PathBuf;
use std::thread;

use super::history;
use super::render::{names, read};
use crate::exit::{Error, Exit};
use crate::noise::{self, Floors};
use crate::view::look;
use charz_analysis::compare::{self, Refusal, Totals};
use charz_analysis::history::Wanted;
use charz_analysis::page::Source;
use charz_data::report::Report;
use charz_render::compare::{Compared, Format};

pub struct Options {
    pub base: Base,
    pub new: PathBuf,
    pub terms: Terms,
}

/// What makes a difference of two reports a verdict, and how it is shown.
pub struct Terms {
    /// The noise floor is that of the file.
    pub rules: compare::Options,
    /// The file of noise floors; `None` takes the user's.
    pub noise: Option<PathBuf>,
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
        let base = match &self.base {
            Base::File(file) => Some(file.clone()),
            Base::History { file, .. } => history::file(file.clone()).ok(),
        };
        base.into_iter().chain([self.new.clone()]).collect()
    }
}

impl Terms {
    /// The known noise floors, and a note if the user's file of them cannot be read.
    pub(super) fn floors(&self) -> Result<(Floors, Option<String>), Error> {
        noise::known(self.noise.as_deref())
            .map_err(|why| Error::bad_input(format!("--noise: {why}; name another file, or leave --noise out")))
    }

    /// The rules for these reports.
    pub(super) fn rules(&self, floors: &Floors, reports: [&Report; 2]) -> compare::Options {
        compare::Options { noise_floor: floors.largest(reports, self.rules.quantity), ..self.rules }
    }
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let terms = &options.terms;
    let (floors, unread) = terms.floors()?;
    let (base, new, notes, file) = match &options.base {
        Base::File(file) => {
            // Reading takes nearly all of the time.
            let (base, new) = thread::scope(|scope| {
                let base = scope.spawn(|| read(file));
                let new = read(&options.new);
                (base.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), new)
            });
            (base?, new?, Vec::new(), file.clone())
        }
        Base::History { file, wanted } => {
            let new = read(&options.new)?;
            let (base, notes) = history::baseline(file.clone(), &new, *wanted, &terms.rules)?;
            (base, new, notes, "the base from the history".into())
        }
    };
    let rules = terms.rules(&floors, [&base, &new]);
    let mut comparison = compare::compare(&base, &new, &rules).map_err(|refusal| {
        let exit = match refusal {
            Refusal::Unlike(_) => Exit::BadInput,
            Refusal::Nothing(_) => Exit::NoVerdict,
        };
        Error::ended(exit, format!("{file:?} and {:?}: {refusal}", options.new))
    })?;
    comparison.notes.splice(..0, notes);
    comparison.notes.extend(unread);
    let names = names(&[file, options.new.clone()]);
    let reports = [Source { name: &names[0], report: &base }, Source { name: &names[1], report: &new }];
    (terms.format.write)(&Compared { reports, comparison: &comparison }, &look::of_stdout(), out)?;
    // The program is about to end. Taking millions of small pieces apart first would take a tenth as long as reading them did.
    std::mem::forget((base, new));
    Ok(exit(&comparison.totals, terms.strict))
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
