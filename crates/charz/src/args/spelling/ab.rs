//! The flags of `charz ab` and `charz selftest`.

use std::path::PathBuf;

use clap::{Args, Parser};

use super::{HowArgs, WhatArgs, help};
use crate::render::compare;

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
pub(in crate::args) struct AbArgs {
    /// Flags of side A: --mapping, --size, --pages, --layout, --allow-stack
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, default_value = "", hide_default_value = true)]
    pub(in crate::args) a: String,
    /// Flags of side B
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, default_value = "", hide_default_value = true)]
    pub(in crate::args) b: String,
    /// The build of charz that measures side A [default: this one]
    #[arg(long, value_name = "PROGRAM")]
    pub(in crate::args) a_program: Option<PathBuf>,
    /// The build of charz that measures side B [default: this one]
    #[arg(long, value_name = "PROGRAM")]
    pub(in crate::args) b_program: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::args) what: WhatArgs,
    #[command(flatten)]
    pub(in crate::args) how: HowArgs,
    /// Invocations of each side of a pair; below five there is no verdict
    #[arg(long, value_name = "N", default_value = "10", allow_hyphen_values = true)]
    pub(in crate::args) invocations: String,
    /// The longest that it may take, with a unit, e.g. 90s, 10m
    #[arg(long, value_name = "TIME", default_value = "2m", allow_hyphen_values = true)]
    pub(in crate::args) budget: String,
    /// Keep the two reports as NAME.a.json and NAME.b.json [default: keep nothing]
    #[arg(long, value_name = "NAME")]
    pub(in crate::args) output: Option<PathBuf>,
    /// Replace existing output files
    #[arg(long)]
    pub(in crate::args) force: bool,
    /// Compare suspect cells too; their rows are marked
    #[arg(long)]
    pub(in crate::args) allow_suspect: bool,
    /// Exit with code 5 unless every pair has a verdict
    #[arg(long)]
    pub(in crate::args) strict: bool,
    #[command(flatten)]
    pub(in crate::args) noise: NoiseArgs,
    #[arg(long, default_value = "table", help = help::formats(compare::FORMATS.iter().map(|f| f.name)),
        long_help = help::explained_formats(compare::FORMATS.iter().map(|f| (f.name, f.about))))]
    pub(in crate::args) format: String,
}

#[derive(Debug, Args)]
pub(in crate::args) struct NoiseArgs {
    /// The file of noise floors [default: charz/noise.json in $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "FILE")]
    pub(in crate::args) noise: Option<PathBuf>,
}

/// Compare this machine with itself, and learn its noise floor
///
/// With --aa: comparisons as charz ab makes them, of two equal sides. Every difference found is a false one; the 95th percentile of
/// the differences is the noise floor, which is kept for charz ab and charz compare. With --planted, as many comparisons in which the
/// second side does that much more work: they show which differences are found here.
#[derive(Debug, Args)]
pub(in crate::args) struct SelftestArgs {
    /// Measure equal sides against each other
    #[arg(long, required = true)]
    pub(in crate::args) aa: bool,
    /// How many comparisons of equal sides; the noise floor needs 20
    #[arg(long, value_name = "N", default_value = "20", allow_hyphen_values = true)]
    pub(in crate::args) rounds: String,
    /// The slowdown to inject, in percent, in as many further comparisons
    #[arg(long, value_name = "P%", allow_hyphen_values = true)]
    pub(in crate::args) planted: Option<String>,
    #[arg(long, value_name = "K,…", value_delimiter = ',', default_value = "arith-int", help = help::kernels())]
    pub(in crate::args) kernel: Vec<String>,
    /// How many workers, on seats by round-robin
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    pub(in crate::args) threads: String,
    /// Size of a worker's private block in memory kernels, a multiple of 64 bytes
    #[arg(long, default_value = "256MiB", allow_hyphen_values = true)]
    pub(in crate::args) size: String,
    /// Invocations of each side of a comparison
    #[arg(long, value_name = "N", default_value = "10", allow_hyphen_values = true)]
    pub(in crate::args) invocations: String,
    /// The longest that it may take, with a unit
    #[arg(long, value_name = "TIME", default_value = "10m", allow_hyphen_values = true)]
    pub(in crate::args) budget: String,
    /// Draw all orders from this number [default: another one each time]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(in crate::args) seed: Option<String>,
    /// Wait for another charz that is measuring on this machine, instead of refusing
    #[arg(long)]
    pub(in crate::args) wait: bool,
    /// Compare suspect cells too
    #[arg(long)]
    pub(in crate::args) allow_suspect: bool,
    #[command(flatten)]
    pub(in crate::args) noise: NoiseArgs,
}

// In `--a` and `--b`. No doc comment: clap would take it for a description.
#[derive(Debug, Parser)]
#[command(name = "side", no_binary_name = true, disable_help_flag = true)]
pub(in crate::args) struct SideFlags {
    #[command(flatten)]
    pub(in crate::args) how: HowArgs,
}
