//! `charz doctor`. Findings are no errors: it ends well whatever it finds.

use std::io::Write;
use std::time::Duration;

use crate::doctor::{Look, examine};
use crate::exit::{Error, Exit};
use crate::view::doctor::Format;

pub struct Options {
    pub format: &'static Format,
}

/// How long the machine is watched: the least time in which a count of ticks of 10 ms says anything.
const WINDOW: Duration = Duration::from_secs(1);

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    (options.format.write)(&examine(&Look::over(WINDOW)), out)?;
    Ok(Exit::Done)
}
