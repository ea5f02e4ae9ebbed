//! `charz map`.

use std::io::Write;

use charz_topology::{Mapping, Source, discover, place};

use crate::exit::{Error, Exit};
use crate::view::placement::Format;

pub struct Options {
    pub mapping: Mapping,
    pub threads: usize,
    pub source: Source,
    pub format: &'static Format,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let machine = discover(&options.source)?;
    let placement = place(&options.mapping.order(&machine)?, options.threads);
    (options.format.write)(&machine, &options.mapping, &placement, out)?;
    Ok(Exit::Done)
}
