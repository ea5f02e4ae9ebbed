//! `charz explain`.

use std::io::Write;

use crate::exit::{Error, Exit};
use crate::view::explain::Format;
use charz_data::checks::Check;

pub struct Options {
    /// `None` stands for all of them.
    pub check: Option<&'static Check>,
    pub format: &'static Format,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    (options.format.write)(options.check, out)?;
    Ok(Exit::Done)
}
