//! Page-aligned memory for kernels that stream, with a say in the kind of page.

use std::fmt;
use std::io;
use std::str::FromStr;

pub use crate::sys::mmap::Line;

use crate::kernel::{Error, Region};
use crate::sys::mmap::{Mapping, SharedMapping};
use crate::work::Bytes;

/// The kind of pages asked for. What was obtained is for the harness to look up, from [`Region`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum PagePolicy {
    /// Base pages only (4 KiB on most machines): transparent huge pages are forbidden.
    Small,
    /// Transparent huge pages wherever the kernel has them: aligned and advised.
    #[default]
    Transparent,
    /// Reserved pages of 2 MiB.
    Huge2M,
    /// Reserved pages of 1 GiB.
    Huge1G,
}

impl PagePolicy {
    /// Every policy, from small to large.
    pub const ALL: [PagePolicy; 4] =
        [PagePolicy::Small, PagePolicy::Transparent, PagePolicy::Huge2M, PagePolicy::Huge1G];

    /// The word used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            PagePolicy::Small => "4k",
            PagePolicy::Transparent => "thp",
            PagePolicy::Huge2M => "2m",
            PagePolicy::Huge1G => "1g",
        }
    }

    /// The bytes to which a block of this policy is rounded up: what it really takes from the machine.
    ///
    /// Small pages are taken as 4 KiB; where they are larger, the kernel rounds up by itself.
    pub const fn bytes(self) -> usize {
        match self {
            PagePolicy::Small => 4 << 10,
            PagePolicy::Transparent | PagePolicy::Huge2M => 2 << 20,
            PagePolicy::Huge1G => 1 << 30,
        }
    }

    /// The memory that a block of `size` takes from the machine.
    pub const fn footprint(self, size: Bytes) -> Bytes {
        let page = self.bytes() as u64;
        Bytes(size.0.div_ceil(page).saturating_mul(page))
    }
}

impl fmt::Display for PagePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word that names no kind of page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a kind of page: use 4k, thp, 2m or 1g")]
pub struct UnknownPagePolicy(pub String);

impl FromStr for PagePolicy {
    type Err = UnknownPagePolicy;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        PagePolicy::ALL.into_iter().find(|p| p.name() == word).ok_or_else(|| UnknownPagePolicy(word.to_owned()))
    }
}

/// Memory of one worker: whole lines, page-aligned, every page touched first by the thread that made it.
#[derive(Debug)]
pub struct Block(Mapping);

impl Block {
    /// Maps `lines` lines, and writes `word(i)` into each word `i` from the calling thread, so that the memory lies
    /// where that thread is seated.
    ///
    /// # Errors
    /// [`Error::Unavailable`] for 0 lines; [`Error::Refused`] when the operating system has no such memory.
    pub fn filled(lines: usize, pages: PagePolicy, word: impl Fn(u64) -> u64) -> Result<Block, Error> {
        let mut block = Block::zeroed(lines, pages)?;
        for (line, first) in block.lines_mut().iter_mut().zip((0..).step_by(Line::WORDS)) {
            *line = Line(std::array::from_fn(|i| word(first + i as u64)));
        }
        Ok(block)
    }

    /// The same with zeros in all words, which the operating system writes.
    ///
    /// # Errors
    /// As for [`Block::filled`].
    pub fn zeroed(lines: usize, pages: PagePolicy) -> Result<Block, Error> {
        if lines == 0 {
            return Err(Error::Unavailable("a block of 0 bytes measures nothing: ask for at least 64".into()));
        }
        let refused = |error| Error::Refused(refusal(lines, pages, &error));
        let mut mapping = Mapping::new(lines, pages).map_err(refused)?;
        mapping.populate().map_err(refused)?;
        Ok(Block(mapping))
    }

    /// Its lines.
    pub fn lines(&self) -> &[Line] {
        self.0.lines()
    }

    /// Its lines, for writing.
    pub fn lines_mut(&mut self) -> &mut [Line] {
        self.0.lines_mut()
    }

    /// The same memory as words that threads share.
    pub(crate) fn shared(self) -> SharedMapping {
        SharedMapping::new(self.0)
    }

    /// Where it lies.
    pub fn region(&self) -> Region {
        let lines = self.lines();
        Region { start: lines.as_ptr().addr(), bytes: size_of_val(lines) }
    }
}

/// Why the operating system gave no memory, and what to do about it.
fn refusal(lines: usize, pages: PagePolicy, error: &io::Error) -> String {
    let bytes = (lines as u64).saturating_mul(Line::BYTES as u64);
    let count = bytes.div_ceil(pages.bytes() as u64);
    let reserve = |size: &str, kib: u32| {
        format!(
            "no {count} free pages of {size} for each worker ({error}): reserve them as root with `echo N > \
             /sys/kernel/mm/hugepages/hugepages-{kib}kB/nr_hugepages`, or ask for other pages"
        )
    };
    match pages {
        PagePolicy::Huge2M => reserve("2 MiB", 2 << 10),
        PagePolicy::Huge1G => reserve("1 GiB", 1 << 20),
        PagePolicy::Transparent if error.raw_os_error() == Some(libc::EINVAL) => {
            "this kernel was built without transparent huge pages: ask for 4k pages".into()
        }
        PagePolicy::Small | PagePolicy::Transparent => {
            format!("no memory for a block of {bytes} bytes ({error}): ask for a smaller size or fewer workers")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: Option<PagePolicy>) {
        assert_eq!(word.parse().ok(), expected);
        if let Some(policy) = expected {
            assert_eq!(policy.to_string(), word);
        }
    }

    #[test]
    fn words_name_policies() {
        check("4k", Some(PagePolicy::Small));
        check("thp", Some(PagePolicy::Transparent));
        check("2m", Some(PagePolicy::Huge2M));
        check("1g", Some(PagePolicy::Huge1G));
        for word in ["", "4K", " 4k", "4k ", "2M", "huge", "4096", "\u{1b}[31m"] {
            check(word, None);
        }
        let error = "\u{1b}[31m".parse::<PagePolicy>().unwrap_err().to_string();
        assert!(!error.contains('\u{1b}') && error.contains("use 4k, thp, 2m or 1g"), "{error}");
    }

    #[test]
    fn footprints_are_whole_pages() {
        assert_eq!(PagePolicy::Small.footprint(Bytes(1)), Bytes(4096));
        assert_eq!(PagePolicy::Transparent.footprint(Bytes(2 << 20)), Bytes(2 << 20));
        assert_eq!(PagePolicy::Huge1G.footprint(Bytes((1 << 30) + 1)), Bytes(2 << 30));
        assert_eq!(PagePolicy::Huge1G.footprint(Bytes(u64::MAX)), Bytes(u64::MAX));
    }

    #[test]
    fn blocks_are_aligned_filled_and_apart() {
        for pages in [PagePolicy::Small, PagePolicy::Transparent] {
            let blocks: Vec<_> = (0..3).map(|k| Block::filled(1000, pages, |i| i + k).unwrap()).collect();
            for (k, block) in (0..).zip(&blocks) {
                assert_eq!(block.region().start % pages.bytes(), 0);
                assert_eq!(block.region().bytes, 64_000);
                assert!(block.lines().iter().flat_map(|line| line.0).eq((0..8000).map(|i| i + k)), "{pages}");
            }
        }
    }

    #[test]
    fn blocks_of_nothing_and_of_everything_are_refused() {
        assert!(matches!(Block::filled(0, PagePolicy::Small, |i| i), Err(Error::Unavailable(_))));
        for lines in [1 << 50, usize::MAX] {
            assert!(matches!(Block::filled(lines, PagePolicy::Transparent, |i| i), Err(Error::Refused(_))));
        }
    }
}
