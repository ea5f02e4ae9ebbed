//! The dependent multiplications of the canary.

/// Multiplications in one turn of the loop, enough to hide the loop's own counting behind the chain.
pub const TURN: u64 = 16;

/// Runs `turns` turns (at least 1) of [`TURN`] dependent 32-bit multiplications.
#[inline(never)]
pub fn run(turns: std::num::NonZeroU64) {
    // SAFETY: the loop touches only registers named here, and ends since it counts down from at least 1.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept {turn}",
            "imul {r:e}, {r:e}",
            ".endr",
            "dec {turns}",
            "jnz 2b",
            turn = const TURN,
            r = inout(reg) 3_u64 => _,
            turns = inout(reg) turns.get() => _,
            options(nomem, nostack),
        );
    }
}
