//! What following costs the followed.

use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use charz_data::Follow;

use crate::crew::{Crew, Event};
use crate::launch::{Launch, Streams};
use crate::observe;

/// A shell that starts processes which do nothing: some 150 stops, and some 10 ms without them.
const SCRIPT: &str = "i=0; while [ $i -lt 40 ]; do (:); i=$((i + 1)); done";

/// How often it runs each way: the shortest of the runs count, as other work can only lengthen them.
const TURNS: usize = 3;

/// How long all of them may take.
const DEADLINE: Duration = Duration::from_secs(10);

/// More than a stop costs anywhere, and the share of a program's time that matters: with fewer stops the cost need not be measured.
const MOST: Duration = Duration::from_micros(500);
const LITTLE: f64 = 0.01;

/// What it costs a program that one of its threads stops for its follower under ptrace, where so many stops may have taken 1% of this time:
/// measured once per process, in some 100 ms. `None` where they took less, or where it cannot be measured.
#[must_use]
pub fn stop_cost(stops: u64, time: Duration) -> Option<Duration> {
    static COST: LazyLock<Option<Duration>> = LazyLock::new(|| {
        // A crew takes all changes of the children of its thread.
        let measured = thread::Builder::new().name("stops".to_owned()).spawn(measure);
        measured.ok()?.join().ok()?
    });
    let matters = stops as f64 * MOST.as_secs_f64() >= LITTLE * time.as_secs_f64();
    matters.then(|| *COST).flatten()
}

fn measure() -> Option<Duration> {
    let (seat, until) = (observe::own_allowed().into_iter().next(), Instant::now() + DEADLINE);
    let mut shortest = [Duration::MAX; 2];
    let mut stops = 0;
    for _ in 0..TURNS {
        for (shortest, follow) in shortest.iter_mut().zip([Follow::Ptrace, Follow::None]) {
            let (took, stopped) = run(seat, follow, until)?;
            *shortest = took.min(*shortest);
            stops = stopped.max(stops);
        }
    }
    let [followed, free] = shortest;
    Some(followed.saturating_sub(free) / u32::try_from(stops).ok().filter(|stops| *stops > 0)?)
}

fn run(seat: Option<u32>, follow: Follow, until: Instant) -> Option<(Duration, u64)> {
    let mut crew = Crew::new(follow).ok()?;
    crew.start(&Launch {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), SCRIPT.into()],
        seats: vec![seat],
        streams: Streams::Captured,
        together: true,
        ..Launch::default()
    })
    .ok()?;
    loop {
        match crew.next(Some(until), None).ok()? {
            Event::Ended(_, ended) if ended.following.by == follow && ended.status.success() => {
                return Some((ended.end.saturating_duration_since(ended.start), ended.stops));
            }
            Event::Ended(..) | Event::Idle | Event::Deadline => return None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_measured_where_there_are_stops() {
        let until = Instant::now() + Duration::from_secs(600);
        let (_, stops) = run(None, Follow::Ptrace, until).unwrap();
        assert!(stops >= 80, "{stops}");
        assert_eq!(run(None, Follow::None, until).unwrap().1, 0);
        assert!(run(None, Follow::None, Instant::now()).is_none());
        assert!(stop_cost(1, Duration::from_millis(50)).is_some());
        assert_eq!(stop_cost(1, Duration::from_millis(51)), None);
    }
}
