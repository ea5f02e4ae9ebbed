//! What a worker meets while it takes and gives locks and items.

use charz_data::Contention;

use super::primitives::Spin;

/// Counts of one worker; see [`Contention`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WaitStats {
    pub attempts: u64,
    pub failures: u64,
    pub waits: u64,
    /// Whether a wait was a long one, since this was last reset: it is time to look at the watch then, however few operations
    /// the stretch has had.
    pub rested: bool,
}

impl WaitStats {
    #[inline]
    pub(super) fn waited(&mut self, spin: &Spin) {
        self.waits += u64::from(spin.waited());
        self.rested |= spin.rested();
    }

    /// Counts a wait of unknown length.
    #[inline]
    pub(super) fn slept(&mut self) {
        self.waits += 1;
        self.rested = true;
    }

    pub fn counts(&self) -> Contention {
        let WaitStats { attempts, failures, waits, rested: _ } = *self;
        Contention { attempts, failures, waits, ..Contention::default() }
    }
}
