//! Loops compiled for the widest vectors that the processor has, of the same source.

/// Runs `loops` with AVX2 if the processor has it: whatever is inlined into it is compiled so. A function that is not marked
/// `inline(always)` is compiled for any processor of the architecture.
#[inline]
pub fn with_wide_vectors<R>(loops: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { with_avx2(loops) };
    }
    loops()
}

/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn with_avx2<R>(loops: impl FnOnce() -> R) -> R {
    loops()
}
