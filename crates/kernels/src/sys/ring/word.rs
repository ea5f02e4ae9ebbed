//! One word to each participant: the number of the token that has come.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::sys::futex::{self, Scope};
use crate::sys::ring::{Ends, Link, Lookout, PATIENCE};

/// The participant sleeps until the word changes.
pub struct Futex {
    /// The lower half of the token's number, since a futex has 32 bits. The station has the whole number.
    word: AtomicU32,
    scope: Scope,
}

impl Futex {
    fn put(&self, token: u64) {
        // Release: what the participants did before is seen by the one that receives.
        self.word.store(token as u32, Ordering::Release);
        futex::wake(&self.word, 1, self.scope);
    }
}

// SAFETY: it has no files.
unsafe impl Link for Futex {
    fn new(machine: bool) -> Self {
        let scope = if machine { Scope::Machine } else { Scope::Process };
        Futex { word: AtomicU32::new(0), scope }
    }

    unsafe fn bar(ends: Ends<'_, Self>, base: u64) {
        // The others await tokens that are yet to come.
        if ends.crossed {
            ends.them.link.word.store(base as u32, Ordering::Relaxed);
        }
    }

    #[inline]
    unsafe fn receive<W: Lookout>(ends: Ends<'_, Self>, token: u64, over: &AtomicBool, lookout: &mut W) -> bool {
        let Futex { word, scope } = &ends.us.link;
        loop {
            let seen = word.load(Ordering::Acquire);
            if seen == token as u32 {
                return true;
            }
            if over.load(Ordering::Relaxed) {
                return false;
            }
            futex::wait(word, seen, *scope, PATIENCE);
            // A word that is still the same after all that patience says that something holds the ring up.
            if word.load(Ordering::Relaxed) == seen && lookout.waited() {
                over.store(true, Ordering::Relaxed);
            }
        }
    }

    #[inline]
    unsafe fn pass(ends: Ends<'_, Self>, token: u64) {
        ends.them.token.store(token, Ordering::Relaxed);
        ends.them.link.put(token);
    }

    unsafe fn leave(ends: Ends<'_, Self>, token: Option<u64>) {
        match token {
            // SAFETY: passing has no precondition of its own here.
            Some(token) => unsafe { Futex::pass(ends, token) },
            // The next one sees that the ring is over.
            None => drop(futex::wake(&ends.them.link.word, 1, ends.them.link.scope)),
        }
    }
}

/// How often a participant looks at the word before it looks whether it is to wait at all: 20 to 100 µs.
const SPINS: u32 = 2_000;

/// The participant looks at the word until it changes.
pub struct Flag;

// SAFETY: it has no files.
unsafe impl Link for Flag {
    const WAKES: bool = false;

    fn new(_: bool) -> Self {
        Flag
    }

    #[inline]
    unsafe fn receive<W: Lookout>(ends: Ends<'_, Self>, token: u64, over: &AtomicBool, lookout: &mut W) -> bool {
        let word = &ends.us.token;
        loop {
            for _ in 0..SPINS {
                if word.load(Ordering::Acquire) == token {
                    return true;
                }
                hint::spin_loop();
            }
            if over.load(Ordering::Relaxed) {
                return false;
            }
            if lookout.waited() {
                over.store(true, Ordering::Relaxed);
            }
        }
    }

    #[inline]
    unsafe fn pass(ends: Ends<'_, Self>, token: u64) {
        // Release: what the participants did before is seen by the one that receives.
        ends.them.token.store(token, Ordering::Release);
    }

    unsafe fn leave(ends: Ends<'_, Self>, token: Option<u64>) {
        if let Some(token) = token {
            ends.them.token.store(token, Ordering::Release);
        }
    }
}
