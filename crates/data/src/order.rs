use std::cmp::Ordering;

/// Sorting with one copy of the machine code for all types and orders, where the standard library has five kilobytes for each.
/// It is stable, and for what is short: it calls `compare` by its address.
pub trait Arrange<T> {
    /// As [`sort_by`](slice::sort_by).
    fn arrange_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// As [`sort_by_key`](slice::sort_by_key).
    fn arrange_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);
}

impl<T> Arrange<T> for [T] {
    fn arrange_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut order = order(self.len(), &mut |one, other| compare(&self[one], &self[other]));
        // Each cycle of the permutation, until it is back where it began.
        for start in 0..order.len() {
            let mut at = start;
            while order[at] != start {
                let from = std::mem::replace(&mut order[at], at);
                self.swap(at, from);
                at = from;
            }
            order[at] = at;
        }
    }

    fn arrange_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.arrange_by(|one, other| key(one).cmp(&key(other)));
    }
}

/// The places of so many items in their order.
fn order(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|one, other| compare(*one, *other));
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Arrange;

    proptest! {
        #[test]
        fn it_sorts_as_the_standard_library_does(mut pairs: Vec<(u8, u32)>) {
            let mut sorted = pairs.clone();
            sorted.sort_by_key(|pair| pair.0 % 16);
            pairs.arrange_by_key(|pair| pair.0 % 16);
            prop_assert_eq!(&pairs, &sorted);
            sorted.sort_by_key(|one| std::cmp::Reverse(one.1));
            pairs.arrange_by(|one, other| other.1.cmp(&one.1));
            prop_assert_eq!(pairs, sorted);
        }
    }
}
