//! The loops for AVX2 and AVX-512.
//!
//! All rounds have 48 vector operations. Zen 4 starts two 256-bit fused multiply-adds (4 cycles of latency) and two
//! additions (3) a cycle on four pipes; Intel's cores start both on the same two or three ports, in different shares.

use super::{FLOAT, Group, INT, Operands, Path};

const fn adds(vectors: usize, updates: u64) -> Group {
    Group { vectors, updates, ops: 1 }
}

const fn fmas(vectors: usize, updates: u64) -> Group {
    Group { vectors, updates, ops: 2 }
}

fn avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

fn avx2_fma() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

fn avx512() -> bool {
    is_x86_feature_detected!("avx512f")
}

/// A path whose loop keeps the accumulators `$all` in registers of the kind `$vector`, each `$bytes` bytes, with the
/// factor and the step in two registers more, and runs `$round` once a round.
macro_rules! path {
    (
        $(#[$doc:meta])* $path:ident: $value:ty, $name:literal, $detected:ident, $operands:ident, [$($group:expr),+],
        $vector:literal x $bytes:literal, accumulators $all:literal, ones $ones:literal, steps $steps:literal,
        [$($round:expr),+ $(,)?]
    ) => {
        $(#[$doc])*
        pub(super) static $path: Path<$value> = Path {
            name: $name,
            lanes: $bytes / 8,
            groups: &[$($group),+],
            detected: $detected,
            operands: &$operands,
            body: {
                /// # Safety
                /// As [`Path::run`]: detected instructions, whole accumulators and operands, at least one round.
                unsafe fn body(accumulators: *mut $value, operands: *const Operands<$value>, rounds: u64) {
                    // SAFETY: the caller passes room for every accumulator named, and operands of 64 bytes each.
                    // SAFETY: the CPU has the instructions, and `rounds` counts down from at least 1 to the end.
                    // SAFETY: every vector register is declared as overwritten; the stack is left alone.
                    unsafe {
                        std::arch::asm!(
                            concat!("vmovupd ", $ones, ", [rsi]"),
                            concat!("vmovupd ", $steps, ", [rsi + 64]"),
                            concat!(".irp k,", $all),
                            concat!("vmovupd ", $vector, "\\k, [rdi + \\k*", $bytes, "]"),
                            ".endr",
                            ".p2align 5",
                            "2:",
                            $($round,)+
                            "dec rcx",
                            "jnz 2b",
                            concat!(".irp k,", $all),
                            concat!("vmovupd [rdi + \\k*", $bytes, "], ", $vector, "\\k"),
                            ".endr",
                            "vzeroupper",
                            inout("rdi") accumulators => _,
                            inout("rsi") operands => _,
                            inout("rcx") rounds => _,
                            clobber_abi("sysv64"),
                            options(nostack),
                        );
                    }
                }
                body
            },
        };
    };
}

/// Updates the accumulators `$list` in turn by an addition.
macro_rules! add {
    ($op:literal, $vector:literal, $steps:literal, $list:literal) => {
        concat!(".irp k,", $list, "\n", $op, " ", $vector, "\\k, ", $vector, "\\k, ", $steps, "\n.endr")
    };
}

/// Updates the accumulators `$list` in turn by a fused multiply-add.
macro_rules! fma {
    ($vector:literal, $ones:literal, $steps:literal, $list:literal) => {
        concat!(".irp k,", $list, "\nvfmadd213pd ", $vector, "\\k, ", $ones, ", ", $steps, "\n.endr")
    };
}

path! {
    INT_AVX512: u64, "avx512", avx512, INT, [adds(24, 2)],
    "zmm" x 64, accumulators "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23", ones "zmm30", steps "zmm31",
    [
        ".rept 2",
        add!("vpaddq", "zmm", "zmm31", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"),
        ".endr",
    ]
}

path! {
    INT_AVX2: u64, "avx2", avx2, INT, [adds(12, 4)],
    "ymm" x 32, accumulators "0,1,2,3,4,5,6,7,8,9,10,11", ones "ymm14", steps "ymm15",
    [".rept 4", add!("vpaddq", "ymm", "ymm15", "0,1,2,3,4,5,6,7,8,9,10,11"), ".endr"]
}

path! {
    /// As many additions as fused multiply-adds, 512 bits wide.
    FLOAT_AVX512_FMA_ADD: f64, "avx512 fma+add", avx512, FLOAT, [fmas(12, 2), adds(12, 2)],
    "zmm" x 64, accumulators "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23", ones "zmm30", steps "zmm31",
    [
        ".rept 2",
        fma!("zmm", "zmm30", "zmm31", "0,1"), add!("vaddpd", "zmm", "zmm31", "12,13"),
        fma!("zmm", "zmm30", "zmm31", "2,3"), add!("vaddpd", "zmm", "zmm31", "14,15"),
        fma!("zmm", "zmm30", "zmm31", "4,5"), add!("vaddpd", "zmm", "zmm31", "16,17"),
        fma!("zmm", "zmm30", "zmm31", "6,7"), add!("vaddpd", "zmm", "zmm31", "18,19"),
        fma!("zmm", "zmm30", "zmm31", "8,9"), add!("vaddpd", "zmm", "zmm31", "20,21"),
        fma!("zmm", "zmm30", "zmm31", "10,11"), add!("vaddpd", "zmm", "zmm31", "22,23"),
        ".endr",
    ]
}

path! {
    /// Two fused multiply-adds to an addition, 512 bits wide.
    FLOAT_AVX512_2FMA_ADD: f64, "avx512 2fma+add", avx512, FLOAT, [fmas(16, 2), adds(8, 2)],
    "zmm" x 64, accumulators "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23", ones "zmm30", steps "zmm31",
    [
        ".rept 2",
        fma!("zmm", "zmm30", "zmm31", "0,1,2,3"), add!("vaddpd", "zmm", "zmm31", "16,17"),
        fma!("zmm", "zmm30", "zmm31", "4,5,6,7"), add!("vaddpd", "zmm", "zmm31", "18,19"),
        fma!("zmm", "zmm30", "zmm31", "8,9,10,11"), add!("vaddpd", "zmm", "zmm31", "20,21"),
        fma!("zmm", "zmm30", "zmm31", "12,13,14,15"), add!("vaddpd", "zmm", "zmm31", "22,23"),
        ".endr",
    ]
}

path! {
    FLOAT_AVX512_FMA: f64, "avx512 fma", avx512, FLOAT, [fmas(24, 2)],
    "zmm" x 64, accumulators "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23", ones "zmm30", steps "zmm31",
    [
        ".rept 2",
        fma!("zmm", "zmm30", "zmm31", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"),
        ".endr",
    ]
}

path! {
    /// As many additions as fused multiply-adds, 256 bits wide: 8 accumulators three times, 6 accumulators four times.
    FLOAT_AVX2_FMA_ADD: f64, "avx2 fma+add", avx2_fma, FLOAT, [fmas(8, 3), adds(6, 4)],
    "ymm" x 32, accumulators "0,1,2,3,4,5,6,7,8,9,10,11,12,13", ones "ymm14", steps "ymm15",
    [
        fma!("ymm", "ymm14", "ymm15", "0,1"), add!("vaddpd", "ymm", "ymm15", "8,9"),
        fma!("ymm", "ymm14", "ymm15", "2,3"), add!("vaddpd", "ymm", "ymm15", "10,11"),
        fma!("ymm", "ymm14", "ymm15", "4,5"), add!("vaddpd", "ymm", "ymm15", "12,13"),
        fma!("ymm", "ymm14", "ymm15", "6,7"), add!("vaddpd", "ymm", "ymm15", "8,9"),
        fma!("ymm", "ymm14", "ymm15", "0,1"), add!("vaddpd", "ymm", "ymm15", "10,11"),
        fma!("ymm", "ymm14", "ymm15", "2,3"), add!("vaddpd", "ymm", "ymm15", "12,13"),
        fma!("ymm", "ymm14", "ymm15", "4,5"), add!("vaddpd", "ymm", "ymm15", "8,9"),
        fma!("ymm", "ymm14", "ymm15", "6,7"), add!("vaddpd", "ymm", "ymm15", "10,11"),
        fma!("ymm", "ymm14", "ymm15", "0,1"), add!("vaddpd", "ymm", "ymm15", "12,13"),
        fma!("ymm", "ymm14", "ymm15", "2,3"), add!("vaddpd", "ymm", "ymm15", "8,9"),
        fma!("ymm", "ymm14", "ymm15", "4,5"), add!("vaddpd", "ymm", "ymm15", "10,11"),
        fma!("ymm", "ymm14", "ymm15", "6,7"), add!("vaddpd", "ymm", "ymm15", "12,13"),
    ]
}

path! {
    /// Two fused multiply-adds to an addition, 256 bits wide.
    FLOAT_AVX2_2FMA_ADD: f64, "avx2 2fma+add", avx2_fma, FLOAT, [fmas(8, 4), adds(4, 4)],
    "ymm" x 32, accumulators "0,1,2,3,4,5,6,7,8,9,10,11", ones "ymm14", steps "ymm15",
    [
        ".rept 4",
        fma!("ymm", "ymm14", "ymm15", "0,1,2,3"), add!("vaddpd", "ymm", "ymm15", "8,9"),
        fma!("ymm", "ymm14", "ymm15", "4,5,6,7"), add!("vaddpd", "ymm", "ymm15", "10,11"),
        ".endr",
    ]
}

path! {
    FLOAT_AVX2_FMA: f64, "avx2 fma", avx2_fma, FLOAT, [fmas(12, 4)],
    "ymm" x 32, accumulators "0,1,2,3,4,5,6,7,8,9,10,11", ones "ymm14", steps "ymm15",
    [".rept 4", fma!("ymm", "ymm14", "ymm15", "0,1,2,3,4,5,6,7,8,9,10,11"), ".endr"]
}
