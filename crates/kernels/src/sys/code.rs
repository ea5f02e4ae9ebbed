//! Code that does nothing but lie somewhere.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use assembly::{charz_kernels_nothing as nothing, charz_kernels_wander as wander};

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod assembly {
    #[cfg(target_arch = "x86_64")]
    macro_rules! jump {
        () => {
            "jmp 2f"
        };
    }

    #[cfg(target_arch = "aarch64")]
    macro_rules! jump {
        () => {
            "b 2f"
        };
    }

    std::arch::global_asm!(
        ".pushsection .text.charz_kernels_code, \"ax\", @progbits",
        // Only other parts of this crate call them.
        ".globl charz_kernels_wander, charz_kernels_nothing",
        ".hidden charz_kernels_wander, charz_kernels_nothing",
        ".p2align 12",
        "charz_kernels_wander:",
        ".rept 16384",
        jump!(),
        ".p2align 3",
        "2:",
        ".endr",
        "charz_kernels_nothing:",
        "ret",
        ".p2align 7",
        ".popsection",
    );

    // They jump forward to their end and return from there, and touch neither registers nor memory.
    unsafe extern "C" {
        /// Runs through 128 KiB of code, twice the largest first-level cache of instructions of x86 and Neoverse cores, by a
        /// jump in every 8 bytes, more than any branch target buffer has room for (some 12,000 in Intel's Golden Cove). Where
        /// only the cache is full of other code, Zen 4 still fetches ahead what it remembers the next calls to be, and nothing
        /// is missed.
        pub safe fn charz_kernels_wander();

        /// Returns. It shares its line with no code that is worth having.
        pub safe fn charz_kernels_nothing();
    }
}

/// As above, on architectures without an implementation.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub extern "C" fn wander() {}

/// As above.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub extern "C" fn nothing() {}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;

    #[test]
    fn it_is_as_long_as_it_says() {
        let (start, end): (extern "C" fn(), extern "C" fn()) = (wander, nothing);
        start();
        end();
        assert_eq!(end as usize - start as usize, 128 << 10);
    }
}
