//! The blocks of a repetition that count: those during which all workers were at work.

use std::time::Instant;

use charz_data::Blocks;
use charz_kernels::watch::Block;

use super::worker::Stamped;

/// The shortest block that is timed: reading the clock takes a fortieth of a microsecond, 0.25% of it.
const SHORTEST_NS: u128 = 10_000;

/// A block that took this many times as long as the middle one of its lap: its worker was off the strand for a good part of it.
const GAP: f64 = 2.0;

/// Gives each lap the times of its blocks. A worker runs faster while another is away, if they share a core, a cache or power:
/// what is not to be had with all at work is left out.
pub(super) fn note(stamped: &mut [Stamped]) {
    let away = away(stamped.iter().map(|worker| &worker.blocks[..]));
    for worker in stamped.iter_mut().filter(|worker| !worker.blocks.is_empty()) {
        let together = worker.blocks.iter().filter(|block| is_timed(block) && !overlaps(&away, block));
        worker.lap.blocks = Some(Blocks::of(together.map(time).collect()));
    }
}

fn is_timed(block: &Block) -> bool {
    block.work > 0 && (block.end - block.begin).as_nanos() >= SHORTEST_NS
}

/// Nanoseconds a unit of work.
fn time(block: &Block) -> f64 {
    (block.end - block.begin).as_nanos() as f64 / block.work as f64
}

/// The times in which some worker was not at work, in order, without gaps between those that overlap: before its first block, after
/// its last, and in blocks with a gap.
fn away<'a>(workers: impl Iterator<Item = &'a [Block]> + Clone) -> Vec<(Instant, Instant)> {
    let spans = workers.clone().filter_map(|blocks| Some((blocks.first()?.begin, blocks.last()?.end)));
    let (Some(first), Some(last)) = (spans.clone().map(|span| span.0).min(), spans.clone().map(|span| span.1).max())
    else {
        return Vec::new();
    };
    let ends = spans.flat_map(|(begin, end)| [(first, begin), (end, last)]).filter(|(begin, end)| begin < end);
    let mut away: Vec<_> = ends.chain(workers.flat_map(gaps)).collect();
    away.sort_unstable();
    away.dedup_by(|next, before| {
        let joined = next.0 <= before.1;
        if joined {
            before.1 = before.1.max(next.1);
        }
        joined
    });
    away
}

fn gaps(blocks: &[Block]) -> Vec<(Instant, Instant)> {
    let mut times: Vec<f64> = blocks.iter().filter(|block| is_timed(block)).map(time).collect();
    let middle = times.len() / 2;
    let limit = match times.is_empty() {
        true => f64::INFINITY,
        false => GAP * *times.select_nth_unstable_by(middle, f64::total_cmp).1,
    };
    let with_gap = blocks.iter().filter(|block| is_timed(block) && time(block) > limit);
    with_gap.map(|block| (block.begin, block.end)).collect()
}

/// Whether some of the block lies in one of these times, which are in order and apart.
fn overlaps(away: &[(Instant, Instant)], block: &Block) -> bool {
    let next = away.partition_point(|(_, end)| *end <= block.begin);
    away.get(next).is_some_and(|(begin, _)| *begin < block.end)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use charz_data::report::Lap;

    use super::*;

    /// The times of each worker's blocks that count, of workers whose blocks of 100 operations begin one after the other with the
    /// first at a time, and take so long; all in units of 100 µs.
    #[track_caller]
    fn check<const N: usize>(workers: [(u32, &[u32]); N], expected: [&[f64]; N]) {
        let (origin, unit) = (Instant::now(), Duration::from_micros(100));
        let mut stamped = workers.map(|(first, lengths)| {
            let mut begin = origin + first * unit;
            let blocks = lengths.iter().map(|length| {
                let block = Block { begin, end: begin + *length * unit, work: 100 };
                begin = block.end;
                block
            });
            Stamped { lap: Lap::default(), blocks: blocks.collect(), samples: None, growth: None }
        });
        note(&mut stamped);
        let found = stamped.map(|worker| worker.lap.blocks.map(|blocks| blocks.times).unwrap_or_default());
        assert_eq!(found, expected.map(|times| times.iter().map(|time| time * 1000.0).collect::<Vec<_>>()));
    }

    #[test]
    fn a_worker_alone_is_always_together() {
        check([(0, &[1, 1, 2, 1])], [&[1.0, 1.0, 1.0, 2.0]]);
    }

    #[test]
    fn blocks_with_another_worker_away_are_left_out() {
        // Away before its first block, after its last, and in its block of five.
        check([(0, &[1; 11]), (2, &[1, 1, 5, 1])], [&[1.0; 3], &[1.0; 3]]);
    }

    #[test]
    fn a_block_with_a_gap_does_not_count_itself() {
        check([(0, &[1, 9, 1, 1])], [&[1.0; 3]]);
    }

    #[test]
    fn kernels_without_blocks_have_none() {
        check([(0, &[]), (0, &[])], [&[], &[]]);
    }
}
