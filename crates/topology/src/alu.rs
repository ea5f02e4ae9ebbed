//! The ranks of a core's strands among those that share its execution units: see [`AluSource`](crate::AluSource).

/// A strand's place within its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Rank of its group within the core.
    pub alu: u32,
    /// Rank within the group.
    pub slot: u32,
}

/// Places the strands of one core.
///
/// `groups` holds for each strand of the core, in logical order, the group below the core that it belongs to. Where some
/// have a group, a strand without one stands alone: hwloc leaves out groups of a single strand.
pub(crate) fn places(groups: &[Option<u32>]) -> Vec<Place> {
    if groups.iter().all(Option::is_none) {
        return (0..).zip(groups).map(|(slot, _)| Place { alu: 0, slot }).collect();
    }
    let mut places: Vec<Place> = Vec::with_capacity(groups.len());
    for (at, group) in groups.iter().enumerate() {
        let place = match places.last() {
            None => Place { alu: 0, slot: 0 },
            Some(last) if group.is_some() && *group == groups[at - 1] => Place { alu: last.alu, slot: last.slot + 1 },
            Some(last) => Place { alu: last.alu + 1, slot: 0 },
        };
        places.push(place);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::places;

    #[track_caller]
    fn check(groups: &[Option<u32>], expected: &[(u32, u32)]) {
        let found: Vec<_> = places(groups).iter().map(|place| (place.alu, place.slot)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_core_without_groups_is_one_group() {
        check(&[], &[]);
        check(&[None, None, None], &[(0, 0), (0, 1), (0, 2)]);
    }

    #[test]
    fn groups_are_ranked_and_lone_strands_stand_alone() {
        check(&[Some(7), Some(7), Some(9), Some(9)], &[(0, 0), (0, 1), (1, 0), (1, 1)]);
        check(&[None, None, Some(3), Some(3), None], &[(0, 0), (1, 0), (2, 0), (2, 1), (3, 0)]);
    }
}
