//! `charz topo`.

use std::io::Write;

use charz_topology::{Source, discover};

use crate::exit::{Error, Exit};
use crate::render::topo::Format;

/// What to show.
pub struct Options {
    /// Which machine.
    pub source: Source,
    /// How.
    pub format: &'static Format,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    (options.format.write)(&discover(&options.source)?, out)?;
    Ok(Exit::Done)
}
