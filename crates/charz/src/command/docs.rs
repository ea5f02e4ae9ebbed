//! `charz docs`.

use std::io::Write;

use crate::exit::{Error, Exit};

pub enum Options {
    /// The pages: the name of each, and its file if it is kept in the project.
    List(Vec<(String, Option<&'static str>)>),
    Page(Vec<u8>),
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    match options {
        Options::List(pages) => {
            for (name, file) in pages {
                let file = file.map(|file| format!("\t{file}")).unwrap_or_default();
                writeln!(out, "{name}{file}")?;
            }
        }
        Options::Page(text) => out.write_all(text)?,
    }
    Ok(Exit::Done)
}
