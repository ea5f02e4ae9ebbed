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

/// The part of the threads that each limit leaves: the rest is for everything else that runs under it.
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
        "a stack of 64 KiB each (128 KiB on aarch64). All workers together make half of the threads that RLIMIT_NPROC and pids.max leave and that \
         threads-max and vm.max_map_count allow, 4096 at most. A thread that the system refuses is a failed attempt and ends the run",
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
    let groups = cgroup::tasks().into_iter().map(|tasks| (tasks.max, tasks.current));
    let user = threads::max_of_user().map(|max| (max, threads::of_user()));
    let all = threads::threads_max().map(|max| (max, None));
    cap(groups.chain(user).chain(all), threads::max_map_count())
}

/// `threads`: limits, each with how many there are, as far as that is known.
fn cap(threads: impl Iterator<Item = (u64, Option<u64>)>, mappings: Option<u64>) -> u64 {
    let left = threads.map(|(limit, taken)| limit.saturating_sub(taken.unwrap_or(0)));
    let mapped = mappings.map(|mappings| mappings / MAPPINGS);
    left.chain(mapped).map(|left| left / SHARE).min().unwrap_or(MOST).min(MOST)
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
            wide: Option<u64>,
            threads in prop::collection::vec((0..9000_u64, prop::option::of(0..9000_u64)), 0..4),
            mappings in prop::option::of(0..9000_u64),
        ) {
            let threads: Vec<_> = threads.into_iter().chain(wide.map(|wide| (wide, None))).collect();
            let cap = cap(threads.iter().copied(), mappings);
            prop_assert!(cap <= MOST && mappings.is_none_or(|mappings| cap * MAPPINGS <= mappings / 2));
            prop_assert!(threads.iter().all(|(limit, taken)| cap <= limit.saturating_sub(taken.unwrap_or(0)) / 2));
        }
    }
}
