//! A user's program as the kernel `command`: what it is run as, and how a run becomes a number.
//!
//! It is planned, seated, judged and kept as any kernel is. In the measuring process it takes the place of the harness: each repetition
//! is one run of the program, or of as many copies as there are workers, with a lap for each worker.

mod identity;
mod laps;
mod lines;
mod output;
mod pattern;
mod printed;
mod run;
mod setup;
pub(crate) mod stops;
mod value;
mod words;

use std::borrow::Cow;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use charz_data::{COMMAND, Program, ProgramValue};
use charz_kernels::{Bytes, Card, Error, Family, Kernel, Metric, Params, Role, Stage, Stop, params};

use crate::harness::Failure;
use charz_data::report::Invocation;

pub use identity::identity;
pub(crate) use run::Order;
pub use value::Readers;
pub use words::{Words, note};

static CARD: Card = Card::new(
    COMMAND,
    Family::Program,
    "runs a program of yours",
    Metric::Reported(Cow::Borrowed("what it prints, or its time")),
)
.role(Role::Program)
.params(&[&params::MEMORY])
.source("the user's own")
// Its threads may sleep, wait and fault as they do elsewhere: that is what is measured.
.blocks_in_kernel(true);

/// What stands for the program where cells are planned.
static KERNEL: &dyn Kernel = &UserProgram;

struct UserProgram;

impl Kernel for UserProgram {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn footprint(&self, _: &Params) -> Bytes {
        Bytes(0)
    }

    fn stage(&self, _: &Params, _: usize) -> Result<Box<dyn Stage>, Error> {
        Err(Error::Unavailable("a program is run, and has no stage".into()))
    }
}

/// Runs a program as often as its order says, unless the flag is raised, with which `wake` becomes readable.
pub(crate) fn measure(order: &Order<'_>, stop: &Stop, wake: BorrowedFd<'_>) -> Result<Invocation, Failure> {
    run::measure(order, stop, wake, lines::measure)
}

/// The longest that so many runs may take that may take so long each, with the set-up before each.
pub fn longest(program: &Program, time_box: Duration, runs: u32) -> Duration {
    let setup = program.setup.as_ref().map_or(Duration::ZERO, |_| setup::longest(time_box));
    time_box.saturating_add(setup).saturating_mul(runs)
}

/// The kernel that runs `--command`.
pub fn kernel() -> &'static dyn Kernel {
    KERNEL
}

/// A kernel by name, that of `--command` among them.
pub fn find(name: &str) -> Option<&'static dyn Kernel> {
    charz_workloads::find(name).or_else(|| (name == COMMAND).then_some(KERNEL))
}

/// The card of this program, for a report.
pub(crate) fn card(program: &Program) -> Card {
    let how = if program.in_copies() { ", a copy of it for each thread" } else { "" };
    let from = match &program.value {
        ProgramValue::Wall => "the time of a run".to_owned(),
        ProgramValue::Work(operations) => format!("{operations} operations over the time of a run"),
        ProgramValue::Regex(regex) => format!("what it prints, by the regular expression {regex:?}"),
        ProgramValue::Json(path) => format!("{path:?} of the JSON that it prints"),
        ProgramValue::Last => "the last number that it prints".to_owned(),
        ProgramValue::Protocol => "its own work and times, by the line protocol".to_owned(),
    };
    let mut card = CARD.clone();
    card.about = format!("runs {}{how}", program.command).into();
    card.metric = Metric::Reported(from.into());
    card
}
