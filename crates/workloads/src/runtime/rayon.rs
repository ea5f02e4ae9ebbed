//! The work-stealing pool that programs in Rust use.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon_core::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};

use super::parker::Parker;
use super::{Counts, Hand, Runtime, STACK, Setting, patience};
use crate::sys::fork::{self, Left};
use charz_kernels::kernel::Error;
use charz_kernels::sys::pthread::thread::{self as pthread, Attributes, Enter};
use charz_kernels::watch::Watch;

pub(crate) struct Rayon {
    /// Dropped first: its threads end then.
    pool: Option<ThreadPool>,
    /// Dropping them joins.
    threads: Vec<pthread::Thread>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    outside: Parker,
    over: AtomicBool,
}

/// The hand of any of its threads.
#[derive(Clone)]
pub(crate) struct Rayoned(Arc<Shared>);

impl Runtime for Rayon {
    const VARIANT: &'static str = "rayon";

    type Hand = Rayoned;

    fn new(setting: &Setting) -> Result<Self, Error> {
        let mut runtime = Rayon { pool: None, threads: Vec::new(), shared: Arc::default() };
        let threads = &mut runtime.threads;
        let spawn = |thread: ThreadBuilder| {
            let seat = setting.seats.get(thread.index()).unwrap_or(&setting.mask);
            let attributes = Attributes::new(STACK, false, Some(seat)).map_err(io::Error::other)?;
            let entry = Arc::new(Entry(Mutex::new(Some(thread))));
            threads.push(pthread::create(&attributes, entry).map_err(io::Error::other)?);
            Ok(())
        };
        // Without a number it would take one thread for each strand, or what a variable of the environment says.
        let builder = ThreadPoolBuilder::new().num_threads(setting.threads.max(1) as usize).spawn_handler(spawn);
        let refused = |error| Error::Refused(format!("rayon has no threads: {error}"));
        runtime.pool = Some(builder.build().map_err(refused)?);
        Ok(runtime)
    }

    fn run<T: Send>(&self, watch: &Watch, part: T, work: impl Fn(&Rayoned, T) + Sync) {
        let give = |job: fork::Job<Rayoned>| {
            let shared = Arc::clone(&self.shared);
            let run = move || {
                let hand = Rayoned(shared);
                job.run(&hand).end();
                hand.0.outside.unpark();
            };
            match &self.pool {
                Some(pool) => pool.spawn(run),
                None => run(),
            }
        };
        let wait = |left: &Left| {
            if !left.settle() {
                self.shared.outside.park(patience(watch, &self.shared.over));
            }
        };
        fork::each(0, [part], work, give, wait);
    }

    fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Relaxed)
    }

    /// What happens between its threads, it does not report.
    fn counts(&self) -> Counts {
        let threads = self.threads.len() as u64;
        Counts { created: threads, peak: threads, ..Counts::default() }
    }
}

impl Hand for Rayoned {
    #[inline]
    fn each<T: Send, const N: usize>(&self, parts: [T; N], work: impl Fn(&Self, T) + Sync) {
        halves(&mut parts.map(Some), &|part| work(self, part));
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Relaxed)
    }
}

/// Does each part once, by `rayon::join` of the halves.
fn halves<T: Send>(parts: &mut [Option<T>], work: &(impl Fn(T) + Sync)) {
    match parts {
        [] => {}
        [part] => part.take().into_iter().for_each(work),
        _ => {
            let (left, right) = parts.split_at_mut(parts.len() / 2);
            rayon_core::join(|| halves(left, work), || halves(right, work));
        }
    }
}

/// A thread that rayon asks for, until it comes.
struct Entry(Mutex<Option<ThreadBuilder>>);

impl Enter for Entry {
    fn enter(&self) {
        let thread = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            thread.run();
        }
    }
}
