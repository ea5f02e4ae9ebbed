//! `charz map`.

use std::io::Write;

use charz_topology::{Mapping, Source, discover, place};

use crate::exit::{Error, Exit};
use crate::view::placement::Format;

/// What to show.
pub struct Options {
    /// The mapping.
    pub mapping: Mapping,
    /// The number of workers.
    pub threads: usize,
    /// Which machine.
    pub source: Source,
    /// How.
    pub format: &'static Format,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let machine = discover(&options.source)?;
    let placement = place(&options.mapping.order(&machine)?, options.threads);
    (options.format.write)(&machine, &options.mapping, &placement, out)?;
    Ok(Exit::Done)
}
