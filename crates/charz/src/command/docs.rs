//! `charz docs`.

use std::io::Write;

use crate::args;
use crate::exit::{Error, Exit};

/// Which page.
pub struct Options {
    /// Its name; `None` lists the pages.
    pub page: Option<String>,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    match &options.page {
        None => {
            for page in args::PAGES {
                writeln!(out, "{}\t{}", page.name, page.file)?;
            }
        }
        Some(name) => {
            let page = args::page(name)
                .ok_or_else(|| Error::bad_input(format!("there is no page {name:?}; charz docs lists the pages")))?;
            out.write_all(&page)?;
        }
    }
    Ok(Exit::Done)
}
