//! `create-rate`: how many threads the system makes for several makers at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use charz_data::params::SPAN;
use charz_data::{Card, Family, Metric};

use super::STACK;
use crate::plain::kernels;
use crate::turns::{Turn, turning};

kernels! {
    turning::<Made> => Card::new(
        "create-rate",
        Family::Sync,
        "makes a thread with std::thread and joins it, again and again, beside the other workers, which do the same",
        Metric::ops("one thread made, run and joined"),
    )
    .uncounted_traffic("a stack of 64 KiB each (128 KiB on aarch64). A new thread inherits the strands of its maker, so on a seat it runs while its maker sleeps. \
                        The makers share the memory map of their process, and its lock")
    .params(&[&SPAN])
    .source("B. Smaalders, P. Harman: libMicro (Sun Microsystems, 2005): pthread_create, by several threads (-T)")
    .blocks_in_kernel(true);
}

struct Made(Arc<AtomicU64>);

impl Turn for Made {
    const STRETCH: usize = 1;
    const VARIANT: &'static str = "std::thread";
    const REFUSED: &'static str = "the system makes no more threads";
    const WRONG: &'static str = "a thread ended that had not run";

    fn new() -> io::Result<Self> {
        Ok(Made(Arc::default()))
    }

    fn turn(&mut self) -> io::Result<bool> {
        let ran = Arc::clone(&self.0);
        let before = self.0.load(Ordering::Relaxed);
        let run = move || ran.store(before + 1, Ordering::Relaxed);
        let joined = thread::Builder::new().stack_size(STACK).spawn(run)?.join();
        Ok(joined.is_ok() && self.0.load(Ordering::Relaxed) == before + 1)
    }
}
