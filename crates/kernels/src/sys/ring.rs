//! Rings: participants that pass one token on, over threads or over forked processes.
//!
//! The code that a participant runs is in this module since a forked process runs it too, which may not wait for
//! a thread that only its parent has: a [`Member`] touches the ring's memory, sleeps in the system, and reads the clock.

use std::marker::PhantomData;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::kernel::Error;
use crate::sys::process::Desk;
use crate::sys::shared::Shared;

pub mod cascade;
pub mod file;
pub mod process;
pub mod word;

/// The most laps of a run that are kept one by one: the first ones.
pub const LAPS: usize = 1 << 18;

/// How long a participant sleeps at most, where it can choose, before it looks whether the ring is over.
const PATIENCE: Duration = Duration::from_millis(50);

/// How a participant passes the token on to the next one.
///
/// # Safety
/// [`Link::files`] are open, and its own: the ring closes them.
pub unsafe trait Link: Sync + Send + Sized + 'static {
    /// Whether passing may wake a thread, which can take the CPU of the one that passes.
    const WAKES: bool = true;

    /// One that is yet to be [established](Link::establish). `machine` says whether its participants may be processes.
    fn new(machine: bool) -> Self;

    /// Makes it fit for use, at the place where it stays.
    ///
    /// # Safety
    /// No other thread has it, and it was not established before.
    unsafe fn establish(&self, _machine: bool) -> Result<(), Error> {
        Ok(())
    }

    /// The files that it opened.
    fn files(&self) -> Vec<RawFd> {
        Vec::new()
    }

    /// Before a run, by every participant and before any of them receives: bars the way of the next one, unless that is the
    /// first, who is to find token `base`.
    ///
    /// # Safety
    /// The links were established, and this thread calls nothing of the ring before [`Link::receive`].
    unsafe fn bar(_: Ends<'_, Self>, _base: u64) {}

    /// Undoes [`Link::bar`] where no run follows.
    ///
    /// # Safety
    /// This thread called [`Link::bar`] last.
    unsafe fn abandon(_: Ends<'_, Self>) {}

    /// Waits for the token with this number, and returns whether it is here: else the ring is over.
    ///
    /// # Safety
    /// In every run a thread calls first [`Link::bar`], then this and [`Link::pass`] by turns, with the phase changed by each
    /// pass, and last [`Link::leave`]. Where this returned `false`, only that follows.
    unsafe fn receive<W: Lookout>(ends: Ends<'_, Self>, token: u64, over: &AtomicBool, lookout: &mut W) -> bool;

    /// Passes the token with this number on to the next participant, and makes ready to receive in the other phase.
    ///
    /// # Safety
    /// As [`Link::receive`].
    unsafe fn pass(ends: Ends<'_, Self>, token: u64);

    /// Releases everything it holds, so nothing bars the next participant, with the token if it was here.
    ///
    /// # Safety
    /// As [`Link::receive`].
    unsafe fn leave(ends: Ends<'_, Self>, token: Option<u64>);
}

/// One participant's part of the ring, on lines of its own.
#[repr(C, align(128))]
pub struct Station<L> {
    link: L,
    /// The number of the last token that came here: how often it was passed on before, over all runs.
    token: AtomicU64,
}

/// What one participant sees of the ring in one phase.
pub struct Ends<'a, L> {
    us: &'a Station<L>,
    them: &'a Station<L>,
    /// 0 or 1, by turns.
    phase: usize,
    /// Whether this is the last participant, whose two ways to the first are crossed.
    crossed: bool,
}

impl<L> Clone for Ends<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Ends<'_, L> {}

/// What a participant reports of its runs, and the orders to one that is a process; on lines of its own. The verified counts
/// grow over all runs, since a participant may prepare the next one while another still verifies the last.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Account {
    passes: AtomicU64,
    /// How often it came with another number than expected.
    wrong: AtomicU64,
    /// Hops of the last run: passes after which the token came back.
    hops: AtomicU64,
    /// Where a process gets its orders.
    desk: Desk,
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Common {
    /// Whether everybody is to leave.
    over: AtomicBool,
    /// Whether a process of the ring failed, and with it the ring.
    broken: AtomicBool,
    /// How many laps of this run were noted.
    laps: AtomicU64,
}

pub struct Ring<L: Link> {
    stations: Shared<Station<L>>,
    accounts: Shared<Account>,
    common: Shared<Common>,
    /// Nanoseconds that each lap took.
    laps: Shared<AtomicU64>,
}

impl<L: Link> Ring<L> {
    /// A ring of so many, threads of this process or, with `machine`, of any.
    pub fn new(participants: usize, machine: bool) -> Result<Self, Error> {
        let station = || Station { link: L::new(machine), token: AtomicU64::new(0) };
        let ring = Ring {
            stations: Shared::new(participants, station)?,
            accounts: Shared::new(participants, Account::default)?,
            common: Shared::new(1, Common::default)?,
            laps: Shared::new(LAPS, || AtomicU64::new(0))?,
        };
        // SAFETY: the ring that is being made has them where they stay, and has not shared them yet.
        ring.stations.iter().try_for_each(|station| unsafe { station.link.establish(machine) })?;
        Ok(ring)
    }

    pub const BYTES: usize = size_of::<Station<L>>() + size_of::<Account>();

    fn common(&self) -> &Common {
        &self.common[0]
    }

    /// The files that its links opened, in ascending order.
    fn files(&self) -> Vec<RawFd> {
        let mut files: Vec<RawFd> = self.stations.iter().flat_map(|station| station.link.files()).collect();
        files.sort_unstable();
        files
    }

    pub fn end(&self) {
        self.common().over.store(true, Ordering::Relaxed);
    }

    /// Nanoseconds of the first [`LAPS`] laps of the last run, once all participants have left.
    pub fn laps(&self) -> impl Iterator<Item = u64> {
        let count = usize::try_from(self.common().laps.load(Ordering::Relaxed)).unwrap_or(usize::MAX);
        self.laps.iter().take(count).map(|lap| lap.load(Ordering::Relaxed))
    }

    fn token(&self) -> u64 {
        self.stations.iter().map(|station| station.token.load(Ordering::Relaxed)).max().unwrap_or(0)
    }

    /// Whether the token was passed on as often as the participants say, and never came out of turn. To be asked when all
    /// have ended a run, and none has begun another.
    pub fn verify(&self) -> Result<(), Error> {
        if self.common().broken.load(Ordering::Relaxed) {
            return Err(Error::Wrong("a process of the ring ended or hung: the result of this run is void".into()));
        }
        let sum = |of: fn(&Account) -> &AtomicU64| -> u64 {
            self.accounts.iter().map(|account| of(account).load(Ordering::Relaxed)).sum()
        };
        let (passes, wrong) = (sum(|account| &account.passes), sum(|account| &account.wrong));
        let token = self.token();
        if wrong == 0 && token == passes {
            return Ok(());
        }
        Err(Error::Wrong(format!(
            "the token of the ring was passed on {passes} times, has number {token}, and came out of turn {wrong} times: the \
             result of this run is void"
        )))
    }
}

impl<L: Link> Drop for Ring<L> {
    fn drop(&mut self) {
        for file in self.files() {
            // SAFETY: it is open, a link of this ring owns it, and no participant is left that could use it.
            unsafe { libc::close(file) };
        }
    }
}

/// When a participant is to end its run, and what time it is.
pub trait Lookout {
    /// Asked once a hop, while the token is elsewhere: whether the run is to end.
    fn passed(&mut self) -> bool;

    /// Asked now and then by a participant that has waited for long: whether the run is to end.
    fn waited(&mut self) -> bool;

    /// A stamp in nanoseconds. Only what lies between two of them matters.
    fn now(&mut self) -> u64;
}

/// A participant. It belongs to the thread that made it, since a lock is given back by the thread that took it.
pub struct Member<L: Link> {
    ring: Arc<Ring<L>>,
    rank: usize,
    /// The number of the token with which a run begins.
    base: u64,
    /// Whether it bars the next one, from the preparation of a run to its end.
    bars: bool,
    stays: PhantomData<*const ()>,
}

impl<L: Link> Member<L> {
    pub fn new(ring: Arc<Ring<L>>, rank: usize) -> Self {
        Member { ring, rank, base: 0, bars: false, stays: PhantomData }
    }

    fn ends(&self, phase: usize) -> Ends<'_, L> {
        let stations = &self.ring.stations;
        let next = (self.rank + 1) % stations.len();
        Ends { us: &stations[self.rank], them: &stations[next], phase, crossed: next == 0 }
    }

    /// Before a run: bars the way of the next one. All have done so before anybody runs.
    pub fn prepare(&mut self) {
        self.let_go();
        self.base = self.ring.token();
        self.ring.common().over.store(false, Ordering::Relaxed);
        if self.rank == 0 {
            self.ring.common().laps.store(0, Ordering::Relaxed);
            self.ring.stations[0].token.store(self.base, Ordering::Relaxed);
        }
        // SAFETY: a ring is made of established links, and what was barred before was let go of.
        unsafe { L::bar(self.ends(0), self.base) };
        self.bars = true;
    }

    /// Releases what was taken by a preparation that no run followed.
    fn let_go(&mut self) {
        if self.bars {
            // SAFETY: the way was barred, and nothing was received since.
            unsafe { L::abandon(self.ends(0)) };
            self.bars = false;
        }
    }

    /// Receives the token and passes it on until the lookout, or that of another participant, says that the ring is over, and
    /// returns how often it did so. [`Member::prepare`] comes before.
    pub fn run(&mut self, lookout: &mut impl Lookout) -> u64 {
        assert!(self.bars, "a participant prepares each run");
        self.bars = false;
        let (ring, participants) = (&*self.ring, self.ring.stations.len() as u64);
        let over = &ring.common().over;
        let (mut token, mut hops, mut wrong) = (self.base + self.rank as u64, 0, 0);
        let mut laps = (self.rank == 0).then_some(Stamps { ring, count: 0, last: None });
        if lookout.waited() {
            ring.end();
        }
        let mut ends = self.ends(0);
        // SAFETY: the preparation barred the way of the next one.
        let mut here = unsafe { L::receive(ends, token, over, lookout) };
        while here {
            wrong += u64::from(ends.us.token.load(Ordering::Relaxed) != token);
            if over.load(Ordering::Relaxed) {
                break;
            }
            // Where the next one can preempt this participant by its wake-up, a lap is stamped while the token is here: stamped later,
            // it would seem longer, and the next one shorter. Elsewhere the reading would only keep the token.
            let now = (L::WAKES && laps.is_some()).then(|| lookout.now());
            // SAFETY: the token was received.
            unsafe { L::pass(ends, token + 1) };
            if let Some(laps) = &mut laps {
                laps.stamp(now.unwrap_or_else(|| lookout.now()));
            }
            if lookout.passed() {
                ring.end();
            }
            ends.phase ^= 1;
            token += participants;
            // SAFETY: the token was passed on.
            here = unsafe { L::receive(ends, token, over, lookout) };
            hops += u64::from(here);
        }
        // SAFETY: the last thing done was to receive.
        unsafe { L::leave(ends, here.then_some(token + 1)) };
        let account = &ring.accounts[self.rank];
        // Fetched and added to by this participant alone.
        let passes = (token - self.base) / participants + u64::from(here);
        account.passes.fetch_add(passes, Ordering::Relaxed);
        account.wrong.fetch_add(wrong, Ordering::Relaxed);
        account.hops.store(hops, Ordering::Relaxed);
        hops
    }
}

impl<L: Link> Drop for Member<L> {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// The first participant notes how long each lap took.
struct Stamps<'a, L: Link> {
    ring: &'a Ring<L>,
    count: usize,
    last: Option<u64>,
}

impl<L: Link> Stamps<'_, L> {
    #[inline]
    fn stamp(&mut self, now: u64) {
        if let (Some(last), Some(lap)) = (self.last, self.ring.laps.get(self.count)) {
            lap.store(now.saturating_sub(last), Ordering::Relaxed);
            self.count += 1;
            self.ring.common().laps.store(self.count as u64, Ordering::Relaxed);
        }
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests;
