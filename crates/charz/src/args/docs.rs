//! `charz docs` and `charz completions`.

use clap::{Args, Command};

use super::choice::choice;
use super::generate::{Page, completions, pages, shells, spelled};
use crate::exit::Error;

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    pub(super) shell: String,
}

#[derive(Debug, Args)]
pub(super) struct DocsArgs {
    /// The page, e.g. completions-bash, man, man-sweep, grammar, schema, kernels, mappers, checks, exit-codes
    pub(super) page: Option<String>,
}

pub(super) fn completion(args: &CompletionsArgs, grammar: Command) -> Result<Vec<u8>, Error> {
    Ok(completions(choice("charz completions", &args.shell, shells())?, &spelled(grammar)))
}

pub(super) fn docs(args: DocsArgs, grammar: Command) -> Result<Vec<u8>, Error> {
    let pages = pages(grammar);
    match args.page {
        None => Ok(pages.iter().map(Page::line).collect::<String>().into_bytes()),
        Some(name) => Ok(choice("charz docs", &name, pages.into_iter().map(|page| (page.name.clone(), page)))?.text()),
    }
}
