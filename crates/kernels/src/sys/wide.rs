//! Words of 128 bits that are exchanged as one.

use std::cell::UnsafeCell;

/// A word of 128 bits. That there is one says that the processor can exchange it.
#[repr(transparent)]
pub struct Wide(UnsafeCell<u128>);

// SAFETY: the value is read and written by one instruction that the processor makes atomic, and by nothing else.
unsafe impl Sync for Wide {}

pub fn available() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("cmpxchg16b")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

impl Wide {
    /// A word that holds `value`, where the processor can exchange it.
    pub fn new(value: u128) -> Option<Wide> {
        available().then_some(Wide(UnsafeCell::new(value)))
    }

    /// Puts `new` there if it holds `old`. Returns what it held.
    ///
    /// As strong as sequential consistency, since the instruction has no weaker form.
    #[inline]
    pub fn compare_exchange(&self, old: u128, new: u128) -> u128 {
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: the processor has the instruction, or there would be no such word.
            unsafe { exchange(self.0.get(), old, new) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            unreachable!(
                "no word of 128 bits, {old:#x} or {new:#x}, is made where it cannot be exchanged: {:?}",
                self.0
            )
        }
    }
}

/// `lock cmpxchg16b`. As assembly: wherever the compiler's own form is inlined into code for processors without the
/// instruction, it becomes a call of a library that is not linked.
///
/// # Safety
/// The processor has the instruction. The pointer is to a word that is accessed in no other way.
#[cfg(target_arch = "x86_64")]
#[inline]
unsafe fn exchange(word: *mut u128, old: u128, new: u128) -> u128 {
    let (low, high): (u64, u64);
    // SAFETY: the caller vouches for the processor, and for the word, which is aligned to 16 bytes as its type is.
    // SAFETY: the compiler keeps rbx for itself, and gets it back.
    unsafe {
        std::arch::asm!(
            "xchg rbx, rsi",
            "lock cmpxchg16b [rdi]",
            "mov rbx, rsi",
            in("rdi") word,
            inout("rsi") new as u64 => _,
            in("rcx") (new >> 64) as u64,
            inout("rax") old as u64 => low,
            inout("rdx") (old >> 64) as u64 => high,
            options(nostack),
        );
    }
    u128::from(high) << 64 | u128::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_exchanged_whole_or_not_at_all() {
        const OLD: u128 = (7 << 64) | 9;
        let Some(word) = Wide::new(OLD) else { return };
        for wrong in [7 << 64, 9, 0, u128::MAX] {
            assert_eq!(word.compare_exchange(wrong, 1), OLD, "{wrong:#x}");
        }
        assert_eq!(word.compare_exchange(OLD, u128::MAX), OLD);
        assert_eq!(word.compare_exchange(0, 0), u128::MAX);
    }
}
