//! What each worker of a program did: what its threads were counted.

use std::collections::BTreeSet;

use charz_data::report::{Counts, Lap};
use charz_launch::{Ended, Follow, Thread};

/// A lap for each worker: of a copy, or of a seat of the program.
pub(super) fn laps(seats: &[Option<u32>], in_copies: bool, ended: &[&Ended], spans: &[[u64; 2]]) -> Vec<Lap> {
    let lap = |rank: usize, of: usize, counts, threads: &[Thread], on_seat| {
        let seat = seats[rank];
        let [start_ns, end_ns] = spans[of];
        // Where a thread was bound to when it ended that had left its seat.
        let left = threads.iter().find(|thread| thread.on_seat() == Some(false));
        let strand = left.map_or(seat, |thread| thread.allowed.first().copied());
        Lap { rank: rank as u64, seat, strand, start_ns, end_ns, counts, on_seat, ..Lap::default() }
    };
    if ended.iter().any(|ended| ended.following.by == Follow::None) {
        return (0..seats.len()).map(|rank| of_free(rank, seats, in_copies, ended, spans)).collect();
    }
    if in_copies {
        let of_copy = |(rank, ended): (usize, &&Ended)| {
            let seated = ended.threads.iter().map(counts_on_seat).reduce(Counts::plus);
            let migrations = seated.and_then(|seated| seated.migrations);
            let counts = Counts { migrations, ..ended.counts };
            lap(rank, rank, counts, &ended.threads, on_seats(&ended.threads))
        };
        return ended.iter().enumerate().map(of_copy).collect();
    }
    let threads = ended.first().map(|ended| ended.threads.as_slice()).unwrap_or_default();
    let mut told = BTreeSet::new();
    let of_seat = |rank: usize| {
        let seat = seats[rank];
        // Workers that share a seat share its threads: the first of them has the counts, and those of threads that had no seat.
        let first = told.insert(seat);
        let own = threads.iter().filter(|thread| first && thread.seat == seat);
        let unbound = threads.iter().filter(|thread| rank == 0 && seat.is_some() && thread.seat.is_none());
        let free = |thread: &Thread| Counts { migrations: thread.counts.migrations.map(|_| 0), ..thread.counts };
        let counts = own.clone().map(counts_on_seat).chain(unbound.map(free));
        let counts = counts.reduce(Counts::plus).unwrap_or(Counts::NOTHING);
        let own: Vec<Thread> = own.cloned().collect();
        lap(rank, 0, counts, &own, if own.is_empty() { seat.map(|_| true) } else { on_seats(&own) })
    };
    (0..seats.len()).map(of_seat).collect()
}

/// Of a program whose threads were not looked for: it is counted in whole with its first worker, and where its first process might run at its
/// end is compared with all of its seats.
fn of_free(rank: usize, seats: &[Option<u32>], in_copies: bool, ended: &[&Ended], spans: &[[u64; 2]]) -> Lap {
    let (of, own) = if in_copies { (rank, &seats[rank..=rank]) } else { (0, seats) };
    let (ended, seat, [start_ns, end_ns]) = (ended[of], seats[rank], spans[of]);
    let away = ended.allowed.iter().copied().find(|cpu| !own.contains(&Some(*cpu)));
    let counts = if in_copies || rank == 0 { ended.counts } else { Counts::default() };
    let on_seat = seat.filter(|_| !ended.allowed.is_empty()).map(|_| away.is_none());
    let strand = if on_seat == Some(false) { away } else { seat };
    Lap { rank: rank as u64, seat, strand, start_ns, end_ns, counts, on_seat, ..Lap::default() }
}

/// What a thread counted from when it was on its seat: it appears where the thread is that made it, and is moved from there before its
/// first instruction.
fn counts_on_seat(thread: &Thread) -> Counts {
    let arrival = u64::from(thread.seat.is_some());
    Counts { migrations: thread.counts.migrations.map(|moves| moves.saturating_sub(arrival)), ..thread.counts }
}

/// Whether all threads with a seat were on it at their ends; `None` where there are none, or of one it is not known.
fn on_seats(threads: &[Thread]) -> Option<bool> {
    let known: Vec<Option<bool>> = threads.iter().filter(|thread| thread.seat.is_some()).map(Thread::on_seat).collect();
    match known.contains(&Some(false)) {
        true => Some(false),
        false => (!known.is_empty() && known.iter().all(Option::is_some)).then_some(true),
    }
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;
    use std::time::{Duration, Instant};

    use charz_launch::Following;

    use super::*;

    #[test]
    fn the_move_to_its_seat_is_none_of_a_thread() {
        let thread = |seat, migrations| Thread {
            ordinal: 0,
            tid: 1,
            name: String::new(),
            start: Instant::now(),
            end: Instant::now(),
            seat,
            creator: None,
            beside_ns: 0,
            counts: Counts { migrations, ..Counts::NOTHING },
            allowed: Vec::new(),
            unseated_ns: Some(0),
        };
        for (seat, counted, moves) in [
            (Some(3), Some(0), Some(0)),
            (Some(3), Some(1), Some(0)),
            (Some(3), Some(3), Some(2)),
            (Some(3), None, None),
            (None, Some(3), Some(3)),
        ] {
            assert_eq!(counts_on_seat(&thread(seat, counted)).migrations, moves);
        }
    }

    #[test]
    fn of_threads_that_were_not_looked_for_nothing_is_known() {
        let laps_of = |by, in_copies, allowed: &[u32]| {
            let ended = Ended {
                status: ExitStatus::default(),
                start: Instant::now(),
                end: Instant::now(),
                last: Instant::now(),
                threads: Vec::new(),
                appeared: 0,
                off_seat: 0,
                unseen: 0,
                counts: Counts::default(),
                pages: Vec::new(),
                left: Vec::new(),
                following: Following { by, refused: None, shows_seats: None },
                stops: 0,
                printed: 0,
                unread: Duration::ZERO,
                allowed: allowed.to_vec(),
            };
            let seats = if in_copies { &[Some(3)][..] } else { &[Some(3), Some(5)] };
            laps(seats, in_copies, &[&ended], &[[1, 2]])
        };
        let known = |lap: &Lap| (lap.on_seat, lap.counts.migrations);
        assert_eq!(known(&laps_of(Follow::Poll, false, &[])[0]), (Some(true), Some(0)), "no thread was there");
        let free = |in_copies, allowed| {
            let lap = &laps_of(Follow::None, in_copies, allowed)[0];
            (lap.on_seat, lap.strand)
        };
        assert_eq!(known(&laps_of(Follow::None, false, &[])[0]), (None, None));
        for in_copies in [false, true] {
            assert_eq!(free(in_copies, &[]), (None, Some(3)));
            assert_eq!(free(in_copies, &[3]), (Some(true), Some(3)));
            assert_eq!(free(in_copies, &[3, 4]), (Some(false), Some(4)));
        }
        assert_eq!([false, true].map(|in_copies| free(in_copies, &[3, 5]).0), [Some(true), Some(false)]);
    }
}
