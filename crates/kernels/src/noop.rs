//! `noop`: the floor of the harness.

/// The kernel that does nothing: what a run costs before anything runs in it.
use charz_data::{Bytes, Card, Family, Metric, Params, Role, Work};

use crate::kernel::{Error, Kernel, Stage, Worker};
use crate::watch::Watch;

pub(crate) static KERNELS: &[&dyn Kernel] = &[&NOOP];

pub static NOOP: Noop = Noop;

#[derive(Debug)]
pub struct Noop;

static CARD: Card = Card::new(
    "noop",
    Family::Floor,
    "does nothing, so that its time is what the apparatus itself costs",
    Metric::Duration,
)
.role(Role::Floor)
.source("the empty benchmark that a measuring program owes its readers");

impl Kernel for Noop {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn footprint(&self, _: &Params) -> Bytes {
        Bytes(0)
    }

    fn stage(&self, _: &Params, _: usize) -> Result<Box<dyn Stage>, Error> {
        Ok(Box::new(Noop))
    }
}

impl Stage for Noop {
    fn variant(&self) -> &'static str {
        "empty"
    }

    fn work(&self) -> Work {
        Work::default()
    }

    fn worker(&self, _: usize) -> Result<Box<dyn Worker>, Error> {
        Ok(Box::new(Noop))
    }
}

impl Worker for Noop {
    fn run(&mut self, _: &Watch) -> Work {
        Work::default()
    }

    fn verify(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
