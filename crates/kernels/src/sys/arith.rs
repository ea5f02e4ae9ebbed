//! The hot loops of the dependent chains. Their names are kept in the binary, so they can be disassembled and their
//! arithmetic instructions counted: 2 additions, 2 subtractions and 4 multiplications per step. The loop's own control
//! uses other mnemonics on x86 (`inc`, `and`, `dec`) and immediate operands on aarch64.

use crate::arith::INPUTS;

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
