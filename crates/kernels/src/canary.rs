//! The clock of the core, measured by instructions of known latency.
//!
//! A chain of dependent 32-bit multiplications takes its latency in cycles each, on an idle core and on one shared with
//! other strands' lighter work. So its time shows the clock at which the core runs now, where counters of cycles are out
//! of reach, as in most virtual machines. It is an estimate from below: every disturbance of the strand lowers it.

#[cfg(target_arch = "x86_64")]
use std::num::NonZeroU64;
#[cfg(target_arch = "x86_64")]
use std::time::Instant;

#[cfg(target_arch = "x86_64")]
use crate::sys::canary as multiply;

/// Turns of the chain in one try: 98,304 cycles, which take 15 to 50 µs at 6.5 to 2 GHz. Reading the clock around them adds
/// some 25 ns, 0.1%, the same each time.
#[cfg(target_arch = "x86_64")]
const TURNS: NonZeroU64 = NonZeroU64::new(2048).expect("not zero");

/// The most tries. Where nothing disturbs them, far fewer do; where the core is shared, more would not help.
#[cfg(target_arch = "x86_64")]
const TRIES: u32 = 18;

/// By how much the fastest two tries may differ to be believed: a quarter of the 1% of drift that is worth a remark. What
/// disturbs a try does not disturb another by just as much.
#[cfg(target_arch = "x86_64")]
const AGREEMENT: f64 = 0.0025;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canary {
    /// Cycles a second of the core that the calling thread ran on.
    pub hz: f64,
    /// The latency of a multiplication in cycles, as published for this processor.
    pub latency: u32,
}

/// Measures on the calling thread; any number of threads may do so at once. `None` where the latency is not known.
///
/// It takes two tries where nothing disturbs it (60 µs on Zen 4 at 3.7 GHz), and 18 at most, about half a millisecond of its
/// own time. It measures the clock of that moment: that of a core which has just woken up may still be rising.
#[cfg(target_arch = "x86_64")]
pub fn measure() -> Option<Canary> {
    let latency = latency()?;
    let cycles = TURNS.get() * multiply::TURN * u64::from(latency);
    let tries = (0..TRIES).map(|_| {
        let start = Instant::now();
        multiply::run(TURNS);
        start.elapsed().as_secs_f64()
    });
    Some(Canary { hz: cycles as f64 / fastest(tries), latency })
}

/// The least of these times, of which no more are taken once two agree on it.
#[cfg(target_arch = "x86_64")]
fn fastest(times: impl Iterator<Item = f64>) -> f64 {
    let [mut best, mut second] = [f64::INFINITY; 2];
    for time in times {
        second = second.min(time.max(best));
        best = best.min(time);
        if second <= best * (1.0 + AGREEMENT) {
            break;
        }
    }
    best
}

/// `None`: the latency of a multiplication differs among the cores of this architecture, and is not known here.
#[cfg(not(target_arch = "x86_64"))]
pub fn measure() -> Option<Canary> {
    None
}

/// The latency in cycles of `imul r32, r32` on this processor.
///
/// Sources: Agner Fog, "Instruction tables" (2025), and uops.info. 3 on every Intel core since Core 2 (family 6) but the
/// first Atoms (5), and on AMD's K10 (family 10h), Jaguar (16h) and Zen (17h to 1Ah, Hygon's 18h among them); 4 on AMD's
/// Bulldozer line (15h). The 64-bit form is slower on several of them (Gracemont 5, Zen 1 4), so it is not used.
#[cfg(target_arch = "x86_64")]
fn latency() -> Option<u32> {
    let cpu = crate::cpu::Signature::read();
    if cpu.is_zen() {
        return Some(3);
    }
    match (&cpu.vendor, cpu.family, cpu.model) {
        // Bonnell and Saltwell.
        (b"GenuineIntel", 6, 0x1c | 0x26 | 0x27 | 0x35 | 0x36) => None,
        (b"GenuineIntel", 6, 0x0f..) => Some(3),
        (b"AuthenticAMD", 0x10 | 0x16, _) => Some(3),
        (b"AuthenticAMD", 0x15, _) => Some(4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    /// How many of these times are taken, and which counts.
    #[track_caller]
    #[cfg(target_arch = "x86_64")]
    fn check(times: &[f64], taken: usize, fastest: f64) {
        let mut left = times.iter();
        assert_eq!(super::fastest(left.by_ref().copied()), fastest, "{times:?}");
        assert_eq!(times.len() - left.len(), taken, "{times:?}");
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn two_tries_that_agree_are_enough() {
        check(&[10.0, 10.01, 9.0, 9.0], 2, 10.0);
        check(&[12.0, 10.0, 15.0, 10.02, 9.0], 4, 10.0);
        check(&[14.0, 12.0, 10.0, 11.0], 4, 10.0);
        check(&[20.0, 10.0, 9.99, 1.0], 3, 9.99);
    }

    #[test]
    fn the_clock_is_one_that_processors_have() {
        if let Some(canary) = super::measure() {
            assert!((1e8..1e10).contains(&canary.hz), "{canary:?}");
        }
    }
}
