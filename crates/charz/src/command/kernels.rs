//! `charz kernels`.

use std::io::Write;

use crate::exit::{Error, Exit};
use crate::view::kernels::Format;

pub struct Options {
    pub format: &'static Format,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    (options.format.write)(out)?;
    Ok(Exit::Done)
}
