//! Which seat a new thread gets.

/// The seats of a program and how many live threads each has.
#[derive(Debug)]
pub struct Seats {
    seats: Vec<Option<u32>>,
    skip: Vec<usize>,
    /// Where the system may put threads whose seat is its choice.
    anywhere: Vec<u32>,
    live: Vec<usize>,
    /// How often each was given.
    given: Vec<usize>,
    /// How many threads have appeared.
    appeared: usize,
}

/// What a thread got: an index into the seats; `None` for one that is skipped or where there are no seats.
pub type Given = Option<usize>;

impl Seats {
    /// `anywhere` may be empty if no seat is a CPU.
    pub fn new(seats: Vec<Option<u32>>, skip: Vec<usize>, anywhere: Vec<u32>) -> Self {
        let [live, given] = [(); 2].map(|()| vec![0; seats.len()]);
        Seats { seats, skip, anywhere, live, given, appeared: 0 }
    }

    /// The next thread in order of appearance: its ordinal, and of the seats with the fewest live threads the one that was given least
    /// often, else the first. A program that ends threads and starts others gets by with the same seats, and one that forks workers has
    /// each of them on its own. Which threads work is not known yet; those that only wait appear early, so the next ones go round.
    pub fn take(&mut self) -> (usize, Given) {
        let ordinal = self.appeared;
        self.appeared += 1;
        if self.skip.contains(&ordinal) {
            return (ordinal, None);
        }
        let seat = (0..self.seats.len()).min_by_key(|seat| (self.live[*seat], self.given[*seat]));
        if let Some(seat) = seat {
            self.live[seat] += 1;
            self.given[seat] += 1;
        }
        (ordinal, seat)
    }

    /// The seat of a process that becomes another program, beside so many threads at work on each seat: that with the fewest of them, of these
    /// with the fewest live threads, if possible the one that it has. What started it, such as a shell or a compiler's driver, waits and works
    /// no more, so a seat with such threads only is as good as a free one.
    pub fn again(&mut self, given: Given, busy: &[usize]) -> Given {
        let own = given?;
        let others = |seat: usize| self.live[seat] - usize::from(seat == own && self.live[seat] > 0);
        let best = (0..self.seats.len()).min_by_key(|seat| (busy[*seat], others(*seat), *seat != own))?;
        self.release(given);
        self.live[best] += 1;
        self.given[best] += usize::from(best != own);
        Some(best)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.seats.len()
    }

    /// A thread has ended.
    pub fn release(&mut self, given: Given) {
        if let Some(seat) = given {
            self.live[seat] = self.live[seat].saturating_sub(1);
        }
    }

    /// The OS id of a seat; `None` where the system places.
    pub fn os_id(&self, given: Given) -> Option<u32> {
        given.and_then(|seat| self.seats[seat])
    }

    /// The CPUs for a thread beside which there is no other: those of all seats, as many as a program is to find that counts them.
    pub fn alone(&self, given: Given) -> Vec<u32> {
        let all = self.all();
        if all.is_empty() { self.mask(given) } else { all }
    }

    /// All seats' OS ids, ascending. Empty: anywhere.
    fn all(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.seats.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The CPUs for a thread: its seat, or those of seats that no thread has, or all where each has one. Empty: anywhere.
    pub fn mask(&self, given: Given) -> Vec<u32> {
        match given {
            Some(seat) => self.seats[seat].map_or_else(|| self.anywhere.clone(), |id| vec![id]),
            None => {
                let taken =
                    |id: &u32| self.seats.iter().zip(&self.live).any(|(seat, live)| *seat == Some(*id) && *live > 0);
                let all = self.all();
                let free: Vec<u32> = all.iter().copied().filter(|id| !taken(id)).collect();
                if free.is_empty() { all } else { free }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn taken(seats: &mut Seats) -> Option<u32> {
        let (_, given) = seats.take();
        seats.os_id(given)
    }

    #[test]
    fn a_thread_that_is_skipped_takes_no_seat_from_others() {
        let mut seats = Seats::new(vec![Some(4), Some(6)], vec![1], vec![]);
        assert_eq!([(); 3].map(|()| taken(&mut seats)), [Some(4), None, Some(6)]);
        assert_eq!(seats.mask(None), [4, 6]);
    }

    #[test]
    fn a_freed_seat_is_taken_before_one_that_is_shared() {
        let mut seats = Seats::new(vec![Some(0), Some(1), Some(2)], vec![], vec![]);
        assert_eq!([(); 3].map(|()| taken(&mut seats)), [Some(0), Some(1), Some(2)]);
        seats.release(Some(1));
        assert_eq!([(); 2].map(|()| taken(&mut seats)), [Some(1), Some(0)]);
    }

    #[test]
    fn workers_do_not_share_a_seat_while_another_has_idle_threads_only() {
        let mut seats = Seats::new(vec![Some(0), Some(1)], vec![], vec![]);
        // The first thread, one that waits, one that ends soon, one that waits.
        assert_eq!([(); 4].map(|()| taken(&mut seats)), [Some(0), Some(1), Some(0), Some(1)]);
        seats.release(Some(0));
        let workers = [(); 2].map(|()| taken(&mut seats));
        assert_ne!(workers[0], workers[1], "{workers:?}");
    }

    #[test]
    fn a_new_program_has_a_seat_on_which_nothing_works() {
        let mut seats = Seats::new(vec![Some(0), Some(1)], vec![], vec![]);
        // A shell, a worker, another shell that waits, and what that starts.
        assert_eq!([(); 4].map(|()| taken(&mut seats)), [Some(0), Some(1), Some(0), Some(1)]);
        assert_eq!(seats.again(Some(1), &[0, 1]), Some(0));
        assert_eq!(seats.again(Some(0), &[0, 0]), Some(1), "with fewer that wait");
        assert_eq!(seats.again(Some(1), &[1, 1]), Some(1));
        assert_eq!(seats.again(None, &[0, 0]), None);
        assert_eq!(seats.live, [2, 2]);
    }

    proptest! {
        /// Whatever appears and ends, no seat has two threads more than another after threads appeared only.
        #[test]
        fn seats_fill_evenly(count in 1usize..9, threads in 0usize..40) {
            let mut seats = Seats::new((0..count as u32).map(Some).collect(), vec![], vec![]);
            for _ in 0..threads {
                seats.take();
            }
            let (least, most) = (seats.live.iter().min().unwrap(), seats.live.iter().max().unwrap());
            prop_assert!(most - least <= 1);
            prop_assert_eq!(seats.live.iter().sum::<usize>(), threads);
        }
    }
}
