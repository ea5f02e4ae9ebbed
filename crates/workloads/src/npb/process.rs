//! Workers that are processes. The problem is made before they are, and each makes its part of it.

use std::array;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use charz_data::{Card, Work};

use super::super::team::Team;
use super::{CG, EP, IS, LU, Solver, cg, ep, is, lu, npb, solve};
use charz_kernels::kernel::{Error, Worker};
use charz_kernels::plain::kernels;
use charz_kernels::sys::futex::Scope;
use charz_kernels::sys::process::{Crew, Desk, Process};
use charz_kernels::sys::shared::Shared;
use charz_kernels::watch::{Stop, Watch};

/// The same of processes. Threads sleep meanwhile, and what the system counts for those is no evidence.
const fn processes(card: Card, name: &'static str, about: &'static str) -> Card {
    card.named(name, about)
        .uncounted_traffic(
            "a thread on each worker's seat looks every 5 ms whether the run is to end, and starts and ends its process, which is part \
             of the interval",
        )
        .blocks_in_kernel(true)
}

kernels! {
    npb::<ep::Ep>, Scope::Machine => processes(EP, "npb-ep-processes", "does as npb-ep with a process per worker");
    npb::<is::Is>, Scope::Machine => processes(IS, "npb-is-processes", "does as npb-is with a process per worker");
    npb::<cg::Cg>, Scope::Machine => processes(CG, "npb-cg-processes", "does as npb-cg with a process per worker");
    npb::<lu::Lu>, Scope::Machine => processes(LU, "npb-lu-processes", "does as npb-lu with a process per worker");
}

const MAKE: u32 = 0;
const PREPARE: u32 = 1;
const RUN: u32 = 2;
const VERIFY: u32 = 3;

/// Why a run does not count, or never begins.
const LOST: &str = "a process ended or hung, killed by hand or for want of memory";

/// Bytes of a verdict: a sentence.
const VERDICT: usize = 256;

/// What a process shares with the thread that drives it, on lines of its own.
#[repr(align(128))]
struct Account {
    desk: Desk,
    /// Whether its last run was a whole one.
    whole: AtomicBool,
    /// What was wrong with it: so many bytes, none if nothing was.
    length: AtomicU32,
    verdict: [AtomicU8; VERDICT],
}

impl Account {
    fn new() -> Self {
        Account {
            desk: Desk::default(),
            whole: AtomicBool::new(false),
            length: AtomicU32::new(0),
            verdict: array::from_fn(|_| AtomicU8::new(0)),
        }
    }

    // The desk orders what is written here before what is read.
    fn write(&self, verdict: &str) {
        self.length.store(verdict.len().min(VERDICT) as u32, Ordering::Relaxed);
        self.verdict.iter().zip(verdict.bytes()).for_each(|(place, byte)| place.store(byte, Ordering::Relaxed));
    }

    fn read(&self) -> String {
        let length = self.length.load(Ordering::Relaxed) as usize;
        let bytes: Vec<u8> = self.verdict.iter().take(length).map(|byte| byte.load(Ordering::Relaxed)).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// What the processes of a program share beside its problem.
pub(super) struct Office {
    accounts: Shared<Account>,
    broken: AtomicBool,
    team: Arc<Team>,
}

impl Office {
    pub(super) fn new(workers: usize, team: Arc<Team>) -> Result<Self, Error> {
        Ok(Office { accounts: Shared::new(workers, Account::new)?, broken: AtomicBool::new(false), team })
    }
}

impl Crew for Office {
    fn desk(&self, rank: usize) -> &Desk {
        &self.accounts[rank].desk
    }

    /// Only the threads that drive the processes ask.
    fn broken(&self) -> &AtomicBool {
        &self.broken
    }

    fn end(&self) {
        self.team.end();
    }
}

/// A worker whose process has its part of the problem.
pub(super) struct Remote {
    name: &'static str,
    rank: usize,
    office: Arc<Office>,
    process: Process<Office>,
    work: Work,
}

impl Remote {
    /// Forks the process, which makes its part of the problem.
    pub(super) fn new<S: Solver>(
        name: &'static str,
        rank: usize,
        office: &Arc<Office>,
        work: Work,
        solver: impl FnOnce() -> S,
    ) -> Result<Self, Error> {
        let mut process = Process::fork(Arc::clone(office), rank, || serve(office, rank, solver()))?;
        process.order(MAKE, || false);
        let remote = Remote { name, rank, office: Arc::clone(office), process, work };
        if remote.is_broken() { Err(Error::Refused(format!("{name}: {LOST}"))) } else { Ok(remote) }
    }

    fn is_broken(&self) -> bool {
        self.office.broken.load(Ordering::Acquire)
    }
}

/// What the process does.
fn serve<S: Solver>(office: &Office, rank: usize, mut solver: S) -> impl FnMut(u32) {
    let account = &office.accounts[rank];
    // The thread that drives the process looks at its own.
    let watch = Watch::new(&Stop::new());
    move |kind| match kind {
        PREPARE => {
            if rank == 0 {
                office.team.open();
            }
            solver.prepare();
        }
        RUN => account.whole.store(solve(&mut solver, rank, &office.team, &watch), Ordering::Relaxed),
        VERIFY => account.write(&solver.verify().err().unwrap_or_default()),
        _ => {}
    }
}

impl Worker for Remote {
    fn prepare(&mut self) {
        self.process.order(PREPARE, || false);
    }

    fn run(&mut self, watch: &Watch) -> Work {
        self.process.run(RUN, || watch.should_stop());
        // Where a process was lost, it is the verdict that says so.
        let whole = self.is_broken() || self.office.accounts[self.rank].whole.load(Ordering::Relaxed);
        if whole { self.work } else { Work::default() }
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.process.order(VERIFY, || false);
        if self.is_broken() {
            return Err(Error::void(self.name, LOST));
        }
        match self.office.accounts[self.rank].read() {
            wrong if wrong.is_empty() => Ok(()),
            wrong => Err(Error::void(self.name, wrong)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Member, Over};
    use super::*;
    use charz_kernels::tests::{Look, laps};

    /// What goes wrong with the process of the first worker, in its second run.
    #[derive(Clone, Copy, PartialEq)]
    enum Fate {
        Wrong,
        Dies,
        Hangs,
    }

    struct Fake {
        fate: Option<Fate>,
        /// Whether it hangs.
        hangs: Arc<Shared<AtomicBool>>,
        runs: u32,
    }

    impl Solver for Fake {
        fn prepare(&mut self) {
            self.runs += 1;
        }

        fn solve(&mut self, member: &mut Member<'_>) -> Result<(), Over> {
            match self.fate {
                Some(Fate::Dies) if self.runs == 2 => panic!("a panic in a process ends it"),
                Some(Fate::Hangs) if self.runs == 2 => loop {
                    self.hangs[0].store(true, Ordering::Release);
                    std::thread::park();
                },
                _ => member.meet(),
            }
        }

        fn verify(&mut self) -> Result<(), String> {
            let wrong = self.fate == Some(Fate::Wrong) && self.runs == 2;
            if wrong { Err("the sum is 1 instead of 2".repeat(20)) } else { Ok(()) }
        }
    }

    /// The verdicts of two workers on their second runs, which are stopped once a process hangs; all were right about their first ones.
    fn verdicts(fate: Fate) -> Vec<Result<(), Error>> {
        let hangs = Arc::new(Shared::new(1, || AtomicBool::new(false)).unwrap());
        let stop = Stop::new();
        let work = Work::ops(7);
        let office = Arc::new(Office::new(2, Arc::new(Team::of(2).unwrap())).unwrap());
        let worker = |rank| -> Box<dyn Worker> {
            let fake = || Fake { fate: (rank == 0).then_some(fate), hangs: Arc::clone(&hangs), runs: 0 };
            Box::new(Remote::new("npb-fake", rank, &office, work, fake).unwrap())
        };
        let look = |_, _| Look { watch: Watch::new(&stop), ..Look::whole(None) };
        if fate == Fate::Hangs {
            let (hangs, stop) = (Arc::clone(&hangs), stop.clone());
            std::thread::spawn(move || {
                while !hangs[0].load(Ordering::Acquire) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                stop.raise();
            });
        }
        let laps = laps(2, 2, worker, look);
        assert!(laps.iter().all(|laps| laps[0].verdict == Ok(()) && laps[0].work == work));
        laps.into_iter().map(|mut laps| laps.remove(1).verdict).collect()
    }

    #[test]
    fn a_wrong_answer_is_told_as_far_as_there_is_room() {
        let verdicts = verdicts(Fate::Wrong);
        let Err(Error::Wrong(wrong)) = &verdicts[0] else { panic!("{verdicts:?}") };
        assert!(wrong.starts_with("npb-fake: the sum is 1 instead of 2") && wrong.len() < 2 * VERDICT, "{wrong}");
        assert_eq!(verdicts[1], Ok(()));
    }

    /// The other process waits for the one that is gone, and neither run counts.
    #[test]
    fn a_process_that_is_lost_voids_the_run_of_all() {
        for fate in [Fate::Dies, Fate::Hangs] {
            for verdict in verdicts(fate) {
                let Err(Error::Wrong(wrong)) = verdict else { panic!("{verdict:?}") };
                assert!(wrong.starts_with("npb-fake: a process ended or hung"), "{wrong}");
            }
        }
    }
}
