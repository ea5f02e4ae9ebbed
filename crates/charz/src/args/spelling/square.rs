//! How the arguments are spelled that `charz c2c` and `charz numa` have in common.

use std::path::PathBuf;

use clap::Args;

/// A sweep whose cells are pairs of a square.
#[derive(Debug, Args)]
pub(crate) struct SquareArgs {
    /// Invocations per configuration: min-max, or one number for both
    #[arg(long, value_name = "N[-M]", default_value = "6-30", allow_hyphen_values = true)]
    pub(crate) invocations: String,
    /// The half width of the 95% interval that is wanted, in percent of the number; auto is 5% for lines between cores, and 2% for memory
    #[arg(long, value_name = "P%", default_value = "auto", allow_hyphen_values = true)]
    pub(crate) precision: String,
    /// The longest that it may take, with a unit, e.g. 90s, 10m
    #[arg(long, value_name = "TIME", default_value = "5m", allow_hyphen_values = true)]
    pub(crate) budget: String,
    /// Draw the order, and pairs that do not all fit, from this number [default: another one each time]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) seed: Option<String>,
    /// The report's file [default: charz-<date>-<time>.json in this folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the plan and the predicted time; measure nothing but a few milliseconds of pilot runs
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Wait for another charz that is measuring on this machine, instead of refusing
    #[arg(long)]
    pub(crate) wait: bool,
    /// End with code 5 unless every configuration is ok
    #[arg(long)]
    pub(crate) strict: bool,
}
