//! The flags of `charz ab` and `charz selftest`.

use std::path::PathBuf;

use clap::{Args, Parser};

use super::{HowArgs, WhatArgs, help};
use charz_render::compare;

/// Compare two configurations, or two builds of charz, interleaved on this machine
///
/// Both sides measure the same kernels with the same numbers of workers; their cells are paired by place. Each pair is measured
/// in blocks of four invocations, ABBA or BAAB at random, blocks of all pairs in random order, so drift and noise of the machine
/// meet both sides. The margin is 2%, or the noise floor that charz selftest learned here, if that is larger. Exits with code 1 if
/// B is slower than A anywhere. Inconclusive is not a pass.
///
/// Flags beside --a and --b hold for both sides: charz ab --a '--pages 4k' --b '--pages thp' --kernel mem-read --threads 2
/// --mapping round-robin. Environment variables are ignored.
#[derive(Debug, Args)]
pub(crate) struct AbArgs {
    /// Flags of side A: --mapping, --size, --pages, --layout, --allow-stack
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, default_value = "", hide_default_value = true)]
    pub(crate) a: String,
    /// Flags of side B
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, default_value = "", hide_default_value = true)]
    pub(crate) b: String,
    /// The build of charz that measures side A [default: this one]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) a_program: Option<PathBuf>,
    /// The build of charz that measures side B [default: this one]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) b_program: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) what: WhatArgs,
    #[command(flatten)]
    pub(crate) how: HowArgs,
    /// Invocations of each side of a pair; below five there is no verdict
    #[arg(long, value_name = "N", default_value = "10", allow_hyphen_values = true)]
    pub(crate) invocations: String,
    /// The longest that it may take, with a unit, e.g. 90s, 10m
    #[arg(long, value_name = "TIME", default_value = "2m", allow_hyphen_values = true)]
    pub(crate) budget: String,
    /// Keep the two reports as NAME.a.json and NAME.b.json [default: keep nothing]
    #[arg(long, value_name = "NAME")]
    pub(crate) output: Option<PathBuf>,
    /// Replace existing output files
    #[arg(long)]
    pub(crate) force: bool,
    /// Compare suspect cells too; their rows are marked
    #[arg(long)]
    pub(crate) allow_suspect: bool,
    /// Exit with code 5 unless every pair has a verdict
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) noise: NoiseArgs,
    #[arg(long, default_value = "table", help = help::formats(compare::FORMATS.iter().map(|f| f.name)),
        long_help = help::explained_formats(compare::FORMATS.iter().map(|f| (f.name, f.about))))]
    pub(crate) format: String,
}

#[derive(Debug, Args)]
pub(crate) struct NoiseArgs {
    /// The file of noise floors [default: charz/noise.json in $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "FILE")]
    pub(crate) noise: Option<PathBuf>,
}

/// Compare this machine with itself, and learn its noise floor
///
/// With --aa: comparisons as charz ab makes them, of two equal sides. Every difference found is a false one; the 95th percentile of
/// the differences is the noise floor, which is kept for charz ab and charz compare. With --planted, as many comparisons in which the
/// second side does that much more work: they show which differences are found here.
#[derive(Debug, Args)]
pub(crate) struct SelftestArgs {
    /// Measure equal sides against each other
    #[arg(long, required = true)]
    pub(crate) aa: bool,
    /// How many comparisons of equal sides; the noise floor needs 20
    #[arg(long, value_name = "N", default_value = "20", allow_hyphen_values = true)]
    pub(crate) rounds: String,
    /// The slowdown to inject, in percent, in as many further comparisons
    #[arg(long, value_name = "P%", allow_hyphen_values = true)]
    pub(crate) planted: Option<String>,
    #[arg(long, value_name = "K,…", value_delimiter = ',', default_value = "arith-int", help = help::kernels())]
    pub(crate) kernel: Vec<String>,
    /// How many workers, on seats by round-robin
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    pub(crate) threads: String,
    /// Size of a worker's private block in memory kernels, a multiple of 64 bytes
    #[arg(long, default_value = "256MiB", allow_hyphen_values = true)]
    pub(crate) size: String,
    /// Invocations of each side of a comparison
    #[arg(long, value_name = "N", default_value = "10", allow_hyphen_values = true)]
    pub(crate) invocations: String,
    /// The longest that it may take, with a unit
    #[arg(long, value_name = "TIME", default_value = "10m", allow_hyphen_values = true)]
    pub(crate) budget: String,
    /// Draw all orders from this number [default: another one each time]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) seed: Option<String>,
    /// Wait for another charz that is measuring on this machine, instead of refusing
    #[arg(long)]
    pub(crate) wait: bool,
    /// Compare suspect cells too
    #[arg(long)]
    pub(crate) allow_suspect: bool,
    #[command(flatten)]
    pub(crate) noise: NoiseArgs,
}

// In `--a` and `--b`. No doc comment: clap would take it for a description.
#[derive(Debug, Parser)]
#[command(name = "side", no_binary_name = true, disable_help_flag = true)]
pub(crate) struct SideFlags {
    #[command(flatten)]
    pub(crate) how: HowArgs,
}
