//! How the arguments of `charz c2c` are spelled.

use clap::Args;

use super::{SquareArgs, help};
use charz_render::formats;

/// Measure how long a line of memory takes from each core to each other
///
/// Two workers hand a line back and forth, on every pair of strands; the number is the time of one way. Pairs of one NUMA node
/// are measured once, others both ways: the memory behind the line is on the node of the first. Where all pairs do not fit into
/// half of the budget, pairs of each kind (distance, NUMA nodes, kinds of core) are drawn at random, at least three of each, and
/// the table says how many there are.
///
/// The result is the report of a sweep with a mapping such as list:0,8 for each pair: charz sweep --resume finishes it, charz
/// render shows it again, and charz compare compares it.
#[derive(Debug, Args)]
pub(crate) struct C2cArgs {
    /// How the line is handed over: read-write, cas, fetch-add, exchange; several separated by commas
    #[arg(long, value_name = "M,…", value_delimiter = ',', default_value = "cas")]
    pub(crate) mode: Vec<String>,
    /// Only pairs of these strands, e.g. 0-3,8 [default: all that are usable]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) strands: Option<String>,
    /// Plan every pair, however many there are; the budget still ends it
    #[arg(long)]
    pub(crate) all_pairs: bool,
    #[command(flatten)]
    pub(crate) square: SquareArgs,
    /// What stamps: os, tsc, or auto, as for charz sweep
    #[arg(long, default_value = "auto")]
    pub(crate) clock: String,
    /// What binds workers to seats: hwloc, or core-affinity
    #[arg(long, default_value = "hwloc")]
    pub(crate) binder: String,
    #[arg(long, default_value = "table", help = help::formats(formats::MEASURED.iter().map(|f| f.name)))]
    pub(crate) format: String,
}
