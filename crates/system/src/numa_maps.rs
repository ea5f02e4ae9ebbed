//! `/proc/PID/numa_maps`: a line per mapping of a process, as in numa(7).

/// A line: `7f00 default anon=3 dirty=3 N0=1 N2=2 kernelpagesize_kB=4`.
#[derive(Clone, Copy, Debug)]
pub struct Mapping<'a> {
    /// The address of its first byte.
    pub start: usize,
    words: &'a str,
}

/// The mappings in the text of such a file.
pub fn mappings(text: &str) -> impl Iterator<Item = Mapping<'_>> {
    text.lines().filter_map(|line| {
        let (start, words) = line.split_once(' ')?;
        Some(Mapping { start: usize::from_str_radix(start, 16).ok()?, words })
    })
}

impl Mapping<'_> {
    fn numbers(&self) -> impl Iterator<Item = (&str, u64)> {
        self.words
            .split_whitespace()
            .filter_map(|word| word.split_once('='))
            .filter_map(|(name, number)| Some((name, number.parse().ok()?)))
    }

    /// The size of its pages in bytes; 4 KiB where the kernel reports none.
    pub fn page_bytes(&self) -> Option<u64> {
        let kib = self.numbers().find(|(name, _)| *name == "kernelpagesize_kB");
        kib.map_or(4, |(_, kib)| kib).checked_mul(1024)
    }

    /// The NUMA nodes that it has pages on, and the bytes of these. `None` if they are more than can be counted.
    pub fn bytes_by_node(&self) -> Option<Vec<(u32, u64)>> {
        let page_bytes = self.page_bytes()?;
        let nodes = self.numbers().filter_map(|(name, pages)| Some((name.strip_prefix('N')?.parse().ok()?, pages)));
        nodes.map(|(node, pages)| Some((node, pages.checked_mul(page_bytes)?))).collect()
    }
}
