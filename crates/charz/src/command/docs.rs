//! `charz docs`.

use std::io::Write;

use crate::exit::{Error, Exit};

/// What to print.
pub enum Options {
    /// The pages: name and file of each.
    List(Vec<(&'static str, &'static str)>),
    /// The text of one page.
    Page(Vec<u8>),
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    match options {
        Options::List(pages) => {
            for (name, file) in pages {
                writeln!(out, "{name}\t{file}")?;
            }
        }
        Options::Page(text) => out.write_all(text)?,
    }
    Ok(Exit::Done)
}
