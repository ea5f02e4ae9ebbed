//! Two threads on two strands that hand one word to each other, and how long a cache line takes from strand to strand.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use charz_stats::median;
use charz_topology::Binder;

/// Alone in its lines: odd numbers ask, the even ones after them answer.
#[derive(Default)]
#[repr(align(128))]
struct Word(AtomicU64);

/// No thread asks any more, or none can answer.
const OVER: u64 = u64::MAX;
/// How often the word is looked at before the clock is.
const LOOKS: u64 = 1 << 12;

impl Word {
    fn wait_for(&self, number: u64, until: Instant) -> Option<()> {
        let mut looks = 0_u64;
        loop {
            looks += 1;
            match self.0.load(Ordering::Acquire) {
                OVER => return None,
                seen if seen == number => return Some(()),
                _ if looks.is_multiple_of(LOOKS) && Instant::now() > until => return None,
                _ => std::hint::spin_loop(),
            }
        }
    }
}

/// What `asking` finds on the first strand, which is given a function that asks once and returns when the answer is there; the second
/// strand does `answering` before each answer. `None` where a strand or a thread cannot be had, or not all answers come in `time`.
pub(super) fn exchange<T: Send>(
    binder: &Binder,
    [asker, answerer]: [u32; 2],
    time: Duration,
    answering: impl Fn() + Sync,
    asking: impl FnOnce(&mut dyn FnMut() -> Option<()>) -> Option<T> + Send,
) -> Option<T> {
    let (word, until) = (Word::default(), Instant::now() + time);
    let answer = || {
        let is_seated = binder.seat(answerer).is_ok();
        let questions = (1..).step_by(2).take_while(|&question| is_seated && word.wait_for(question, until).is_some());
        questions.for_each(|question| {
            answering();
            word.0.store(question + 1, Ordering::Release);
        });
        word.0.store(OVER, Ordering::Release);
    };
    let ask = || {
        let mut asked = 0;
        let mut once = || {
            asked += 2;
            // It may be over already, and stays so.
            word.0.compare_exchange(asked - 2, asked - 1, Ordering::AcqRel, Ordering::Acquire).ok()?;
            word.wait_for(asked, until)
        };
        let found = binder.seat(asker).ok().and_then(|()| asking(&mut once));
        word.0.store(OVER, Ordering::Release);
        found
    };
    thread::scope(|scope| {
        thread::Builder::new().spawn_scoped(scope, answer).ok()?;
        match thread::Builder::new().spawn_scoped(scope, ask) {
            Ok(asking) => asking.join().ok().flatten(),
            // A thread without its partner would wait for its time.
            Err(_) => {
                word.0.store(OVER, Ordering::Release);
                None
            }
        }
    })
}

/// CPUs beyond these are not looked at.
const MOST_CPUS: usize = 5;
const BATCHES: usize = 16;
/// Questions in one: reading the clock around them is 2% of what the nearest CPUs take.
const BATCH: u32 = 32;
/// Beside other programs it is given up after so long.
const PATIENCE: Duration = Duration::from_millis(50);

/// How long a cache line takes from a worker's CPU to another's, in nanoseconds: the mean over neighbours in the order of their ids, of at
/// most five CPUs evenly spread, each the median of 16 batches. Takes 0.2 ms a pair. `None` where workers share a CPU, and of floating
/// workers where they are not as many as the CPUs that they may use.
pub(crate) fn apart_ns(binder: &Binder, seats: &[Option<u32>]) -> Option<f64> {
    let allowed = || binder.read_back().ok().map(|seating| seating.allowed);
    let seated: Option<Vec<u32>> = seats.iter().copied().collect();
    let cpus: BTreeSet<u32> = seated.or_else(allowed)?.into_iter().collect();
    let cpus: Vec<u32> = Some(cpus).filter(|cpus| cpus.len() == seats.len())?.into_iter().collect();
    let last = cpus.len().min(MOST_CPUS).checked_sub(1)?;
    let spread: Vec<u32> = (0..=last).map(|at| cpus[at * (cpus.len() - 1) / last.max(1)]).collect();
    let pairs: Option<Vec<f64>> = spread.windows(2).map(|pair| one_way_ns(binder, [pair[0], pair[1]])).collect();
    let pairs = pairs.filter(|pairs| !pairs.is_empty())?;
    Some(pairs.iter().sum::<f64>() / pairs.len() as f64)
}

fn one_way_ns(binder: &Binder, pair: [u32; 2]) -> Option<f64> {
    let nothing = || ();
    exchange(binder, pair, PATIENCE, nothing, |ask| {
        let batches = (0..BATCHES).map(|_| {
            let begun = Instant::now();
            (0..BATCH).try_for_each(|_| ask())?;
            Some(begun.elapsed().as_nanos() as f64 / f64::from(2 * BATCH))
        });
        median(batches.collect::<Option<Vec<f64>>>()?)
    })
}

#[cfg(test)]
mod tests {
    use charz_topology::Backend;

    use super::*;

    #[test]
    fn only_workers_on_cpus_of_their_own_are_apart() {
        let binder = Binder::new(Backend::default());
        let allowed = binder.read_back().unwrap().allowed;
        let apart = |seats: &[Option<u32>]| apart_ns(&binder, seats);
        assert_eq!([apart(&[]), apart(&[None]), apart(&[Some(allowed[0])]), apart(&[Some(allowed[0]); 2])], [None; 4]);
        assert_eq!(apart(&vec![None; allowed.len() + 1]), None);
        assert_eq!(apart(&[Some(allowed[0]), Some(1 << 20)]), None, "a CPU that is not there");
        if let [one, other, ..] = allowed[..] {
            // Beside other tests the time may be over.
            assert!(apart(&[Some(one), Some(other)]).is_none_or(|ns| (1.0..1e6).contains(&ns)));
        }
    }

    #[test]
    fn each_question_is_answered_once() {
        let binder = Binder::new(Backend::default());
        let allowed = binder.read_back().unwrap().allowed;
        let [one, other, ..] = allowed[..] else { return };
        let answers = AtomicU64::new(0);
        let count = || {
            answers.fetch_add(1, Ordering::Relaxed);
        };
        let asked =
            exchange(&binder, [one, other], Duration::from_secs(60), count, |ask| (0..100).try_for_each(|_| ask()));
        assert_eq!((asked, answers.into_inner()), (Some(()), 100));
    }
}
