//! The clock of the core, as told by instructions of known latency.
//!
//! A chain of dependent 32-bit multiplications takes its latency in cycles each, on an idle core and on one shared with
//! other strands' lighter work. So its time tells the clock at which the core runs now, where counters of cycles are out
//! of reach, as in most virtual machines. It is an estimate from below: whatever disturbs the strand lowers it.

#[cfg(target_arch = "x86_64")]
use std::num::NonZeroU64;
#[cfg(target_arch = "x86_64")]
use std::time::Instant;

#[cfg(target_arch = "x86_64")]
use crate::sys::canary as multiply;

/// Turns of the chain in one try: about 50 µs.
#[cfg(target_arch = "x86_64")]
const TURNS: NonZeroU64 = NonZeroU64::new(4096).expect("not zero");

/// Tries of which the fastest counts.
#[cfg(target_arch = "x86_64")]
const TRIES: u32 = 9;

/// What the chain told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canary {
    /// Cycles a second of the core that the calling thread ran on.
    pub hz: f64,
    /// The latency of a multiplication in cycles, as published for this processor.
    pub latency: u32,
}

/// Measures for about half a millisecond on the calling thread. `None` where the latency is not known.
#[cfg(target_arch = "x86_64")]
pub fn measure() -> Option<Canary> {
    let latency = latency()?;
    let cycles = TURNS.get() * multiply::TURN * u64::from(latency);
    let fastest = (0..TRIES).map(|_| {
        let start = Instant::now();
        multiply::run(TURNS);
        start.elapsed()
    });
    let seconds = fastest.min()?.as_secs_f64();
    Some(Canary { hz: cycles as f64 / seconds, latency })
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
    #[test]
    fn tells_a_clock_that_processors_have() {
        if let Some(canary) = super::measure() {
            assert!((1e8..1e10).contains(&canary.hz), "{canary:?}");
        }
    }
}
