use std::io::Write;
use std::time::Duration;

use crate::exit::{Error, Exit};
use crate::view::doctor::{Format, Page};
use crate::view::present;
use charz_measure::doctor::{Look, State, examine};

pub struct Options {
    pub format: &'static Format,
    pub verbose: bool,
    pub strict: bool,
    /// Whether the machine is watched for a second.
    pub watch: bool,
}

/// How long the doctor watches: the least time in which a count of ticks of 10 ms says anything.
const WINDOW: Duration = Duration::from_secs(1);

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let findings = examine(&if options.watch { Look::over(WINDOW) } else { Look::at_once() });
    let to_fix = findings.iter().any(|finding| finding.state == State::Disturbs);
    present(options.format, &Page { findings: &findings, verbose: options.verbose }, out)?;
    // Findings are no errors unless they are asked for as such.
    Ok(if options.strict && to_fix { Exit::Regression } else { Exit::Done })
}
