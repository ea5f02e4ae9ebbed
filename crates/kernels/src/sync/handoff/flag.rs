//! `flag`: a line of memory that one worker writes and another spins on.

use std::sync::atomic::{AtomicU64, Ordering};

use charz_data::Role;
use charz_data::card::Waiter;
use crossbeam::utils::CachePadded;

use super::{HandOff, WAKES_ONE, WakePrimitive};
use crate::kernel::{Error, Kernel};
use crate::sync::spin::for_a_stretch;

pub static FLAG: &dyn Kernel = &HandOff::<Flag>::new(
    const {
        &WAKES_ONE.named("flag", "the first worker stores to a line of memory that the second one reads until it sees the change")
    .role(Role::HandOff(Waiter::Spinning))
    .times("from the store to its return", "from the store to the reader having seen it")
    .uncounted_traffic("the reader pauses between two looks. The least that can be told is two stamps: one on either side of the store, or \
             of the hand-off")
    .source("K. Milfeld et al., multi-core measurements at TACC: two spin loops on a volatile flag")
    .contends(true)
    .blocks_in_kernel(false)
    },
);

/// The line. It holds the round that was called.
#[derive(Debug)]
struct Flag(CachePadded<AtomicU64>);

impl WakePrimitive for Flag {
    type Held<'a> = ();
    type Got<'a> = ();

    const VARIANT: &'static str = "store";

    fn new() -> Result<Self, Error> {
        Ok(Flag(CachePadded::default()))
    }

    fn open(&self) {}

    #[inline]
    fn call(&self, _held: (), round: u64) -> bool {
        self.0.store(round, Ordering::Release);
        true
    }

    fn wait(&self, round: u64, ready: impl FnOnce()) -> Option<()> {
        ready();
        for_a_stretch(|| self.0.load(Ordering::Acquire) >= round).then_some(())
    }
}
