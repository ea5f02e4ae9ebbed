//! The hot loops of the dependent chains, one or several at once. Their names are kept in the binary, so they can be disassembled and their
//! arithmetic instructions counted: 2 additions, 2 subtractions and 4 multiplications per step of a chain. The loop's own control
//! uses other mnemonics on x86 (`inc`, `and`, `dec`) and immediate operands on aarch64.

use crate::arith::{FLOAT_CHAINS, INPUTS, INT_CHAINS};

/// The steps of the integer chain from `r`: step `i` uses input `i % INPUTS`.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn charz_arith_int_loop(r: u64, inputs: &[u64; INPUTS], steps: u64) -> u64 {
    if steps == 0 {
        return r;
    }
    let mut r = r;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the index starts at 0 and is masked before each further read, so every read is inside `inputs`.
    // SAFETY: `steps` is not 0, so the loop ends; it writes no memory and leaves the stack alone.
    unsafe {
        std::arch::asm!(
            "2:",
            "mov {x}, qword ptr [{inputs} + 8*{i}]",
            "inc {i}",
            "and {i}, {mask}",
            "add {r}, {x}",
            "imul {r}, {x}",
            "sub {r}, {x}",
            "imul {r}, {x}",
            "add {r}, {x}",
            "imul {r}, {x}",
            "sub {r}, {x}",
            "imul {r}, {x}",
            "dec {steps}",
            "jnz 2b",
            x = out(reg) _,
            i = inout(reg) 0_usize => _,
            r = inout(reg) r,
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
            "ldr {x}, [{inputs}, {i}, lsl #3]",
            "add {i}, {i}, #1",
            "and {i}, {i}, #{mask}",
            "add {r}, {r}, {x}",
            "mul {r}, {r}, {x}",
            "sub {r}, {r}, {x}",
            "mul {r}, {r}, {x}",
            "add {r}, {r}, {x}",
            "mul {r}, {r}, {x}",
            "sub {r}, {r}, {x}",
            "mul {r}, {r}, {x}",
            "subs {steps}, {steps}, #1",
            "b.ne 2b",
            x = out(reg) _,
            i = inout(reg) 0_usize => _,
            r = inout(reg) r,
            steps = inout(reg) steps => _,
            inputs = in(reg) inputs.as_ptr(),
            mask = const INPUTS - 1,
            options(readonly, nostack),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    for &x in inputs.iter().cycle().take(usize::try_from(steps).unwrap_or(usize::MAX)) {
        r = std::hint::black_box(crate::arith::step_int(r, x));
    }
    r
}

/// The steps of the floating-point chain from `r`: step `i` uses input `i % INPUTS`.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn charz_arith_float_loop(r: f64, inputs: &[f64; INPUTS], steps: u64) -> f64 {
    if steps == 0 {
        return r;
    }
    let mut r = r;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the index starts at 0 and is masked before each further read, so every read is inside `inputs`.
    // SAFETY: `steps` is not 0, so the loop ends; it writes no memory and leaves the stack alone.
    unsafe {
        std::arch::asm!(
            "2:",
            "movsd {x}, qword ptr [{inputs} + 8*{i}]",
            "inc {i}",
            "and {i}, {mask}",
            "addsd {r}, {x}",
            "mulsd {r}, {x}",
            "subsd {r}, {x}",
            "mulsd {r}, {x}",
            "addsd {r}, {x}",
            "mulsd {r}, {x}",
            "subsd {r}, {x}",
            "mulsd {r}, {x}",
            "dec {steps}",
            "jnz 2b",
            x = out(xmm_reg) _,
            i = inout(reg) 0_usize => _,
            r = inout(xmm_reg) r,
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
            "ldr {x:d}, [{inputs}, {i}, lsl #3]",
            "add {i}, {i}, #1",
            "and {i}, {i}, #{mask}",
            "fadd {r:d}, {r:d}, {x:d}",
            "fmul {r:d}, {r:d}, {x:d}",
            "fsub {r:d}, {r:d}, {x:d}",
            "fmul {r:d}, {r:d}, {x:d}",
            "fadd {r:d}, {r:d}, {x:d}",
            "fmul {r:d}, {r:d}, {x:d}",
            "fsub {r:d}, {r:d}, {x:d}",
            "fmul {r:d}, {r:d}, {x:d}",
            "subs {steps}, {steps}, #1",
            "b.ne 2b",
            x = out(vreg) _,
            i = inout(reg) 0_usize => _,
            r = inout(vreg) r,
            steps = inout(reg) steps => _,
            inputs = in(reg) inputs.as_ptr(),
            mask = const INPUTS - 1,
            options(readonly, nostack),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    for &x in inputs.iter().cycle().take(usize::try_from(steps).unwrap_or(usize::MAX)) {
        r = std::hint::black_box(crate::arith::step_float(r, x));
    }
    r
}

/// An operation of each chain with the input: a template of lines.
#[cfg(target_arch = "x86_64")]
macro_rules! each_x86 {
    ($operation:literal, $($r:literal),+) => {
        concat!($($operation, " {", $r, "}, {x}\n"),+)
    };
}

/// The same with three operands.
#[cfg(target_arch = "aarch64")]
macro_rules! each_arm {
    ($operation:literal, $($r:literal),+) => {
        concat!($($operation, " {", $r, "}, {", $r, "}, {x}\n"),+)
    };
}

/// The same on doubles.
#[cfg(target_arch = "aarch64")]
macro_rules! each_arm_double {
    ($operation:literal, $($r:literal),+) => {
        concat!($($operation, " {", $r, ":d}, {", $r, ":d}, {x:d}\n"),+)
    };
}

/// The steps of independent integer chains, one operation of each in turn.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn charz_arith_int_ilp_loop(r: &mut [u64; INT_CHAINS], inputs: &[u64; INPUTS], steps: u64) {
    if steps == 0 {
        return;
    }
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    let [mut a, mut b, mut c, mut d, mut e, mut f] = *r;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the index starts at 0 and is masked before each further read, so every read is inside `inputs`.
    // SAFETY: `steps` is not 0, so the loop ends; it writes no memory and leaves the stack alone.
    unsafe {
        std::arch::asm!(
            "2:",
            "mov {x}, qword ptr [{inputs} + 8*{n}]",
            "inc {n}",
            "and {n}, {mask}",
            each_x86!("add", "a", "b", "c", "d", "e", "f"),
            each_x86!("imul", "a", "b", "c", "d", "e", "f"),
            each_x86!("sub", "a", "b", "c", "d", "e", "f"),
            each_x86!("imul", "a", "b", "c", "d", "e", "f"),
            each_x86!("add", "a", "b", "c", "d", "e", "f"),
            each_x86!("imul", "a", "b", "c", "d", "e", "f"),
            each_x86!("sub", "a", "b", "c", "d", "e", "f"),
            each_x86!("imul", "a", "b", "c", "d", "e", "f"),
            "dec {steps}",
            "jnz 2b",
            x = out(reg) _,
            n = inout(reg) 0_usize => _,
            a = inout(reg) a,
            b = inout(reg) b,
            c = inout(reg) c,
            d = inout(reg) d,
            e = inout(reg) e,
            f = inout(reg) f,
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
            "ldr {x}, [{inputs}, {n}, lsl #3]",
            "add {n}, {n}, #1",
            "and {n}, {n}, #{mask}",
            each_arm!("add", "a", "b", "c", "d", "e", "f"),
            each_arm!("mul", "a", "b", "c", "d", "e", "f"),
            each_arm!("sub", "a", "b", "c", "d", "e", "f"),
            each_arm!("mul", "a", "b", "c", "d", "e", "f"),
            each_arm!("add", "a", "b", "c", "d", "e", "f"),
            each_arm!("mul", "a", "b", "c", "d", "e", "f"),
            each_arm!("sub", "a", "b", "c", "d", "e", "f"),
            each_arm!("mul", "a", "b", "c", "d", "e", "f"),
            "subs {steps}, {steps}, #1",
            "b.ne 2b",
            x = out(reg) _,
            n = inout(reg) 0_usize => _,
            a = inout(reg) a,
            b = inout(reg) b,
            c = inout(reg) c,
            d = inout(reg) d,
            e = inout(reg) e,
            f = inout(reg) f,
            steps = inout(reg) steps => _,
            inputs = in(reg) inputs.as_ptr(),
            mask = const INPUTS - 1,
            options(readonly, nostack),
        );
    }
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        *r = [a, b, c, d, e, f];
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    for &x in inputs.iter().cycle().take(usize::try_from(steps).unwrap_or(usize::MAX)) {
        r.iter_mut().for_each(|r| *r = std::hint::black_box(crate::arith::step_int(*r, x)));
    }
}

/// The steps of independent floating-point chains, one operation of each in turn.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn charz_arith_float_ilp_loop(r: &mut [f64; FLOAT_CHAINS], inputs: &[f64; INPUTS], steps: u64) {
    if steps == 0 {
        return;
    }
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h, mut i, mut j, mut k, mut l] = *r;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the index starts at 0 and is masked before each further read, so every read is inside `inputs`.
    // SAFETY: `steps` is not 0, so the loop ends; it writes no memory and leaves the stack alone.
    unsafe {
        std::arch::asm!(
            "2:",
            "movsd {x}, qword ptr [{inputs} + 8*{n}]",
            "inc {n}",
            "and {n}, {mask}",
            each_x86!("addsd", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            each_x86!("mulsd", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            each_x86!("subsd", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            each_x86!("mulsd", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            each_x86!("addsd", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            each_x86!("mulsd", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            each_x86!("subsd", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            each_x86!("mulsd", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            "dec {steps}",
            "jnz 2b",
            x = out(xmm_reg) _,
            n = inout(reg) 0_usize => _,
            a = inout(xmm_reg) a,
            b = inout(xmm_reg) b,
            c = inout(xmm_reg) c,
            d = inout(xmm_reg) d,
            e = inout(xmm_reg) e,
            f = inout(xmm_reg) f,
            g = inout(xmm_reg) g,
            h = inout(xmm_reg) h,
            i = inout(xmm_reg) i,
            j = inout(xmm_reg) j,
            k = inout(xmm_reg) k,
            l = inout(xmm_reg) l,
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
            "ldr {x:d}, [{inputs}, {n}, lsl #3]",
            "add {n}, {n}, #1",
            "and {n}, {n}, #{mask}",
            each_arm_double!("fadd", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            each_arm_double!("fmul", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            each_arm_double!("fsub", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            each_arm_double!("fmul", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            each_arm_double!("fadd", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            each_arm_double!("fmul", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            each_arm_double!("fsub", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            each_arm_double!("fmul", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"),
            "subs {steps}, {steps}, #1",
            "b.ne 2b",
            x = out(vreg) _,
            n = inout(reg) 0_usize => _,
            a = inout(vreg) a,
            b = inout(vreg) b,
            c = inout(vreg) c,
            d = inout(vreg) d,
            e = inout(vreg) e,
            f = inout(vreg) f,
            g = inout(vreg) g,
            h = inout(vreg) h,
            i = inout(vreg) i,
            j = inout(vreg) j,
            k = inout(vreg) k,
            l = inout(vreg) l,
            steps = inout(reg) steps => _,
            inputs = in(reg) inputs.as_ptr(),
            mask = const INPUTS - 1,
            options(readonly, nostack),
        );
    }
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        *r = [a, b, c, d, e, f, g, h, i, j, k, l];
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    for &x in inputs.iter().cycle().take(usize::try_from(steps).unwrap_or(usize::MAX)) {
        r.iter_mut().for_each(|r| *r = std::hint::black_box(crate::arith::step_float(*r, x)));
    }
}
