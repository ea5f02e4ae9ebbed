//! Loops compiled for the widest vectors that the processor has, of the same source.

/// What [`with_wide_vectors`] compiles for here.
pub fn name() -> &'static str {
    if has_avx2() { "avx2" } else { "as compiled" }
}

fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx2")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// Runs `loops` with AVX2 if the processor has it: whatever is inlined into it is compiled so. A function that is not marked
/// `inline(always)` is compiled for any processor of the architecture.
#[inline]
pub fn with_wide_vectors<R>(loops: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has AVX2.
        return unsafe { with_avx2(loops) };
    }
    loops()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<R>(loops: impl FnOnce() -> R) -> R {
    loops()
}
