//! No runtime: each activity is a call.

use super::Hand;

pub(crate) struct Alone;

impl Hand for Alone {
    #[inline]
    fn each<T: Send, const N: usize>(&self, parts: [T; N], work: impl Fn(&Self, T) + Sync) {
        parts.into_iter().for_each(|part| work(self, part));
    }

    #[inline]
    fn is_over(&self) -> bool {
        false
    }
}
