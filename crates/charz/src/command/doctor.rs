use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::exit::{Error, Exit};
use crate::settings;
use crate::view::doctor::{Format, Page, script};
use charz_measure::doctor::expect::{self, Expected};
use charz_measure::doctor::{Look, State, examine};

pub struct Options {
    pub format: &'static Format,
    pub verbose: bool,
    pub strict: bool,
    /// The file of what the site expects.
    pub expect: Option<PathBuf>,
    pub fix_script: bool,
    /// Whether the machine is watched for a second.
    pub watch: bool,
}

/// How long the doctor watches: the least time in which a count of ticks of 10 ms says anything.
const WINDOW: Duration = Duration::from_secs(1);

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let expected = options.expect.as_deref().map(read).transpose()?;
    let findings = examine(&if options.watch { Look::over(WINDOW) } else { Look::at_once() });
    let to_fix = findings.iter().any(|finding| finding.state == State::Disturbs);
    let deviations = expected.map(|expected| expect::deviations(&expected, &findings));
    let differs = deviations.as_ref().is_some_and(|deviations| !deviations.is_empty());
    match options.fix_script {
        true => script(&findings, out)?,
        false => (options.format.write)(&Page { findings: &findings, deviations, verbose: options.verbose }, out)?,
    }
    // Findings are no errors unless they are asked for as such.
    Ok(if differs || (options.strict && to_fix) { Exit::Regression } else { Exit::Done })
}

fn read(path: &Path) -> Result<Vec<Expected>, Error> {
    let text = settings::text("--expect", path)?;
    expect::read(&text).map_err(|reason| Error::bad_input(format!("--expect {path:?}: {reason}")))
}
