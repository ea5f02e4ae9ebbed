//! The loops for NEON, which every aarch64 CPU has, 128 bits wide, and for SVE where its vectors are wider: 24 accumulators, 48 operations
//! a round.

use std::arch::is_aarch64_feature_detected;

use super::{FLOAT, Group, INT, LANES, Operands, Path};

fn always() -> bool {
    true
}

/// Whether vectors of SVE have this many lanes. Those of 128 bits need no path: NEON's are as wide.
fn sve<const WIDE: usize>() -> bool {
    let bytes: usize;
    if !is_aarch64_feature_detected!("sve") {
        return false;
    }
    // SAFETY: the CPU has the extension, which was detected; the instruction writes nothing but its register.
    unsafe {
        std::arch::asm!(
            ".arch_extension sve",
            "rdvl {}, #1",
            out(reg) bytes,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    bytes == WIDE * size_of::<u64>()
}

/// A path that keeps vectors 0 to 23 as accumulators, the factor in vector 30 and the step in vector 31.
macro_rules! path {
    (
        $(#[$doc:meta])* $path:ident: $value:ty, $name:literal, $lanes:expr, $detected:expr, $operands:ident, $ops:literal,
        [$($begin:literal),+], $load:literal, $update:literal, $store:literal
    ) => {
        $(#[$doc])*
        pub(super) static $path: Path<$value> = Path {
            name: $name,
            lanes: $lanes,
            groups: &[Group { vectors: 24, updates: 2, ops: $ops }],
            detected: $detected,
            operands: &$operands,
            body: {
                /// # Safety
                /// As [`Path::run`]: whole accumulators and operands, at least one round.
                unsafe fn body(accumulators: *mut $value, operands: *const Operands<$value>, rounds: u64) {
                    const { assert!($lanes <= LANES) };
                    // SAFETY: the caller passes room for every accumulator named, and operands of 64 bytes each.
                    // SAFETY: `rounds` counts down from at least 1 to the end of the loop.
                    // SAFETY: every vector and predicate register is declared as overwritten; the stack is left alone.
                    unsafe {
                        std::arch::asm!(
                            $($begin,)+
                            ".irp k,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23",
                            $load,
                            ".endr",
                            "2:",
                            // Twice the same list: a `.rept` around it would take the `\\()` for its own.
                            ".irp k,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,\
                                    0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23",
                            $update,
                            ".endr",
                            "subs x2, x2, #1",
                            "b.ne 2b",
                            ".irp k,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23",
                            $store,
                            ".endr",
                            inout("x0") accumulators => _,
                            inout("x1") operands => _,
                            inout("x2") rounds => _,
                            out("v8") _, out("v9") _, out("v10") _, out("v11") _,
                            out("v12") _, out("v13") _, out("v14") _, out("v15") _,
                            clobber_abi("C"),
                            options(nostack),
                        );
                    }
                }
                body
            },
        };
    };
}

macro_rules! neon {
    ($path:ident: $value:ty, $name:literal, $operands:ident, $ops:literal, $update:literal) => {
        path! {
            $path: $value, $name, 2, always, $operands, $ops,
            ["ldr q30, [x1]", "ldr q31, [x1, #64]"],
            "ldr q\\k, [x0, #(\\k*16)]", $update, "str q\\k, [x0, #(\\k*16)]"
        }
    };
}

macro_rules! sve {
    ($path:ident: $value:ty, $name:literal, $lanes:literal, $operands:ident, $ops:literal, $update:literal) => {
        path! {
            $path: $value, $name, $lanes, sve::<$lanes>, $operands, $ops,
            [".arch_extension sve", "ptrue p0.d", "ldr z30, [x1]", "add x1, x1, #64", "ldr z31, [x1]"],
            "ldr z\\k, [x0, #\\k, mul vl]", $update, "str z\\k, [x0, #\\k, mul vl]"
        }
    };
}

neon! {
    INT_NEON: u64, "neon", INT, 1, "add v\\k\\().2d, v\\k\\().2d, v31.2d"
}

neon! {
    FLOAT_NEON_FMA: f64, "neon fma", FLOAT, 2, "fmla v\\k\\().2d, v30.2d, v31.2d"
}

sve! {
    INT_SVE256: u64, "sve256", 4, INT, 1, "add z\\k\\().d, z\\k\\().d, z31.d"
}

sve! {
    INT_SVE512: u64, "sve512", 8, INT, 1, "add z\\k\\().d, z\\k\\().d, z31.d"
}

sve! {
    FLOAT_SVE256_FMA: f64, "sve256 fma", 4, FLOAT, 2, "fmla z\\k\\().d, p0/m, z30.d, z31.d"
}

sve! {
    FLOAT_SVE512_FMA: f64, "sve512 fma", 8, FLOAT, 2, "fmla z\\k\\().d, p0/m, z30.d, z31.d"
}
