use super::*;
use crate::asm::listing;

#[track_caller]
fn counted(machine: &str, arithmetic: Arithmetic, text: &str) -> Result<Count, String> {
    let body = listing::only_loop(&listing::parse(text).unwrap()).unwrap();
    count(&body, &Instructions::of(machine, arithmetic).unwrap())
}

#[track_caller]
fn accepts(machine: &str, arithmetic: Arithmetic, text: &str, steps: usize) {
    let count = counted(machine, arithmetic, text).unwrap();
    assert_eq!(count.steps, steps, "{count}");
    assert!(count.is_whole(), "{count}");
}

const INT_X86: &str = "
   0:\tmov    %rdi,%rax
   3:\ttest   %rdx,%rdx
   6:\tje     36 <charz_arith_int_loop+0x36>
   8:\txor    %ecx,%ecx
   a:\tmov    (%rsi,%rcx,8),%rdi
   e:\tinc    %rcx
  11:\tand    $0x7f,%rcx
  15:\tadd    %rdi,%rax
  18:\timul   %rdi,%rax
  1c:\tsub    %rdi,%rax
  1f:\timul   %rdi,%rax
  23:\tadd    %rdi,%rax
  26:\timul   %rdi,%rax
  2a:\tsub    %rdi,%rax
  2d:\timul   %rdi,%rax
  31:\tdec    %rdx
  34:\tjne    a <charz_arith_int_loop+0xa>
  36:\tret
";

/// What a compiler makes of the float chain in a plain loop, two steps a body, with three operands.
const FLOAT_X86_UNROLLED: &str = "
  20:\tvmovsd (%rdi),%xmm2
  24:\tvmovsd 0x8(%rdi),%xmm1
  29:\tadd    $0x10,%rdi
  2d:\tvaddsd %xmm0,%xmm2,%xmm0
  31:\tvmulsd %xmm2,%xmm0,%xmm0
  35:\tvsubsd %xmm2,%xmm0,%xmm0
  39:\tvmulsd %xmm2,%xmm0,%xmm0
  3d:\tvaddsd %xmm2,%xmm0,%xmm0
  41:\tvmulsd %xmm2,%xmm0,%xmm0
  45:\tvsubsd %xmm2,%xmm0,%xmm0
  49:\tvmulsd %xmm2,%xmm0,%xmm0
  4d:\tvaddsd %xmm1,%xmm0,%xmm0
  51:\tvmulsd %xmm1,%xmm0,%xmm0
  55:\tvsubsd %xmm1,%xmm0,%xmm0
  59:\tvmulsd %xmm1,%xmm0,%xmm0
  5d:\tvaddsd %xmm1,%xmm0,%xmm0
  61:\tvmulsd %xmm1,%xmm0,%xmm0
  65:\tvsubsd %xmm1,%xmm0,%xmm0
  69:\tvmulsd %xmm1,%xmm0,%xmm0
  6d:\tcmp    %rdi,%rax
  70:\tjne    20 <f+0x20>
";

/// What a compiler makes of the integer chain in a plain loop: `(r + x) * x - x` became `(r + x - 1) * x`, and so on.
const INT_X86_FOLDED: &str = "
  20:\tmov    %ecx,%r8d
  23:\tand    $0x7e,%r8d
  27:\tmov    (%rsi,%r8,8),%r9
  2b:\tadd    %r9,%rax
  2e:\tdec    %rax
  31:\tmov    0x8(%rsi,%r8,8),%r8
  36:\timul   %r9,%rax
  3a:\tinc    %rax
  3d:\timul   %r9,%rax
  41:\tdec    %rax
  44:\timul   %r9,%r9
  48:\timul   %rax,%r9
  4c:\tadd    $0x2,%rcx
  50:\tadd    %r8,%r9
  53:\tdec    %r9
  56:\timul   %r8,%r9
  5a:\tinc    %r9
  5d:\timul   %r8,%r9
  61:\tdec    %r9
  64:\timul   %r8,%r8
  68:\tmov    %r8,%rax
  6b:\timul   %r9,%rax
  6f:\tcmp    %rcx,%rdi
  72:\tjne    20 <int_fold+0x20>
";

const INT_ARM: &str = "
   8:\tldr\tx9, [x1, x8, lsl #3]
   c:\tadd\tx8, x8, #0x1
  10:\tand\tx8, x8, #0x7f
  14:\tadd\tx0, x0, x9
  18:\tmul\tx0, x0, x9
  1c:\tsub\tx0, x0, x9
  20:\tmul\tx0, x0, x9
  24:\tadd\tx0, x0, x9
  28:\tmul\tx0, x0, x9
  2c:\tsub\tx0, x0, x9
  30:\tmul\tx0, x0, x9
  34:\tsubs\tx2, x2, #0x1
  38:\tb.ne\t8 <charz_arith_int_loop+0x8>  // b.any
";

#[test]
fn honest_loops_are_accepted() {
    accepts("x86_64", Arithmetic::Integer, INT_X86, 1);
    accepts("x86_64", Arithmetic::Float, FLOAT_X86_UNROLLED, 2);
    accepts("aarch64", Arithmetic::Integer, INT_ARM, 1);
    let float_arm =
        INT_ARM.replace("\tadd\tx0, x0, x9", "\tfadd\td0, d0, d1").replace("\tsub\tx0, x0, x9", "\tfsub\td0, d0, d1");
    let float_arm = float_arm.replace("\tmul\tx0, x0, x9", "\tfmul\td0, d0, d1").replace("ldr\tx9", "ldr\td1");
    accepts("aarch64", Arithmetic::Float, &float_arm, 1);
}

#[test]
fn control_is_told_apart() {
    assert_eq!(counted("x86_64", Arithmetic::Integer, INT_X86).unwrap().control, 4);
    // The additions to the pointer and to the counter are no arithmetic of the chain.
    assert_eq!(counted("aarch64", Arithmetic::Integer, INT_ARM).unwrap().control, 4);
    assert_eq!(counted("x86_64", Arithmetic::Float, FLOAT_X86_UNROLLED).unwrap().control, 3);
}

#[test]
fn a_folded_loop_is_refused() {
    assert!(counted("x86_64", Arithmetic::Integer, INT_X86_FOLDED).is_err());
}

#[test]
fn a_missing_operation_is_seen() {
    let less = INT_X86.replacen("  2d:\timul   %rdi,%rax\n", "", 1);
    let count = counted("x86_64", Arithmetic::Integer, &less).unwrap();
    assert_eq!((count.arithmetic, count.is_whole()), ([2, 2, 3], false));
}

#[test]
fn an_operation_on_something_else_is_refused() {
    // The second multiplication starts a chain of its own, which could run beside the first.
    let apart = INT_X86.replacen("  1f:\timul   %rdi,%rax", "  1f:\timul   %rdi,%r8", 1);
    assert!(counted("x86_64", Arithmetic::Integer, &apart).unwrap_err().contains("does not use"));
}

#[test]
fn hidden_arithmetic_is_refused() {
    for (from, to) in [
        ("add    %rdi,%rax", "lea    (%rax,%rdi,1),%rax"),
        ("imul   %rdi,%rax", "imul   $0x3,%rdi,%rax"),
        ("imul   %rdi,%rax", "shl    $0x1,%rax"),
        ("sub    %rdi,%rax", "dec    %rax"),
        ("sub    %rdi,%rax", "mov    %rdi,%rax"),
    ] {
        let text = INT_X86.replacen(from, to, 1);
        assert!(counted("x86_64", Arithmetic::Integer, &text).is_err(), "{to}");
    }
}

#[test]
fn other_machines_are_not_guessed() {
    assert!(Instructions::of("riscv64", Arithmetic::Integer).is_none());
}
