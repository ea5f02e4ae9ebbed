//! The flags of hardware counters.

use clap::Args;

use super::flag::Flag;
use super::layers::Layers;
use super::quantities::count;
use crate::exit::Error;

/// The widest core: no processor issues more instructions per cycle by far.
const WIDEST: usize = 64;

const ISSUE_WIDTH: Flag<u64> = Flag { name: "--issue-width", read: |name, text| Ok(count(name, text, WIDEST)? as u64) };

#[derive(Clone, Debug, Args)]
pub(super) struct CountersArgs {
    /// Also measure with hardware counters: instructions, cycles, branch misses, cache misses
    ///
    /// They count in user mode. Each configuration gets as many more runs as its fewest (--runs), every second one with counters (perf_event_open). Its
    /// number comes from the runs without; how much the others are slower is reported as the cost of the counters. If the system
    /// offers no counters, the report says why, and nothing else changes.
    #[arg(long)]
    pub(super) counters: bool,
    /// Instructions that a core can issue per cycle, for the efficiency: auto, or a number
    ///
    /// Efficiency is millions of instructions per second over clock × cores × issue width. auto is known for most processors of x86_64
    /// servers, and where an Arm processor reports its dispatch slots; elsewhere there is no efficiency.
    #[arg(long, value_name = "N", default_value = "auto", allow_hyphen_values = true)]
    pub(super) issue_width: String,
}

impl CountersArgs {
    pub(super) fn issue_width(&self, layers: &Layers) -> Result<Option<u64>, Error> {
        let width = ISSUE_WIDTH.unless_auto(&self.issue_width, layers)?;
        // Not a rule of the grammar, which sees what was typed only. What is set elsewhere is for all sweeps.
        match width.is_some() && !self.counters && layers.place(ISSUE_WIDTH.name).is_none() {
            true => Err(Error::bad_input("--issue-width: efficiency is of hardware counters; add --counters")),
            false => Ok(width),
        }
    }
}
