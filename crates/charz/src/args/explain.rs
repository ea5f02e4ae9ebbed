//! `charz explain`.

use clap::Args;

use super::choice::nearest;
use super::format::{OutputArgs, takes_one};
use crate::command::Command;
use crate::exit::Error;
use crate::view::explain::FORMATS;
use charz_data::checks::{self, CHECKS, Check};
use charz_data::escape::quote;

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
pub(super) struct ExplainArgs {
    /// The code, e.g. V03
    #[arg(allow_hyphen_values = true)]
    pub(super) code: Option<String>,
    #[command(flatten)]
    pub(super) into: OutputArgs,
}

pub(super) fn explain(args: &ExplainArgs) -> Result<Command, Error> {
    Ok(Command::Explain { check: args.code.as_deref().map(check).transpose()?, format: args.into.of(FORMATS)? })
}

fn check(code: &str) -> Result<&'static Check, Error> {
    checks::find(code).ok_or_else(|| {
        let codes: Vec<&str> = CHECKS.iter().map(|check| check.code).collect();
        let near =
            nearest(&code.to_uppercase(), &codes).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        let (first, last) = (codes.first().unwrap_or(&""), codes.last().unwrap_or(&""));
        Error::bad_input(format!("unknown warning {} ({first} to {last}){near}", quote(code)))
    })
}
