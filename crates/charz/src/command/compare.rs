//! `charz compare`.

use std::io::Write;
use std::path::PathBuf;
use std::thread;

use super::history;
use super::render::read;
use crate::exit::{Error, Exit};
use crate::noise::largest_floor;
use crate::view::look::{self, Colour};
use charz_analysis::compare;
use charz_analysis::compare::Totals;
use charz_analysis::history::Wanted;
use charz_render::compare::Format;

/// What to compare.
pub struct Options {
    /// The report to compare with.
    pub base: Base,
    /// The file of the report that is compared.
    pub new: PathBuf,
    /// What may be compared.
    pub rules: compare::Options,
    /// The file of noise floors; `None` takes the user's.
    pub noise: Option<PathBuf>,
    /// Whether everything must have a verdict.
    pub strict: bool,
    /// How to show it.
    pub format: &'static Format,
}

/// The report to compare with.
pub enum Base {
    /// In a file.
    File(PathBuf),
    /// Out of a history.
    History {
        /// The history's file; `None` takes the user's.
        file: Option<PathBuf>,
        /// How it is chosen.
        wanted: Wanted,
    },
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let (base, new, notes, name) = match &options.base {
        Base::File(file) => {
            // Reading takes nearly all of the time.
            let (base, new) = thread::scope(|scope| {
                let base = scope.spawn(|| read(file));
                let new = read(&options.new);
                (base.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), new)
            });
            (base?, new?, Vec::new(), format!("{file:?}"))
        }
        Base::History { file, wanted } => {
            let new = read(&options.new)?;
            let (base, notes) = history::baseline(file.clone(), &new, *wanted, &options.rules)?;
            (base, new, notes, "the base from the history".to_owned())
        }
    };
    let (noise_floor, unread) = largest_floor(options.noise.as_deref(), [&base, &new]);
    let rules = compare::Options { noise_floor, ..options.rules };
    let mut comparison = compare::compare(&base, &new, &rules)
        .map_err(|refusal| Error::bad_input(format!("{name} and {:?}: {refusal}", options.new)))?;
    comparison.notes.splice(..0, notes);
    comparison.notes.extend(unread);
    (options.format.write)(&comparison, &look::of_stdout(Colour::Auto), out)?;
    // The program is about to end. Taking millions of small pieces apart first would take a tenth as long as reading them did.
    std::mem::forget((base, new));
    Ok(exit(&comparison.totals, options.strict))
}

/// A regression outweighs what could not be judged.
fn exit(totals: &Totals, strict: bool) -> Exit {
    if totals.slower > 0 {
        Exit::Regression
    } else if strict && totals.inconclusive + totals.uncompared > 0 {
        Exit::NotAllOk
    } else {
        Exit::Done
    }
}
