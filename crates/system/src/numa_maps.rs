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
    #[must_use]
    pub fn page_bytes(&self) -> Option<u64> {
        let kib = self.numbers().find(|(name, _)| *name == "kernelpagesize_kB");
        kib.map_or(4, |(_, kib)| kib).checked_mul(1024)
    }

    /// The NUMA nodes that it has pages on, and the bytes of these. `None` if they are more than can be counted.
    #[must_use]
    pub fn bytes_by_node(&self) -> Option<Vec<(u32, u64)>> {
        let page_bytes = self.page_bytes()?;
        let nodes = self.numbers().filter_map(|(name, pages)| Some((name.strip_prefix('N')?.parse().ok()?, pages)));
        nodes.map(|(node, pages)| Some((node, pages.checked_mul(page_bytes)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::mappings;

    #[test]
    fn pages_count_by_their_size() {
        let text = "7f0 default file=/a=b anon=3 dirty=3 N0=1 N2=2 kernelpagesize_kB=4\n8f0 bind:0 huge anon=2 N2=2 kernelpagesize_kB=2048\n\
                    9f0 default N1=3\na00 default N0=18446744073709551615\nx\nx y\n";
        let found: Vec<_> = mappings(text).map(|mapping| (mapping.start, mapping.bytes_by_node())).collect();
        let expected = [
            (0x7f0, Some(vec![(0, 4096), (2, 8192)])),
            (0x8f0, Some(vec![(2, 4 << 20)])),
            (0x9f0, Some(vec![(1, 3 * 4096)])),
            (0xa00, None),
        ];
        assert_eq!(found, expected);
    }
}
