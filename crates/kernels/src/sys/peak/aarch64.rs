//! The loops for NEON, which every aarch64 CPU has: 128 bits wide, 24 accumulators, 48 operations a round.

use super::{FLOAT, Group, INT, Operands, Path};

fn always() -> bool {
    true
}

/// A path that keeps `v0` to `v23` as accumulators, the factor in `v30` and the step in `v31`.
macro_rules! path {
    ($(#[$doc:meta])* $path:ident: $value:ty, $name:literal, $operands:ident, $ops:literal, $update:literal) => {
        $(#[$doc])*
        pub(super) static $path: Path<$value> = Path {
            name: $name,
            lanes: 2,
            groups: &[Group { vectors: 24, updates: 2, ops: $ops }],
            detected: always,
            operands: &$operands,
            body: {
                /// # Safety
                /// As [`Path::run`]: whole accumulators and operands, at least one round.
                unsafe fn body(accumulators: *mut $value, operands: *const Operands<$value>, rounds: u64) {
                    // SAFETY: the caller passes room for every accumulator named, and operands of 64 bytes each.
                    // SAFETY: `rounds` counts down from at least 1 to the end of the loop.
                    // SAFETY: every vector register is declared as overwritten; the stack is left alone.
                    unsafe {
                        std::arch::asm!(
                            "ldr q30, [x1]",
                            "ldr q31, [x1, #64]",
                            ".irp k,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23",
                            "ldr q\\k, [x0, #(\\k*16)]",
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
                            "str q\\k, [x0, #(\\k*16)]",
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

path! {
    INT_NEON: u64, "neon", INT, 1, "add v\\k\\().2d, v\\k\\().2d, v31.2d"
}

path! {
    FLOAT_NEON_FMA: f64, "neon fma", FLOAT, 2, "fmla v\\k\\().2d, v30.2d, v31.2d"
}
