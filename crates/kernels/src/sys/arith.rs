//! The hot loops of the dependent chains, one or several at once. Their names are kept in the binary, so they can be disassembled and their
//! arithmetic instructions counted: 2 additions, 2 subtractions and 4 multiplications per step of a chain. The loop's own control
//! uses other mnemonics on x86 (`inc`, `and`, `dec`) and immediate operands on aarch64.

use crate::arith::{FLOAT_CHAINS, INPUTS, INT_CHAINS};

/// An operation of each chain with the input: a template of lines.
#[cfg(target_arch = "x86_64")]
macro_rules! each {
    ($operation:literal, $register:literal, $($r:ident)*) => {
        concat!($($operation, " {", stringify!($r), "}, {x}\n"),*)
    };
}

/// The same with three operands, and how a register is written.
#[cfg(target_arch = "aarch64")]
macro_rules! each {
    ($operation:literal, $register:literal, $($r:ident)*) => {
        concat!($($operation, " {", stringify!($r), $register, "}, {", stringify!($r), $register, "}, {x", $register, "}\n"),*)
    };
}

/// A step of each chain, one operation of each in turn; the second half of the chains is one operation behind the first. Multiplications then
/// stand beside additions: where all chains multiply at once, the one unit that can waits for those that have gone before, and then it is what
/// all wait for. On Zen 4, six chains side by side did 1.78 operations in a cycle, and so 2.0, which is all that the unit allows.
macro_rules! step {
    ([$add:literal $sub:literal $mul:literal], $register:literal, $($r:ident)+; $($behind:ident)*) => {
        concat!(
            each!($add, $register, $($r)+),
            each!($mul, $register, $($r)+), each!($add, $register, $($behind)*),
            each!($sub, $register, $($r)+), each!($mul, $register, $($behind)*),
            each!($mul, $register, $($r)+), each!($sub, $register, $($behind)*),
            each!($add, $register, $($r)+), each!($mul, $register, $($behind)*),
            each!($mul, $register, $($r)+), each!($add, $register, $($behind)*),
            each!($sub, $register, $($r)+), each!($mul, $register, $($behind)*),
            each!($mul, $register, $($r)+), each!($sub, $register, $($behind)*),
            each!($mul, $register, $($behind)*),
        )
    };
}

/// A loop of so many steps of the chains `r`: step `i` uses input `i % INPUTS`. For each architecture a class of registers and how one
/// is written, the load of an input, and the operations.
macro_rules! chains {
    (
        $name:ident, [$number:ty; $chains:expr], $step:path, [$($r:ident)+; $($behind:ident)*],
        x86_64: $class_x86:ident $load_x86:literal $operations_x86:tt,
        aarch64: $class_arm:ident $register_arm:literal $operations_arm:tt
    ) => {
        #[unsafe(no_mangle)]
        #[inline(never)]
        pub extern "C" fn $name(r: &mut [$number; $chains], inputs: &[$number; INPUTS], steps: u64) {
            if steps == 0 {
                return;
            }
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            let [$(mut $r,)+ $(mut $behind),*] = *r;
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the index starts at 0 and is masked before each further read, so every read is inside `inputs`.
            // SAFETY: `steps` is not 0, so the loop ends; it writes no memory and leaves the stack alone.
            unsafe {
                std::arch::asm!(
                    "2:",
                    concat!($load_x86, " {x}, qword ptr [{inputs} + 8*{n}]"),
                    "inc {n}",
                    "and {n}, {mask}",
                    step!($operations_x86, "", $($r)+; $($behind)*),
                    "dec {steps}",
                    "jnz 2b",
                    x = out($class_x86) _,
                    n = inout(reg) 0_usize => _,
                    $($r = inout($class_x86) $r,)+
                    $($behind = inout($class_x86) $behind,)*
                    steps = inout(reg) steps => _,
                    inputs = in(reg) inputs.as_ptr(),
                    mask = const INPUTS - 1,
                    options(readonly, nostack),
                );
            }
            #[cfg(target_arch = "aarch64")]
            // SAFETY: the index starts at 0 and is masked before each further read, so every read is inside `inputs`.
            // SAFETY: `steps` is not 0, so the loop ends; it writes no memory and leaves the stack alone.
            unsafe {
                std::arch::asm!(
                    "2:",
                    concat!("ldr {x", $register_arm, "}, [{inputs}, {n}, lsl #3]"),
                    "add {n}, {n}, #1",
                    "and {n}, {n}, #{mask}",
                    step!($operations_arm, $register_arm, $($r)+; $($behind)*),
                    "subs {steps}, {steps}, #1",
                    "b.ne 2b",
                    x = out($class_arm) _,
                    n = inout(reg) 0_usize => _,
                    $($r = inout($class_arm) $r,)+
                    $($behind = inout($class_arm) $behind,)*
                    steps = inout(reg) steps => _,
                    inputs = in(reg) inputs.as_ptr(),
                    mask = const INPUTS - 1,
                    options(readonly, nostack),
                );
            }
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            {
                *r = [$($r,)+ $($behind),*];
            }
            #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
            for &x in inputs.iter().cycle().take(usize::try_from(steps).unwrap_or(usize::MAX)) {
                r.iter_mut().for_each(|r| *r = std::hint::black_box($step(*r, x)));
            }
        }
    };
}

chains! {
    charz_arith_int_loop, [u64; 1], crate::arith::step_int, [a;],
    x86_64: reg "mov" ["add" "sub" "imul"],
    aarch64: reg "" ["add" "sub" "mul"]
}

chains! {
    charz_arith_float_loop, [f64; 1], crate::arith::step_float, [a;],
    x86_64: xmm_reg "movsd" ["addsd" "subsd" "mulsd"],
    aarch64: vreg ":d" ["fadd" "fsub" "fmul"]
}

chains! {
    charz_arith_int_ilp_loop, [u64; INT_CHAINS], crate::arith::step_int, [a b c; d e f],
    x86_64: reg "mov" ["add" "sub" "imul"],
    aarch64: reg "" ["add" "sub" "mul"]
}

chains! {
    charz_arith_float_ilp_loop, [f64; FLOAT_CHAINS], crate::arith::step_float, [a b c d e f; g h i j k l],
    x86_64: xmm_reg "movsd" ["addsd" "subsd" "mulsd"],
    aarch64: vreg ":d" ["fadd" "fsub" "fmul"]
}
