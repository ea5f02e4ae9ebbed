//! `charz compare`.

use std::io::Write;
use std::path::PathBuf;
use std::thread;

use super::render::read;
use super::turns::largest_floor;
use crate::compare::{self, Totals};
use crate::exit::{Error, Exit};
use crate::render::compare::Format;

/// What to compare.
pub struct Options {
    /// The file of the report to compare with.
    pub base: PathBuf,
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

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    // Reading takes nearly all of the time.
    let (base, new) = thread::scope(|scope| {
        let base = scope.spawn(|| read(&options.base));
        let new = read(&options.new);
        (base.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), new)
    });
    let (base, new) = (base?, new?);
    let (noise_floor, unread) = largest_floor(options.noise.as_deref(), [&base, &new]);
    let rules = compare::Options { noise_floor, ..options.rules };
    let mut comparison = compare::compare(&base, &new, &rules)
        .map_err(|refusal| Error::bad_input(format!("{:?} and {:?}: {refusal}", options.base, options.new)))?;
    comparison.notes.extend(unread);
    (options.format.write)(&comparison, out)?;
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
