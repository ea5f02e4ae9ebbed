//! An order and a number of workers make a placement.

use crate::Order;

/// Where workers sit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// For each worker the operating system's id of its strand; `None` for a worker that the operating system moves.
    pub seats: Vec<Option<u32>>,
    /// The most workers that share one strand; zero where no worker has a seat.
    pub most_on_one_strand: usize,
}

/// Gives each worker its seat: worker `i` the strand that is `i`-th in the order, starting over where the order ends.
///
/// An order without strands has no seats.
#[must_use]
pub fn place(order: &Order, workers: usize) -> Placement {
    match order {
        Order::Strands(strands) if !strands.is_empty() => {
            let seats = strands.iter().copied().cycle().take(workers);
            Placement { most_on_one_strand: most_alike(seats.clone()), seats: seats.map(Some).collect() }
        }
        Order::Strands(_) | Order::Floating => Placement { seats: vec![None; workers], most_on_one_strand: 0 },
    }
}

/// How often the most frequent one occurs.
fn most_alike(strands: impl Iterator<Item = u32>) -> usize {
    let mut strands: Vec<u32> = strands.collect();
    strands.sort_unstable();
    strands.chunk_by(u32::eq).map(<[u32]>::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::place;
    use crate::Order;

    #[track_caller]
    fn check(order: &Order, workers: usize, seats: &[Option<u32>], most: usize) {
        let found = place(order, workers);
        assert_eq!((found.seats.as_slice(), found.most_on_one_strand), (seats, most));
    }

    #[test]
    fn the_order_wraps_around() {
        let order = Order::Strands(vec![4, 0, 2]);
        check(&order, 0, &[], 0);
        check(&order, 2, &[Some(4), Some(0)], 1);
        check(&order, 3, &[Some(4), Some(0), Some(2)], 1);
        check(&order, 4, &[Some(4), Some(0), Some(2), Some(4)], 2);
        check(&Order::Strands(vec![0, 0, 1]), 4, &[Some(0), Some(0), Some(1), Some(0)], 3);
    }

    #[test]
    fn floating_workers_have_no_seat() {
        check(&Order::Floating, 2, &[None, None], 0);
        check(&Order::Strands(Vec::new()), 1, &[None], 0);
    }
}
