//! Things by what they have in common.

use std::collections::HashMap;
use std::hash::Hash;

/// Groups of things with the same key, in the order of the first of each.
pub fn grouped<T, K: Eq + Hash>(things: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let (mut places, mut groups) = (HashMap::new(), Vec::<Vec<T>>::new());
    for thing in things {
        let place = *places.entry(key(&thing)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(thing),
            None => groups.push(vec![thing]),
        }
    }
    groups
}
