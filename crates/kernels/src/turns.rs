//! Kernels whose workers ask the same of the system again and again, each for itself.

use std::io;

use charz_data::{Bytes, Card, Params, Work};

use crate::kernel::{Error, Worker};
use crate::plain::{Extent, PlainKernel, stage};
use crate::sys::mmap::base_page;
use crate::watch::Watch;

pub(crate) trait Turn: Sized + 'static {
    /// Pages that a turn maps.
    const PAGES: usize = 0;
    /// Turns between two looks at the watch.
    const STRETCH: usize;
    const VARIANT: &'static str;
    /// What it means that the system refuses a turn.
    const REFUSED: &'static str;
    /// What is wrong where a turn does not do what it should.
    const WRONG: &'static str;

    /// What a worker keeps from turn to turn.
    fn new() -> io::Result<Self>;

    /// One turn. Whether it did what it should.
    fn turn(&mut self) -> io::Result<bool>;
}

pub(crate) const fn turning<T: Turn>(card: &'static Card) -> PlainKernel {
    let footprint = |_: &PlainKernel, _: &Params| Bytes((T::PAGES * base_page()) as u64);
    PlainKernel::new(card, (), footprint, |kernel, params, _| {
        let name = kernel.name();
        stage(T::VARIANT, Extent::Span(params.span()), move |_| {
            let turn = T::new().map_err(|error| refused::<T>(name, &error))?;
            Ok(Box::new(Turner { name, turn, verdict: Ok(()) }))
        })
    })
}

struct Turner<T> {
    name: &'static str,
    turn: T,
    verdict: Result<(), Error>,
}

impl<T: Turn> Worker for Turner<T> {
    fn prepare(&mut self) {
        self.verdict = Ok(());
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let (mut turns, mut right) = (0, true);
        'run: while !watch.should_stop() {
            for _ in 0..T::STRETCH {
                match self.turn.turn() {
                    Ok(as_expected) => right &= as_expected,
                    Err(error) => {
                        self.verdict = Err(refused::<T>(self.name, &error));
                        break 'run;
                    }
                }
                turns += 1;
            }
        }
        if !right {
            let wrong = Error::void(self.name, T::WRONG);
            self.verdict = self.verdict.clone().and(Err(wrong));
        }
        Work::ops(turns)
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.verdict.clone()
    }
}

fn refused<T: Turn>(name: &str, error: &io::Error) -> Error {
    Error::Refused(format!("{name}: {} ({error}): end what else runs, or ask for fewer workers", T::REFUSED))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use charz_data::params::SPAN;
    use charz_data::{Family, Metric};

    use super::*;
    use crate::kernel::Kernel;
    use crate::tests::watch;

    /// A call whose third turn goes wrong, or is refused.
    struct Third<const REFUSES: bool>(u32);

    impl<const REFUSES: bool> Turn for Third<REFUSES> {
        // A busy machine may leave time for one stretch.
        const STRETCH: usize = 4;
        const VARIANT: &'static str = "third";
        const REFUSED: &'static str = "no third";
        const WRONG: &'static str = "the third was another";

        fn new() -> io::Result<Self> {
            Ok(Third(0))
        }

        fn turn(&mut self) -> io::Result<bool> {
            self.0 += 1;
            match self.0 {
                3 if REFUSES => Err(io::ErrorKind::OutOfMemory.into()),
                3 => Ok(false),
                _ => Ok(true),
            }
        }
    }

    const CARD: Card = Card::new("call-third", Family::Sync, "", Metric::op_time("a call")).params(&[&SPAN]);

    /// What is said of a run, and whether it counted the turns before.
    fn verdict<const REFUSES: bool>() -> Result<(), Error> {
        let stage = Kernel::stage(&turning::<Third<REFUSES>>(const { &CARD }), &Params::SMALL, 1).unwrap();
        let mut worker = stage.worker(0).unwrap();
        worker.prepare();
        assert!(worker.run(&watch(Some(Duration::from_millis(20)))).ops.0 >= 2);
        worker.verify()
    }

    #[test]
    fn a_turn_that_is_wrong_or_refused_is_told_of() {
        assert!(matches!(verdict::<false>(), Err(Error::Wrong(reason)) if reason.contains("the third was another")));
        assert!(
            matches!(verdict::<true>(), Err(Error::Refused(reason)) if reason.starts_with("call-third: no third ("))
        );
    }
}
