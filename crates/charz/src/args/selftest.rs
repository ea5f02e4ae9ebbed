//! `charz selftest`: its flags, and the sweep that it makes.

use clap::Args;

use super::compare::RuleArgs;
use super::format::{OutputArgs, takes_one};
use super::help;
use super::layers::Layers;
use super::quantities::count;
use super::sweep::{preset, sweep};
use crate::command::selftest::{FORMATS, Options};
use crate::exit::Error;
use charz_measure::plan::MOST_INVOCATIONS;

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
pub(crate) struct SelftestArgs {
    /// Measure equal sides against each other
    #[arg(long, required = true)]
    pub(crate) aa: bool,
    /// How many comparisons of equal sides; the noise floor needs 20
    #[arg(long, value_name = "N", default_value = "20", allow_hyphen_values = true)]
    pub(crate) rounds: String,
    #[arg(long, value_name = "K,…", value_delimiter = ',', default_value = "arith-int", help = help::kernels())]
    pub(crate) kernel: Vec<String>,
    /// How many threads, on seats by round-robin
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    pub(crate) threads: String,
    /// Size of a thread's private block in memory kernels, a multiple of 64 bytes
    #[arg(long, default_value = "256MiB", allow_hyphen_values = true)]
    pub(crate) size: String,
    /// Runs of each side of a comparison
    #[arg(long, value_name = "N", default_value = "10", allow_hyphen_values = true)]
    pub(crate) runs: String,
    /// The longest that it may take, with a unit
    #[arg(long, value_name = "TIME", default_value = "10m", allow_hyphen_values = true)]
    pub(crate) budget: String,
    /// Draw all orders from this number [default: another one each time]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) seed: Option<String>,
    /// Wait for another charz that is measuring on this machine, instead of refusing
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    #[command(flatten)]
    pub(crate) into: OutputArgs,
}

const MOST_ROUNDS: usize = 100_000;

pub(super) fn selftest(args: SelftestArgs, notes: &mut Vec<String>) -> Result<Options, Error> {
    let runs = count("--runs", &args.runs, MOST_INVOCATIONS)?.to_string();
    // A number only: one placement is compared with itself.
    count("--threads", &args.threads, usize::MAX)?;
    let mut asked = preset(&[
        ("kernel", &args.kernel.join(",")),
        ("threads", &args.threads),
        ("mapping", "round-robin"),
        ("size", &args.size),
        ("iterations", ITERATIONS),
        ("runs", &runs),
        ("budget", &args.budget),
    ])?;
    (asked.run.bench.seed, asked.run.bench.wait) = (args.seed, args.wait);
    let new = sweep(asked, &Layers::default(), notes)?;
    Ok(Options {
        request: new.request,
        rounds: count("--rounds", &args.rounds, MOST_ROUNDS)?,
        wait: new.wait,
        rules: args.rules.rules(),
        format: args.into.of(FORMATS)?,
    })
}

/// Iterations in each run of a self-test. They are short: on two strands that three other processes kept busy, 72% of
/// iterations of 8 ms had to wait for their strand, and 9% of those of 1.3 ms.
const ITERATIONS: &str = "25";
