//! `noop`: the floor of the harness.

use crate::kernel::{Card, Counts, Crew, Error, Family, Kernel, Params, Stage, Worker};
use crate::watch::Watch;
use crate::work::{Bytes, Work};

/// The kernel that does nothing: what a run costs before anything runs in it.
pub static NOOP: Noop = Noop;

/// See [`NOOP`].
#[derive(Debug)]
pub struct Noop;

static CARD: Card = Card {
    name: "noop",
    family: Family::Floor,
    about: "does nothing, so that its time is what the apparatus itself costs",
    counts: Counts::Nothing,
    beside: "",
    knobs: &[],
    source: "the empty benchmark that a measuring program owes its readers",
    by_default: false,
    most_per_cycle: None,
    contends: false,
    crew: Crew::Any,
    system: false,
};

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
