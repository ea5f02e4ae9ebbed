//! Anonymous memory mappings with a kind of page.

use std::io;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::LazyLock;
use std::sync::atomic::AtomicU64;

use charz_data::PageKind;
use charz_system::file;

/// The 64 bytes that a cache moves at once on almost every machine that runs Linux, as words.
///
/// On a machine with longer lines it is still the step in which blocks are measured out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Line(pub [u64; Line::WORDS]);

impl Line {
    pub const BYTES: usize = 64;
    pub const WORDS: usize = Line::BYTES / 8;
}

/// Anonymous, zeroed memory of this process alone that is unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<Line>,
    lines: usize,
    /// What was mapped and is to be unmapped; at least the lines.
    bytes: usize,
}

// SAFETY: the mapping is owned: no other value refers to it, and memory has no thread of its own.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps at least `lines` lines of untouched private memory, which starts at a page of the kind asked for.
    ///
    /// # Errors
    /// The error of `mmap` or `madvise`. `lines` of 0 and sizes beyond the address space are `EINVAL` and `ENOMEM`, as
    /// `mmap` itself says it.
    pub fn new(lines: usize, pages: PageKind) -> io::Result<Mapping> {
        Mapping::of(lines, pages, libc::MAP_PRIVATE)
    }

    /// The same of memory that a forked process would share, which the kernel keeps as a file without a name.
    pub fn shared(lines: usize, pages: PageKind) -> io::Result<Mapping> {
        Mapping::of(lines, pages, libc::MAP_SHARED)
    }

    /// The same of private memory by one call of `mmap` and no other: the pages are of whichever kind the system gives.
    pub fn plain(lines: usize) -> io::Result<Mapping> {
        let bytes = lines.checked_mul(Line::BYTES).filter(|&bytes| bytes <= isize::MAX as usize);
        let bytes = bytes.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        Ok(Mapping { start: map(bytes, libc::MAP_PRIVATE)?.cast(), lines, bytes })
    }

    fn of(lines: usize, pages: PageKind, sharing: libc::c_int) -> io::Result<Mapping> {
        let page = pages.bytes();
        let out_of_memory = || io::Error::from_raw_os_error(libc::ENOMEM);
        let bytes = lines.checked_mul(Line::BYTES).and_then(|n| n.checked_next_multiple_of(page));
        let bytes = bytes.filter(|&n| n <= isize::MAX as usize - page).ok_or_else(out_of_memory)?;
        let start = match pages {
            PageKind::Small => map(bytes, sharing)?,
            PageKind::Transparent => map_aligned(bytes, alignment(page, bytes, *HUGE_PAGE), sharing)?,
            PageKind::Huge2M => map(bytes, sharing | libc::MAP_HUGETLB | libc::MAP_HUGE_2MB)?,
            PageKind::Huge1G => map(bytes, sharing | libc::MAP_HUGETLB | libc::MAP_HUGE_1GB)?,
        };
        let mapping = Mapping { start: start.cast(), lines, bytes };
        match pages {
            // A kernel built without transparent huge pages knows no such advice, and has nothing to forbid.
            PageKind::Small => mapping.advise_if_known(libc::MADV_NOHUGEPAGE)?,
            PageKind::Transparent => mapping.advise(libc::MADV_HUGEPAGE)?,
            PageKind::Huge2M | PageKind::Huge1G => {}
        }
        Ok(mapping)
    }

    /// Gives every page of the mapping its memory, near the processor that the calling thread runs on.
    ///
    /// # Errors
    /// The error of `madvise`, e.g. where a control group has no more huge pages: a plain write would end the process then.
    pub fn populate(&mut self) -> io::Result<()> {
        // Linux before 5.14 does not know the advice; the first write to each page does the same there.
        self.advise_if_known(libc::MADV_POPULATE_WRITE)
    }

    /// Divides it into pieces of so many bytes, the last of which may be shorter; each is unmapped by itself.
    ///
    /// `bytes` is to be a multiple of the size of its pages, since the kernel unmaps no part of one.
    pub fn parts(self, bytes: usize) -> Vec<Mapping> {
        assert!(bytes > 0 && bytes.is_multiple_of(base_page()), "{bytes} bytes are no whole pages");
        let whole = ManuallyDrop::new(self);
        let part = |offset: usize| {
            let bytes = bytes.min(whole.bytes - offset);
            let lines = whole.lines.saturating_sub(offset / Line::BYTES).min(bytes / Line::BYTES);
            // SAFETY: the offset is within the mapping, since the steps end before its end does.
            let start = unsafe { whole.start.byte_add(offset) };
            Mapping { start, lines, bytes }
        };
        (0..whole.bytes).step_by(bytes).map(part).collect()
    }

    /// Has the kernel keep its memory from being taken away; what has none yet is given some.
    ///
    /// # Errors
    /// The error of `mlock`: `ENOMEM`, `EPERM` or `EAGAIN` where the process may lock no more.
    pub fn lock(&self) -> io::Result<()> {
        // SAFETY: the range is our own mapping, and locking changes nothing that is read from it.
        match unsafe { libc::mlock(self.start.as_ptr().cast(), self.bytes) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub fn lines(&self) -> &[Line] {
        // SAFETY: `start` is page-aligned and `lines` lines from it are mapped for reading until `self` is dropped.
        // SAFETY: any bytes are a valid `Line`, and anonymous memory starts as zeros.
        // SAFETY: only `lines_mut` writes, and it borrows `self` exclusively.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.lines) }
    }

    pub fn lines_mut(&mut self) -> &mut [Line] {
        // SAFETY: as for `lines`; the mapping is writable, and `self` is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.lines) }
    }

    /// The same where a kernel may not know the advice.
    fn advise_if_known(&self, advice: libc::c_int) -> io::Result<()> {
        self.advise(advice)
            .or_else(|error| if error.raw_os_error() == Some(libc::EINVAL) { Ok(()) } else { Err(error) })
    }

    fn advise(&self, advice: libc::c_int) -> io::Result<()> {
        // SAFETY: the range is our own mapping, and none of the advices used changes what is read from it.
        match unsafe { libc::madvise(self.start.as_ptr().cast(), self.bytes, advice) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping owns the range, and every reference into it has borrowed the mapping.
        unsafe { unmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// A mapping that is writable only during a write.
pub struct Guarded(Mapping);

impl Guarded {
    /// From now on the memory is reached by [`Guarded::flip`] only.
    pub fn new(mapping: Mapping) -> Guarded {
        Guarded(mapping)
    }

    /// Forbids writing to the memory, allows it again, and writes into its first word; returns what stood there.
    ///
    /// # Errors
    /// The error of `mprotect`; nothing was written then.
    pub fn flip(&mut self, word: u64) -> io::Result<u64> {
        for access in [libc::PROT_READ, libc::PROT_READ | libc::PROT_WRITE] {
            // SAFETY: the range is our own mapping, and no reference into it outlives this function.
            if unsafe { libc::mprotect(self.0.start.as_ptr().cast(), self.0.bytes, access) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        let line = self.0.lines_mut().first_mut();
        line.map(|line| std::mem::replace(&mut line.0[0], word))
            .ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))
    }
}

/// A mapping whose words threads share.
#[derive(Debug)]
pub struct SharedMapping(Mapping);

// SAFETY: the only way to the memory is as atomics, which any number of threads may use at once.
unsafe impl Sync for SharedMapping {}

impl SharedMapping {
    /// From now on the memory is reached by [`SharedMapping::words`] only.
    pub fn new(mapping: Mapping) -> SharedMapping {
        SharedMapping(mapping)
    }

    pub fn words(&self) -> &[AtomicU64] {
        let Mapping { start, lines, .. } = &self.0;
        // SAFETY: `start` is page-aligned and `lines` lines from it, each of whole words without gaps, are mapped for reading and
        // writing until `self` is dropped.
        // SAFETY: an atomic word has the size and the alignment of a word, and any bytes are valid for it.
        // SAFETY: no other reference into the mapping exists: it came by value, and this is the only function that makes any.
        unsafe { slice::from_raw_parts(start.as_ptr().cast(), lines * Line::WORDS) }
    }
}

/// Bytes of the smallest pages that this system has.
pub fn base_page() -> usize {
    // SAFETY: the call takes a number and changes nothing.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).expect("every system says how large its pages are")
}

/// Bytes of a transparent huge page; 0 where the system has none.
pub static HUGE_PAGE: LazyLock<usize> = LazyLock::new(|| file::number(file::HUGE_PAGE).unwrap_or(0));

/// What a mapping of `bytes` bytes is to start at a multiple of: the huge page of this system where one fits. It is larger than 2 MiB
/// where base pages are larger than 4 KiB.
fn alignment(page: usize, bytes: usize, huge: usize) -> usize {
    if huge <= bytes { page.max(huge) } else { page }
}

/// Maps `bytes` bytes anywhere; the flags say whether they are shared. The caller owns them.
pub(super) fn map(bytes: usize, flags: libc::c_int) -> io::Result<NonNull<u8>> {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_ANONYMOUS | flags);
    // SAFETY: a new anonymous mapping where the kernel likes touches no memory that exists.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, flags, -1, 0) };
    match NonNull::new(start) {
        Some(start) if start.as_ptr() != libc::MAP_FAILED => Ok(start.cast()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Maps `bytes` bytes at a multiple of `page`, which ordinary mappings need not be: maps one page more and unmaps
/// the excess at both ends. The caller owns them.
fn map_aligned(bytes: usize, page: usize, flags: libc::c_int) -> io::Result<NonNull<u8>> {
    let base = map(bytes + page, flags)?.as_ptr();
    let head = base.align_offset(page);
    let start = base.wrapping_add(head);
    if head > 0 {
        // SAFETY: it was mapped just now, and is what lies before the start.
        unsafe { unmap(base, head) };
    }
    if head < page {
        // SAFETY: it was mapped just now, and is what lies behind the end.
        unsafe { unmap(start.wrapping_add(bytes), page - head) };
    }
    Ok(NonNull::new(start).expect("an address inside a mapping is not null"))
}

/// Unmaps a range.
///
/// # Safety
/// [`map`] mapped it, the caller owns it, and nothing refers to it any more.
pub(super) unsafe fn unmap(start: *mut u8, bytes: usize) {
    // SAFETY: the caller vouches for the range.
    let result = unsafe { libc::munmap(start.cast(), bytes) };
    debug_assert_eq!(result, 0, "munmap refused a range of our own");
}

#[cfg(test)]
mod tests {
    use super::alignment;

    #[test]
    fn blocks_start_at_a_huge_page_if_one_fits() {
        const MIB: usize = 1 << 20;
        for (bytes, huge, expected) in [(256, 0, 2), (256, 2, 2), (456, 512, 2), (512, 512, 512), (256, 32, 32)] {
            assert_eq!(alignment(2 * MIB, bytes * MIB, huge * MIB), expected * MIB, "{bytes} on {huge}");
        }
    }
}
