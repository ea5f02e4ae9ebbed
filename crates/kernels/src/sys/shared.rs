//! Memory that a process and the processes that it forks see alike.

use std::mem;
use std::ops::Deref;
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU32, AtomicU64};

use crate::kernel::Error;
use crate::sys::futex::Scope;
use crate::sys::mmap;

/// Values in a shared, anonymous mapping: what a forked process writes there, this one reads, unless only threads of this one are to.
/// They stay where they are until the mapping goes, which unmaps them without further ado.
pub struct Shared<T: Sync> {
    start: NonNull<T>,
    len: usize,
}

// SAFETY: the values are `Sync`, hence may be referred to from any thread, and none is dropped or moved out.
unsafe impl<T: Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Shared<T> {}

/// What memory that was never written has values of.
///
/// # Safety
/// Bytes of 0 are a value.
pub unsafe trait Zero: Sync {}

// SAFETY: it is a number in memory, whatever its bytes.
unsafe impl Zero for AtomicU32 {}
// SAFETY: as above.
unsafe impl Zero for AtomicU64 {}

impl<T: Zero> Shared<T> {
    /// So many zeros, whose pages are given by whichever thread or process writes them first.
    pub fn zeros(len: usize, scope: Scope) -> Result<Self, Error> {
        Shared::map(len, scope)
    }
}

impl<T: Sync> Shared<T> {
    /// So many values, each as `make` has it.
    pub fn new(len: usize, mut make: impl FnMut() -> T) -> Result<Self, Error> {
        let shared = Shared::map(len, Scope::Machine)?;
        let start: NonNull<T> = shared.start;
        for i in 0..len {
            let value = make();
            // SAFETY: there is room for `len` values in the mapping.
            let place = unsafe { start.add(i) };
            // SAFETY: the place is within the mapping, aligned since a mapping starts at a page, and not used by other code.
            unsafe { place.write(value) };
        }
        Ok(shared)
    }

    /// Memory of zeros, which is yet to be written unless zeros are values.
    fn map(len: usize, scope: Scope) -> Result<Self, Error> {
        const { assert!(!mem::needs_drop::<T>() && align_of::<T>() <= 4096 && size_of::<T>() > 0) }
        let refused = |why: String| Error::Refused(format!("no memory to share for {len} values: {why}"));
        let bytes = len.checked_mul(size_of::<T>()).filter(|&bytes| bytes > 0 && bytes <= isize::MAX as usize);
        let bytes = bytes.ok_or_else(|| refused("their size is out of range".into()))?;
        let sharing = match scope {
            Scope::Process => libc::MAP_PRIVATE,
            Scope::Machine => libc::MAP_SHARED,
        };
        let start = mmap::map(bytes, sharing).map_err(|error| refused(error.to_string()))?.cast();
        Ok(Shared { start, len })
    }
}

impl<T: Sync> Deref for Shared<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `len` values are there, written or zeros, and stay until `self` is dropped.
        // SAFETY: a value is changed only through its own interior mutability, for which it is `Sync`.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Sync> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: the range is this one's own, and every reference into it has borrowed this.
        unsafe { mmap::unmap(self.start.as_ptr().cast(), self.len * size_of::<T>()) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn values_are_as_they_were_made_and_can_be_written() {
        let mut numbers = 0..;
        let shared = Shared::new(1000, || AtomicU64::new(numbers.next().expect("there is always one"))).unwrap();
        shared[7].store(70, Ordering::Relaxed);
        let sum: u64 = shared.iter().map(|value| value.load(Ordering::Relaxed)).sum();
        assert_eq!((shared.len(), sum), (1000, 499_500 + 63));
    }

    #[test]
    fn more_than_there_is_is_refused() {
        for len in [0, usize::MAX, usize::MAX / 16] {
            let refused = Shared::new(len, || AtomicU64::new(0));
            assert!(matches!(refused, Err(Error::Refused(_))), "{len}");
        }
    }
}
