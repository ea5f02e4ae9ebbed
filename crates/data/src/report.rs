//! The report: what is written to disk, and nothing but that. It knows neither the harness that fills it nor the renderers
//! that read it.
//!
//! Integers carry their unit in the field's name. What is not known is absent or `null`, never 0. Nothing in a file follows from anything
//! else in it, but for its section [`derived`](Derived), which is for other programs. Fields that say "Derived" are in no file:
//! [`Invocation::complete`] and `charz-judge` fill them in when a report is read.
//!
//! Within one major version fields are only added, each with a default: old readers read new files, and new readers old ones. Files of
//! earlier major versions are read for ever, each by a module of its own; one of a later version is refused.

mod anonymous;
mod cell;
mod derived;
mod evidence;
mod finding;
#[cfg(any(test, feature = "fixtures"))]
mod fixture_cards;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
mod host;
mod lap;
mod number;
mod point;
mod read;
mod run;
mod speeds;
mod v1;
mod write;

pub use crate::checks::Severity;
pub use crate::{
    Contention, Distribution, Growth, GrowthStep, Halt, Hardware, HardwareCount, HardwareCounts, Histogram,
    JointHistogram, MemoryPolicy as MemoryHome, PageKind, Peak, Shape, Sharing,
};
pub use anonymous::{anonymous, anonymous_cell};
pub use cell::{Cell, Ending, Energy, Estimator, Invocation, NEARLY_ALL, PREDICTED, Status, Summary};
pub use derived::{Derived, with_derived};
pub use evidence::{
    Busy, Culprit, CulpritKind, Evidence, FirstElsewhere, Frequency, Mark, Nodes, Pages, ProgramSeen, Timer,
};
pub use finding::{Finding, FindingKind};
pub use host::{Host, Memory, Tool};
pub use lap::{Counts, Group, Lap};
pub use number::{Interval, Measured, Unit};
pub use point::Point;
pub use read::{
    FileError, Kind, MAX_BYTES, check, check_invocation, from_json, is_report, kind, parse, read, read_open,
    read_stream, read_with_text, unpacked,
};
pub use run::Run;
pub use speeds::packed as packed_speeds;
pub use write::{File, is_packed, packed, write};

use crate::escape::{plain, quoted};
use crate::machine::Machine;
use crate::params::Params;
use crate::program::ProgramIdentity;
use crate::{COMMAND, Card, Program, Role};
use serde::{Deserialize, Serialize};

/// The JSON Schema of a report, as `cargo xtask docs` writes it.
pub const SCHEMA: &str = include_str!("../schema/report.json");
/// The name in [`Schema::name`].
pub const SCHEMA_NAME: &str = "charz-report";
/// The version that this program writes.
pub const SCHEMA_MAJOR: u32 = 2;
/// What [`Report::stopped_by`] begins with where runs failed; a colon and what they said follow.
pub const FAILURE: &str = "a failure";
/// Grows with every added field.
pub const SCHEMA_MINOR: u32 = 0;

/// Which format a file has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Schema {
    /// `charz-report`, or `charz-comparison`.
    pub name: String,
    /// Changes when a field changes its meaning or goes away.
    pub major: u32,
    /// Grows when a field is added.
    pub minor: u32,
}

impl Schema {
    /// The format of the reports that this program writes.
    pub fn of_reports() -> Self {
        Schema { name: SCHEMA_NAME.into(), major: SCHEMA_MAJOR, minor: SCHEMA_MINOR }
    }
}

/// A sweep of one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The format.
    pub schema: Schema,
    /// A random name of this sweep, 32 hexadecimal digits; its journal carries the same.
    pub id: String,
    /// The program that measured.
    pub tool: Tool,
    /// The command line, with what the environment and the configuration file said as flags.
    pub command: String,
    /// The name of the table that the numbers come from, where another program measured them; absent where charz did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_by: Option<String>,
    /// When the sweep began, UTC, RFC 3339, e.g. `2026-01-31T12:00:00Z`. A label: no duration comes from it.
    pub started: String,
    /// The system that was measured.
    pub host: Host,
    /// The machine that was measured.
    pub machine: Machine,
    /// The clock that stamps laps; null where it was not looked at.
    pub timer: Option<Timer>,
    /// What was to be measured, and how.
    pub plan: Plan,
    /// The cards of all kernels that have a cell, in the order of the plan; then the floor's.
    pub cards: Vec<Card>,
    /// The apparatus measured by itself: an empty kernel under the first mapping, for each number of workers.
    pub floor: Vec<Cell>,
    /// Every cell of the plan, in its order.
    pub cells: Vec<Cell>,
    /// By it a later session recognises the program of the plan as one that its user started on this host: a code of the plan's program and
    /// of this report under a key that only that user has. Null where there is no program, or the user has no folder for a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
    /// Nanoseconds spent sweeping, timed spans and everything around them; over all sittings if it was resumed.
    pub wall_ns: u64,
    /// Whether the sweep gave every cell its due: the fewest runs that the plan asks for, or a reason why not. `false` after
    /// an interruption, and where the budget was too small.
    pub complete: bool,
    /// Why the sweep ended early: `SIGINT`, `SIGTERM`, `budget`, `a failure` with what a program or its set-up said, which CPU, NUMA node or memory was missing, or null.
    pub stopped_by: Option<String>,
    /// Whether it does not say whose it is: names, labels, products, paths, command lines and other programs are left out, and reasons
    /// that a program or the system wrote. In a journal, that its report will not say it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anonymous: bool,
    /// Where it is kept, where a command that is printed may name that. Not in the file.
    #[serde(skip)]
    pub file: Option<String>,
}

impl Report {
    /// Fills in what follows from laps and is in no file; see [`Invocation::complete`].
    pub fn complete_cells(&mut self) {
        self.floor.iter_mut().chain(&mut self.cells).for_each(Cell::complete);
    }

    /// What the report says of a kernel.
    pub fn card(&self, kernel: &str) -> Option<&Card> {
        self.cards.iter().find(|card| card.name == kernel)
    }

    /// What analyses take a kernel for.
    pub fn role(&self, kernel: &str) -> &Role {
        self.card(kernel).map_or(&Role::Other, |card| &card.role)
    }

    /// The user's program that the numbers of a cell are of.
    pub fn program_of(&self, cell: &Cell) -> Option<&Program> {
        self.plan.program.as_ref().filter(|_| cell.kernel == COMMAND)
    }

    /// Whether the threads of a kernel are copies of the user's program, each of which does its own work.
    pub fn is_in_copies(&self, kernel: &str) -> bool {
        self.plan.program.as_ref().is_some_and(Program::in_copies) && *self.role(kernel) == Role::Program
    }

    /// Why it is not complete; `None` where it is.
    pub fn incomplete(&self) -> Option<String> {
        let why = || match self.stopped_by.as_deref() {
            Some("budget") if self.cells.iter().all(|cell| self.had_its_runs(cell)) => {
                "too many runs of a configuration were disturbed".to_owned()
            }
            // A run that would not have ended in time was not begun.
            Some("budget") if self.wall_ns < self.plan.budget_ns / 10 * 9 => {
                "the rest of the time budget was too short for another run".to_owned()
            }
            Some("budget") => "the time budget ran out".to_owned(),
            by => format!("stopped by {}", by.unwrap_or("an interruption")),
        };
        (!self.complete).then(why)
    }

    /// Whether as many runs of a cell as were to be made ended well, whatever they were worth; or none was to be made.
    fn had_its_runs(&self, cell: &Cell) -> bool {
        let done = cell.invocations.iter().filter(|invocation| invocation.ending == Ending::Done).count();
        cell.status == Status::Skipped || done as u64 >= self.plan.min_invocations
    }

    /// The command that measures what is missing; `None` where the report does not say on which machine, and of which program.
    pub fn resume(&self) -> Option<String> {
        let file = self.file.as_deref().map(|file| quoted(&plain(file)));
        (!self.anonymous).then(|| format!("charz sweep --resume {}", file.as_deref().unwrap_or("FILE")))
    }

    /// How many cells have this status.
    pub fn count(&self, status: Status) -> usize {
        self.cells.iter().filter(|cell| cell.status == status).count()
    }

    /// The names of the kernels in such a role, in the order of the cards.
    pub fn kernels_in(&self, is_wanted: impl Fn(&Role) -> bool) -> Vec<&str> {
        self.cards.iter().filter(|card| is_wanted(&card.role)).map(|card| &*card.name).collect()
    }
}

/// What was to be measured, with everything that changes a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Names of kernels.
    pub kernels: Vec<String>,
    /// Mappings as on the command line.
    pub mappings: Vec<String>,
    /// Numbers of workers.
    pub threads: Vec<u64>,
    /// The parameters of every cell, but for what its point has.
    #[serde(flatten)]
    pub params: Params,
    /// The relative half width of intervals, if it was asked for; otherwise each family of kernels has its own.
    pub precision: Option<f64>,
    /// Repetitions in each invocation, if they were asked for; otherwise each cell has its own number.
    pub repetitions: Option<u64>,
    /// The fewest runs of each cell.
    #[serde(rename = "min_runs", alias = "min_invocations")]
    pub min_invocations: u64,
    /// The most runs of each cell; those beyond the fewest go where the interval is still too wide.
    #[serde(rename = "max_runs", alias = "max_invocations")]
    pub max_invocations: u64,
    /// Whether only those cells are measured that decide what is advised; the others are skipped, and their reasons have what is predicted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adaptive: bool,
    /// From it come the order of the cells within each round and the seeds of the invocations.
    pub seed: u64,
    /// The longest that the sweep may take.
    pub budget_ns: u64,
    /// The clock that stamps laps: `os`, `realtime` or `tsc`.
    pub clock: String,
    /// What binds threads: `hwloc` or `core-affinity`.
    pub binder: String,
    /// The user's program that the kernel `command` runs; null where there is none.
    pub program: Option<Program>,
    /// Which files that program was when the sweep began, and where it was started; null or absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_identity: Option<ProgramIdentity>,
    /// Whether each cell is also measured with hardware counters, in as many invocations of their own as its fewest.
    #[serde(default)]
    pub counters: bool,
    /// Instructions that a core can issue per cycle, as it was asked for, or known for the processor; null where counters were not asked
    /// for, and where it is not known.
    pub issue_width: Option<u64>,
}
