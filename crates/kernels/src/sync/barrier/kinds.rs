//! The barriers that are measured, behind one interface.

use charz_data::params::SAMPLES;
use charz_data::{Card, Family, Metric, Role, WorkerCount};

use super::own::{Central, Sense};
use super::{Meet, meeting};
use crate::kernel::Error;
use crate::plain::kernels;
use crate::sys::pthread;

pub(super) const BLOCKS: Card = Card::new("", Family::Sync, "", Metric::SecondTime)
    .times(
        "from a worker's arrival to its leaving, of each but the last to arrive",
        "from the last arrival to a worker's leaving, of each but the last to arrive",
    )
    .uncounted_traffic(
        "workers arrive one right after the other; each looks at another's phase when it has left, which is not timed",
    )
    .params(&[&SAMPLES])
    .role(Role::Barrier)
    .source("Milfeld et al., Effective Use of Multi-Core Commodity Systems in HPC (TACC): the cost of a barrier")
    .workers(WorkerCount::AtLeast(2))
    .blocks_in_kernel(true);

const SPINS: Card = BLOCKS.contends(true).blocks_in_kernel(false);

kernels! {
    meeting::<pthread::barrier::Barrier> => BLOCKS
        .named("barrier-pthread", "meets all others at a pthread_barrier_t, again and again, and sleeps until the last \
            is there");
    meeting::<std::sync::Barrier> => BLOCKS
        .named("barrier-std", "meets all others at a std::sync::Barrier, again and again, and sleeps until the last is \
            there");
    meeting::<Central> => SPINS
        .named("barrier-spin", "meets all others at a counter of arrivals, and spins until the last one changes the \
            number of the generation");
    meeting::<Sense> => SPINS
        .named("barrier-sense", "meets all others at a counter of those missing, and spins until the last one reverses \
            the sense")
        .source("J. M. Mellor-Crummey and M. L. Scott, Algorithms for Scalable Synchronization on Shared-Memory \
            Multiprocessors, TOCS 9 (1991), section 3.1");
}

impl Meet for pthread::barrier::Barrier {
    const VARIANT: &'static str = "pthread_barrier_wait";

    fn new(parties: usize) -> Result<Self, Error> {
        pthread::barrier::Barrier::new(parties)
    }

    #[inline]
    fn meet(&self, _: &mut bool, _: bool) {
        self.wait();
    }
}

impl Meet for std::sync::Barrier {
    const VARIANT: &'static str = "mutex and condition variable";

    fn new(parties: usize) -> Result<Self, Error> {
        Ok(std::sync::Barrier::new(parties))
    }

    #[inline]
    fn meet(&self, _: &mut bool, _: bool) {
        self.wait();
    }
}

impl Meet for Central {
    const VARIANT: &'static str = "counter and generation";

    fn new(parties: usize) -> Result<Self, Error> {
        Ok(Central::new(number(parties)?))
    }

    #[inline]
    fn meet(&self, _: &mut bool, each: bool) {
        self.wait(each);
    }
}

impl Meet for Sense {
    const VARIANT: &'static str = "counter and sense";

    fn new(parties: usize) -> Result<Self, Error> {
        Ok(Sense::new(number(parties)?))
    }

    fn sense(&self) -> bool {
        self.sense()
    }

    #[inline]
    fn meet(&self, sense: &mut bool, each: bool) {
        self.wait(sense, each);
    }
}

fn number(parties: usize) -> Result<u32, Error> {
    u32::try_from(parties).map_err(|_| Error::Unavailable(format!("{parties} workers are too many for a barrier")))
}
