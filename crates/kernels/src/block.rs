//! Page-aligned memory for kernels that stream, with a say in the kind of page.

use std::io;

use charz_data::PageKind;

pub use crate::sys::mmap::Line;

use crate::kernel::Error;
pub use crate::kernel::Region;
use crate::sys::mmap::{Mapping, SharedMapping};

/// Memory of one worker: whole lines, page-aligned, every page touched first by the thread that made it.
#[derive(Debug)]
pub struct Block(Mapping);

impl Block {
    /// Maps `lines` lines, and writes `word(i)` into each word `i` from the calling thread, so the memory lies where that
    /// thread is seated.
    ///
    /// # Errors
    /// [`Error::Unavailable`] for 0 lines; [`Error::Refused`] when the operating system has no such memory.
    pub fn filled(lines: usize, pages: PageKind, word: impl Fn(u64) -> u64) -> Result<Block, Error> {
        let mut block = Block::zeroed(lines, pages)?;
        for (line, first) in block.lines_mut().iter_mut().zip((0..).step_by(Line::WORDS)) {
            *line = Line(std::array::from_fn(|i| word(first + i as u64)));
        }
        Ok(block)
    }

    /// The same with zeros in all words, which the operating system writes.
    pub fn zeroed(lines: usize, pages: PageKind) -> Result<Block, Error> {
        if lines == 0 {
            return Err(Error::Unavailable("a block of 0 bytes measures nothing: ask for at least 64".into()));
        }
        let refused = |error| Error::Refused(refusal(lines, pages, &error));
        let mut mapping = Mapping::new(lines, pages).map_err(refused)?;
        mapping.populate().map_err(refused)?;
        Ok(Block(mapping))
    }

    pub fn lines(&self) -> &[Line] {
        self.0.lines()
    }

    pub fn lines_mut(&mut self) -> &mut [Line] {
        self.0.lines_mut()
    }

    /// The same memory as words that threads share.
    pub(crate) fn shared(self) -> SharedMapping {
        SharedMapping::new(self.0)
    }

    pub fn region(&self) -> Region {
        let lines = self.lines();
        Region { start: lines.as_ptr().addr(), bytes: size_of_val(lines) }
    }
}

/// Why the operating system gave no memory, and what to do about it.
fn refusal(lines: usize, pages: PageKind, error: &io::Error) -> String {
    let bytes = (lines as u64).saturating_mul(Line::BYTES as u64);
    let count = bytes.div_ceil(pages.bytes() as u64);
    let reserve = |size: &str, kib: u32| {
        format!(
            "no {count} free pages of {size} for each worker ({error}): reserve them as root with `echo N > \
             /sys/kernel/mm/hugepages/hugepages-{kib}kB/nr_hugepages`, or ask for other pages"
        )
    };
    match pages {
        PageKind::Huge2M => reserve("2 MiB", 2 << 10),
        PageKind::Huge1G => reserve("1 GiB", 1 << 20),
        PageKind::Transparent if error.raw_os_error() == Some(libc::EINVAL) => {
            "this kernel was built without transparent huge pages: ask for 4k pages".into()
        }
        PageKind::Small | PageKind::Transparent => {
            format!("no memory for a block of {bytes} bytes ({error}): ask for a smaller size or fewer workers")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_filled_and_apart() {
        for pages in [PageKind::Small, PageKind::Transparent] {
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
        assert!(matches!(Block::filled(0, PageKind::Small, |i| i), Err(Error::Unavailable(_))));
        for lines in [1 << 50, usize::MAX] {
            assert!(matches!(Block::filled(lines, PageKind::Transparent, |i| i), Err(Error::Refused(_))));
        }
    }
}
