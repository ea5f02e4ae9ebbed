//! The loops for AVX2 and AVX-512.
//!
//! A round moves 512 bytes of each array (576 where lines go by threes), after which there is one addition an array, and after
//! eight rounds one jump: Zen 4 makes two loads and one store of 32 bytes a cycle, Intel's widest cores two and one of 64, and neither
//! has to wait for anything else. A pass over 48 KiB has 12 such turns: Zen 5 did not foresee the end of a loop of 32 or 64, which cost
//! a pass over 16 or 32 KiB 16 cycles (113 and 120 of 128 bytes a cycle); that of 16 it did. The loop begins a line of code: 32 bytes
//! later Zen 4 made 61 of 64 bytes a cycle of loads.

use super::{Ahead, Line, Op, Registers};

/// A loop: three arrays, bytes of each, passes, what it keeps in registers, and how it goes.
///
/// # Safety
/// The CPU has the instructions. As many arrays as the operation has are `bytes` bytes long from where their pointers point,
/// and no other code accesses them; pointers are aligned as lines are. `bytes` and the stretch are multiples of the
/// operation's round, and neither they nor the number of passes are 0.
pub(super) type Body = unsafe fn(*mut Line, *const Line, *const Line, usize, u64, *mut Registers, *const Ahead);

/// A loop with the vectors `$vector` of `$bytes` bytes: the round `$round`, which moves `$step` bytes of the first array and of
/// `$more`, what follows each pass, and what follows all of them. It asks for lines of `$ahead` before each stretch. Vectors 0 to 7 hold sums or what is on its way; 8 is what is
/// written or multiplied by, and 9 what is added to it.
macro_rules! body {
    (
        $vector:literal x $bytes:literal, $step:expr, more [$($more:literal),*], ahead [$($ahead:literal),*],
        [$round:expr], [$($pass:expr),*], [$($last:expr),*]
    ) => {{
        /// # Safety
        /// As [`Body`].
        unsafe fn body(
            a: *mut Line,
            b: *const Line,
            c: *const Line,
            bytes: usize,
            passes: u64,
            registers: *mut Registers,
            ahead: *const Ahead,
        ) {
            // SAFETY: the caller vouches for the instructions, and for the arrays, through which the loop goes in whole rounds up to
            // `bytes`; what it asks for ahead need not exist, as such a request never faults.
            // SAFETY: the registers are eight vectors of sums, with room for the widest, and two lines behind them.
            // SAFETY: every vector register is declared as overwritten; the stack is left alone.
            unsafe {
                std::arch::asm!(
                    ".irp k,0,1,2,3,4,5,6,7",
                    concat!("vmovaps ", $vector, "\\k, [r9 + \\k*", $bytes, "]"),
                    ".endr",
                    concat!("vmovaps ", $vector, "8, [r9 + 512]"),
                    concat!("vmovaps ", $vector, "9, [r9 + 576]"),
                    "mov r10, [r11]",
                    "mov r11, [r11 + 8]",
                    "lea r12, [rdi + r8]",
                    // A stretch, of the last of which there may be less.
                    "2:",
                    $(concat!("prefetcht0 [", $ahead, " + r11]"),)*
                    "lea rax, [rdi + r10]",
                    "cmp rax, r12",
                    "cmova rax, r12",
                    // Eight rounds a turn, so the end of a pass over a first-level cache is one that processors foresee.
                    concat!("lea r13, [rdi + 8*", $step, "]"),
                    "cmp r13, rax",
                    "ja 4f",
                    ".p2align 6",
                    "3:",
                    ".rept 8",
                    $round,
                    concat!("add rdi, ", $step),
                    $(concat!("add ", $more, ", ", $step),)*
                    ".endr",
                    concat!("lea r13, [rdi + 8*", $step, "]"),
                    "cmp r13, rax",
                    "jbe 3b",
                    // The rounds that are left.
                    "4:",
                    "cmp rdi, rax",
                    "jae 6f",
                    "5:",
                    $round,
                    concat!("add rdi, ", $step),
                    $(concat!("add ", $more, ", ", $step),)*
                    "cmp rdi, rax",
                    "jb 5b",
                    "6:",
                    "cmp rdi, r12",
                    "jb 2b",
                    "sub rdi, r8",
                    $(concat!("sub ", $more, ", r8"),)*
                    $($pass,)*
                    "dec rcx",
                    "jnz 2b",
                    $($last,)*
                    ".irp k,0,1,2,3,4,5,6,7",
                    concat!("vmovaps [r9 + \\k*", $bytes, "], ", $vector, "\\k"),
                    ".endr",
                    concat!("vmovaps [r9 + 512], ", $vector, "8"),
                    "vzeroupper",
                    inout("rdi") a => _,
                    inout("rsi") b => _,
                    inout("rdx") c => _,
                    inout("rcx") passes => _,
                    inout("r8") bytes => _,
                    inout("r9") registers => _,
                    inout("r11") ahead => _,
                    out("rax") _,
                    out("r10") _,
                    out("r12") _,
                    out("r13") _,
                    clobber_abi("sysv64"),
                    options(nostack),
                );
            }
        }
        body as Body
    }};
}

/// Repeats `$text` for the vectors `$vectors`, `\\k`, of each of the groups `$groups`, `\\j`.
macro_rules! every {
    ($groups:literal, $($vectors:literal: [$($text:expr),+]),+) => {
        concat!(".irp j,", $groups, "\n", $(".irp k,", $vectors, "\n", $($text,)+ "\n.endr\n",)+ ".endr")
    };
}

/// The loops of a vector extension: the names of its registers, their bytes, the groups of eight vectors that make a round, those of a
/// round that a read adds up and those that it only loads, and for each mix its groups, the vectors in one, which of them are read, and
/// which are written.
macro_rules! loops {
    (
        $(#[$doc:meta])* $function:ident, $vector:literal x $bytes:literal, $eights:literal, [Read $added:literal, $loaded:literal],
        $([$op:ident $step:literal: $groups:literal of $length:literal, $read:literal, $written:literal]),+
    ) => {
        $(#[$doc])*
        pub(super) fn $function(op: Op) -> Body {
            /// The place of vector `\\k` of group `\\j` in the first array.
            macro_rules! place {
                ($array:literal, $group:literal) => {
                    concat!("[", $array, " + (\\j*", $group, " + \\k)*", $bytes, "]")
                };
            }
            macro_rules! vector {
                ($number:literal) => {
                    concat!($vector, $number)
                };
            }
            match op {
                Op::Read => body!(
                    $vector x $bytes, "512", more [], ahead ["rdi"],
                    [every!(
                        "0",
                        $added: ["vpaddq ", vector!("\\k, "), vector!("\\k, "), place!("rdi", "0")],
                        $loaded: ["vmovaps ", vector!("8, "), place!("rdi", "0")]
                    )],
                    [], []
                ),
                Op::Write => body!(
                    $vector x $bytes, "512", more [], ahead ["rdi"],
                    [every!($eights, "0,1,2,3,4,5,6,7": ["vmovaps ", place!("rdi", "8"), ", ", vector!("8")])],
                    [concat!("vpaddq ", vector!("8, "), vector!("8, "), vector!("9"))], []
                ),
                // A line asked for is one that a store past the caches does not need, and would have to get rid of.
                Op::WriteNt => body!(
                    $vector x $bytes, "512", more [], ahead [],
                    [every!($eights, "0,1,2,3,4,5,6,7": ["vmovntps ", place!("rdi", "8"), ", ", vector!("8")])],
                    [concat!("vpaddq ", vector!("8, "), vector!("8, "), vector!("9"))], ["sfence"]
                ),
                Op::Copy => body!(
                    $vector x $bytes, "512", more ["rsi"], ahead ["rdi", "rsi"],
                    [every!($eights, "0,1,2,3,4,5,6,7": [
                        "vmovaps ", vector!("\\k, "), place!("rsi", "8"), "\n",
                        "vmovaps ", place!("rdi", "8"), ", ", vector!("\\k")
                    ])],
                    [], []
                ),
                Op::Triad => body!(
                    $vector x $bytes, "512", more ["rsi", "rdx"], ahead ["rdi", "rsi", "rdx"],
                    [every!($eights, "0,1,2,3,4,5,6,7": [
                        "vmulpd ", vector!("\\k, "), vector!("8, "), place!("rdx", "8"), "\n",
                        "vaddpd ", vector!("\\k, "), vector!("\\k, "), place!("rsi", "8"), "\n",
                        "vmovaps ", place!("rdi", "8"), ", ", vector!("\\k")
                    ])],
                    [concat!("vaddpd ", vector!("8, "), vector!("8, "), vector!("9"))], []
                ),
                $(Op::$op => body!(
                    $vector x $bytes, $step, more [], ahead ["rdi"],
                    [every!(
                        $groups,
                        $read: ["vpaddq ", vector!("\\k, "), vector!("\\k, "), place!("rdi", $length)],
                        $written: ["vmovaps ", place!("rdi", $length), ", ", vector!("8")]
                    )],
                    [concat!("vpaddq ", vector!("8, "), vector!("8, "), vector!("9"))], []
                ),)+
            }
        }
    };
}

loops!(
    avx512, "zmm" x 64, "0", [Read "0", "1,2,3,4,5,6,7"],
    [Mix1 "512": "0,1,2,3" of "2", "0", "1"],
    [Mix2 "576": "0,1,2" of "3", "0,1", "2"],
    [Mix3 "512": "0,1" of "4", "0,1,2", "3"]
);

loops!(
    avx2, "ymm" x 32, "0,1", [Read "0,1", "2,3,4,5,6,7,8,9,10,11,12,13,14,15"],
    [Mix1 "512": "0,1,2,3" of "4", "0,1", "2,3"],
    [Mix2 "576": "0,1,2" of "6", "0,1,2,3", "4,5"],
    [Mix3 "512": "0,1" of "8", "0,1,2,3,4,5", "6,7"]
);
