//! `noop`: the floor of the harness, what a run costs before anything runs in it.

use charz_data::{Bytes, Card, Family, Metric, Role, Work};

use crate::kernel::{Kernel, Worker};
use crate::plain::{Extent, PlainKernel, stage};
use crate::watch::Watch;

pub(crate) static KERNELS: &[&dyn Kernel] = &[NOOP];

pub static NOOP: &dyn Kernel = &PlainKernel::new(
    &CARD,
    (),
    |_, _| Bytes(0),
    |_, _, _| stage("empty", Extent::Each(Work::default()), |_| Ok(Box::new(Noop))),
);

static CARD: Card =
    Card::new("noop", Family::Floor, "does nothing, so its time is what the apparatus itself costs", Metric::Duration)
        .role(Role::Floor)
        .source("the empty benchmark that a measuring program owes its readers");

struct Noop;

impl Worker for Noop {
    fn run(&mut self, _: &Watch) -> Work {
        Work::default()
    }
}
