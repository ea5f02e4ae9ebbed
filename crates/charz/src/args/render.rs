//! `charz render`.

use std::path::PathBuf;

use clap::Args;

use super::format::takes_one;
use super::groups::{ShowingArgs, showing};
use super::named;
use crate::command::render::Options;
use crate::exit::Error;
use charz_render::formats::FORMATS;

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
pub(super) struct RenderArgs {
    /// Reports that `charz sweep` wrote, several side by side; - is standard input, last the newest report in this folder
    ///
    /// Of the files in this folder that end in .json or .json.gz and hold a report, last is the one that was written last. A file called
    /// last comes first.
    #[arg(value_name = "REPORT", required = true)]
    pub(super) reports: Vec<PathBuf>,
    /// Leave out whose the report is: names of the host, of programs and of files, products, labels
    ///
    /// With --format json it is a report to send, which every command takes.
    #[arg(long)]
    pub(super) anonymous: bool,
    #[command(flatten)]
    pub(super) how: ShowingArgs,
}

pub(super) fn render(args: RenderArgs, notes: &mut Vec<String>) -> Result<Options, Error> {
    Ok(Options {
        reports: named::reports(args.reports, notes)?,
        anonymous: args.anonymous,
        showing: showing(args.how.into.of(FORMATS)?, args.how),
    })
}
