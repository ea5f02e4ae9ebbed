//! How long a tick of the processor's counter is.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::sys::counter;

/// How long the counter is compared with the system's clock: the readings at its ends err by less than 0.1 µs, so by 20 ppm.
const SPAN: Duration = Duration::from_millis(10);

/// Tries at each end, of which the shortest was disturbed least.
const TRIES: usize = 32;

/// Nanoseconds a tick, found out once by comparing the counter with the system's clock for some 10 ms.
pub(super) fn nanos_per_tick() -> f64 {
    static SCALE: LazyLock<f64> = LazyLock::new(|| {
        let start = both();
        while start.0.elapsed() < SPAN {
            std::hint::spin_loop();
        }
        let end = both();
        // At least one tick: a counter that does not move is no clock, and its steps are then found to be none.
        end.0.duration_since(start.0).as_nanos() as f64 / end.1.wrapping_sub(start.1).max(1) as f64
    });
    *SCALE
}

/// Ticks in nanoseconds, rounded.
pub(super) fn nanos(ticks: u64) -> u64 {
    (ticks as f64 * nanos_per_tick()).round() as u64
}

/// The system's clock, and the counter's value in the middle of its reading.
fn both() -> (Instant, u64) {
    let tries = (0..TRIES).map(|_| {
        let before = counter::read_ordered();
        let now = Instant::now();
        (counter::read_ordered().wrapping_sub(before), now, before)
    });
    let (width, now, before) = tries.min_by_key(|(width, ..)| *width).expect("there is at least one try");
    (now, before.wrapping_add(width / 2))
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;

    #[test]
    fn what_the_counter_says_was_within_what_the_clock_says() {
        // A delay between the readings of the two clocks is part of `outer`, and not of `inner`.
        let (outer, start) = (Instant::now(), counter::read_ordered());
        let inner = Instant::now();
        std::thread::sleep(Duration::from_millis(20));
        let inner = inner.elapsed();
        let ticks = counter::read_ordered().wrapping_sub(start);
        let outer = outer.elapsed();
        let found = nanos(ticks) as f64;
        assert!(found > 0.999 * inner.as_nanos() as f64, "{found} ns instead of {inner:?} or more");
        assert!(found < 1.001 * outer.as_nanos() as f64, "{found} ns instead of {outer:?} or less");
    }
}
