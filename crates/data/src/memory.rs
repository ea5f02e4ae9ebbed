//! Pages and NUMA nodes that a block's memory is asked to come from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::words::{one_of, words};
use crate::work::Bytes;

/// The kind of pages asked for. The pages obtained are evidence of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PageKind {
    /// Base pages only (4 KiB on most machines, 16 or 64 KiB on some): transparent huge pages are forbidden.
    #[serde(rename = "4k")]
    Small,
    /// Transparent huge pages wherever the operating system has them: aligned and advised.
    #[default]
    #[serde(rename = "thp")]
    Transparent,
    /// Reserved pages of 2 MiB.
    #[serde(rename = "2m")]
    Huge2M,
    /// Reserved pages of 1 GiB.
    #[serde(rename = "1g")]
    Huge1G,
}

impl PageKind {
    /// A block of this kind is rounded up to a multiple of so many bytes. Small pages are taken as 4 KiB; where they are
    /// larger, the operating system rounds up.
    pub const fn bytes(self) -> usize {
        match self {
            PageKind::Small => 4 << 10,
            PageKind::Transparent | PageKind::Huge2M => 2 << 20,
            PageKind::Huge1G => 1 << 30,
        }
    }

    /// The memory that a block of `size_bytes` takes from the machine.
    pub const fn footprint(self, size_bytes: u64) -> Bytes {
        let page = self.bytes() as u64;
        Bytes(size_bytes.div_ceil(page).saturating_mul(page))
    }
}

// From small to large.
words! { PageKind { Small = "4k", Transparent = "thp", Huge2M = "2m", Huge1G = "1g" } }

/// Where the memory of workers is put.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemoryPolicy {
    /// On each worker's own NUMA node, by first touch.
    #[default]
    Local,
    /// On the first worker's NUMA node, as if one thread had touched it for all.
    First,
    /// On the NUMA node with memory that is farthest from the worker.
    Remote,
    /// Page by page on all NUMA nodes.
    Interleaved,
    /// On the NUMA node with this OS id.
    Node(u32),
}

impl MemoryPolicy {
    /// The words of the command line, with the meaning of each.
    pub const WORDS: [(&'static str, &'static str); 5] = [
        ("local", "on each thread's own NUMA node, by first touch"),
        ("first", "on the first thread's NUMA node"),
        ("remote", "on the NUMA node farthest from the thread"),
        ("interleaved", "page by page on all NUMA nodes"),
        ("node:N", "on the NUMA node with this OS id"),
    ];
}

impl fmt::Display for MemoryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryPolicy::Local => f.pad("local"),
            MemoryPolicy::First => f.pad("first"),
            MemoryPolicy::Remote => f.pad("remote"),
            MemoryPolicy::Interleaved => f.pad("interleaved"),
            MemoryPolicy::Node(id) => f.pad(&format!("node:{id}")),
        }
    }
}

impl FromStr for MemoryPolicy {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        if let Some(id) = word.strip_prefix("node:") {
            let digits = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
            let id = id.parse().ok().filter(|_| digits);
            return id.map(MemoryPolicy::Node).ok_or_else(|| format!("{word:?} has no OS id of a NUMA node"));
        }
        use MemoryPolicy::{First, Interleaved, Local, Remote};
        one_of(word, [("local", Local), ("first", First), ("remote", Remote), ("interleaved", Interleaved)])
            .map_err(|error| format!("{error}, or node:N"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_page_kinds() {
        for kind in PageKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        for word in ["", "4K", " 4k", "2M", "huge", "4096", "\u{1b}[31m"] {
            let error = word.parse::<PageKind>().unwrap_err();
            assert!(!error.contains('\u{1b}') && error.contains("4k, thp, 2m or 1g"), "{error}");
        }
    }

    #[test]
    fn words_name_memory_policies() {
        use MemoryPolicy::{First, Interleaved, Local, Node, Remote};
        for policy in [Local, First, Remote, Interleaved, Node(0), Node(u32::MAX)] {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
        for word in ["", "far", "node:", "node:x", "node:+1", "node:4294967296"] {
            assert!(word.parse::<MemoryPolicy>().is_err(), "{word}");
        }
    }

    #[test]
    fn footprints_are_whole_pages() {
        assert_eq!(PageKind::Small.footprint(1), Bytes(4096));
        assert_eq!(PageKind::Transparent.footprint(2 << 20), Bytes(2 << 20));
        assert_eq!(PageKind::Huge1G.footprint((1 << 30) + 1), Bytes(2 << 30));
        assert_eq!(PageKind::Huge1G.footprint(u64::MAX), Bytes(u64::MAX));
    }
}
