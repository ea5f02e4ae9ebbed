//! `create-hold`: threads that stay, until the system refuses one or a cap is reached.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use charz_data::params::SPAN;
use charz_data::{Bytes, Card, Contention, Family, Metric, Work};
use charz_system::{cgroup, threads};

use super::STACK;
use crate::kernel::{Error, Worker};
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::sys::futex::{self, Scope};
use crate::watch::Watch;

/// The most threads that all workers hold.
const MOST: u64 = 4096;

/// The part of each limit that is taken: the rest is for everything else that runs under it.
const SHARE: u64 = 2;

/// Mappings that the C library makes for a thread: its stack, and the guard below.
const MAPPINGS: u64 = 2;

/// Memory that a thread takes that does nothing: 16 KiB in the kernel, and two pages.
const TOUCHED: u64 = 24 << 10;

kernels! {
    holding => Card::new(
        "create-hold",
        Family::Sync,
        "creates sleeping threads until the system refuses one, the time is over, or there are 4096",
        Metric::op_time("one thread made, while all before it stay"),
    )
    .uncounted_traffic(
        "a stack of 64 KiB each (128 KiB on aarch64). All workers together make half of what RLIMIT_NPROC, pids.max of the control groups, threads-max and \
         vm.max_map_count allow, and 4096 at most. A thread that the system refuses is a failed attempt and ends the run",
    )
    .params(&[&SPAN])
    .source("K. Milfeld et al., multi-core measurements at TACC, section 4: the first and each next thread; pthread_create(3): EAGAIN")
    .blocks_in_kernel(true);
}

const fn holding(card: &'static Card) -> PlainKernel {
    PlainKernel::new(
        card,
        (),
        |_, _| Bytes(MOST * TOUCHED),
        |kernel, params, workers| {
            let (name, most) = (kernel.name(), allowed() / workers as u64);
            if most == 0 {
                return Err(
                    kernel.unavailable("finds no room for a thread: allow more threads, or ask for fewer workers")
                );
            }
            stage("std::thread", Extent::Span(params.span()), move |_| {
                let (held, gate) = (Vec::with_capacity(most as usize), Arc::default());
                Ok(Box::new(Holder { name, most, held, gate, refused: 0, made: 0, ran: 0 }))
            })
        },
    )
}

/// The threads that all workers may hold, by what the system allows, where it says so.
fn allowed() -> u64 {
    let of_group = cgroup::tasks().iter().map(|tasks| tasks.max).min();
    cap([threads::max_of_user(), of_group, threads::threads_max()], threads::max_map_count())
}

fn cap(threads: [Option<u64>; 3], mappings: Option<u64>) -> u64 {
    let mapped = mappings.map(|mappings| mappings / MAPPINGS);
    let all = threads.into_iter().chain([mapped]).flatten();
    all.map(|limit| limit / SHARE).min().unwrap_or(MOST).min(MOST)
}

/// What the threads sleep on.
#[derive(Debug, Default)]
struct Gate {
    /// 1 once they may go.
    open: AtomicU32,
    ran: AtomicU32,
}

impl Gate {
    fn wait(&self) {
        self.ran.fetch_add(1, Ordering::Relaxed);
        while self.open.load(Ordering::Acquire) == 0 {
            futex::wait(&self.open, 0, Scope::Process, Duration::MAX);
        }
    }
}

struct Holder {
    name: &'static str,
    most: u64,
    held: Vec<JoinHandle<()>>,
    gate: Arc<Gate>,
    /// Threads of the last run that the system refused, 0 or 1.
    refused: u64,
    /// Threads of the last run.
    made: u64,
    /// How many of them ran before they were let go or ended.
    ran: u64,
}

impl Holder {
    fn let_go(&mut self) {
        self.gate.open.store(1, Ordering::Release);
        futex::wake(&self.gate.open, u32::MAX, Scope::Process);
        for thread in self.held.drain(..) {
            // It does nothing that panics.
            let _ = thread.join();
        }
        self.ran = u64::from(self.gate.ran.load(Ordering::Relaxed));
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl Worker for Holder {
    fn prepare(&mut self) {
        self.let_go();
        (self.gate, self.refused, self.made) = (Arc::default(), 0, 0);
    }

    fn run(&mut self, watch: &Watch) -> Work {
        while self.made < self.most && !watch.should_stop() {
            let gate = Arc::clone(&self.gate);
            match thread::Builder::new().stack_size(STACK).spawn(move || gate.wait()) {
                Ok(thread) => self.held.push(thread),
                Err(_) => {
                    self.refused = 1;
                    break;
                }
            }
            self.made += 1;
        }
        Work::ops(self.made)
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.let_go();
        if self.made == 0 && self.refused > 0 {
            let name = self.name;
            return Err(Error::Refused(format!(
                "{name}: the system makes no thread: end what else runs, or allow more"
            )));
        }
        let (ran, made) = (self.ran, self.made);
        Error::unless(ran == made, self.name, || format!("{ran} of {made} threads ran"))
    }

    fn contention(&self) -> Option<Contention> {
        let (attempts, failures) = (self.made + self.refused, self.refused);
        Some(Contention { attempts, failures, ..Contention::default() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tests::{check_noticed, watch};

    fn holder(most: u64) -> Holder {
        Holder { name: "create-hold", most, held: Vec::new(), gate: Arc::default(), refused: 0, made: 0, ran: 0 }
    }

    #[test]
    fn threads_are_held_until_they_are_let_go() {
        let mut holder = holder(7);
        holder.prepare();
        assert_eq!(holder.run(&watch(None)), Work::ops(7));
        assert!(holder.held.len() == 7 && holder.held.iter().all(|thread| !thread.is_finished()));
        assert_eq!(holder.verify(), Ok(()));
        assert!(holder.held.is_empty() && holder.gate.ran.load(Ordering::Relaxed) == 7);
        check_noticed(&mut holder, None, |holder| holder.made += 1);
    }

    proptest! {
        /// What else runs under a limit keeps as much as the threads take.
        #[test]
        fn no_limit_is_used_up(
            wide: [Option<u64>; 2], threads in prop::option::of(0..9000_u64), mappings in prop::option::of(0..9000_u64),
        ) {
            let cap = cap([wide[0], wide[1], threads], mappings);
            prop_assert!(cap <= MOST);
            for (limit, each) in [(wide[0], 1), (wide[1], 1), (threads, 1), (mappings, MAPPINGS)] {
                prop_assert!(limit.is_none_or(|limit| cap * each <= limit / 2));
            }
        }
    }
}
