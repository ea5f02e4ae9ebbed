//! What a cell has for itself of the parameters that a sweep varies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parameters of a cell where the sweep varies them for its kernel. What is null is as the plan says, or nothing that the
/// kernel obeys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Point {
    /// Size of a worker's private block.
    pub size_bytes: Option<u64>,
    /// The kind of pages asked for.
    pub pages: Option<PageKind>,
    /// Bytes from one place of a block that a load may read to the next.
    pub stride_bytes: Option<u64>,
    /// Chains of loads that a worker follows at once.
    pub chains: Option<u64>,
    /// Steps of about a nanosecond that workers which load the memory make between two portions.
    pub delay: Option<u64>,
    /// Where workers' memory was asked to be; null is on each worker's own NUMA node, by its own touch.
    pub memory: Option<MemoryHome>,
}

/// Where workers' memory is asked to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryHome {
    /// On each worker's own NUMA node.
    Local,
    /// On the first worker's NUMA node.
    First,
    /// On the NUMA node that is farthest from the worker.
    Remote,
    /// Page by page on all NUMA nodes.
    Interleaved,
    /// On the NUMA node with this OS id.
    Node(u32),
}

/// A kind of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum PageKind {
    /// Base pages only.
    #[serde(rename = "4k")]
    Small,
    /// Transparent huge pages.
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
    /// The word on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            PageKind::Small => "4k",
            PageKind::Transparent => "thp",
            PageKind::Huge2M => "2m",
            PageKind::Huge1G => "1g",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_pages_are_those_that_are_written() {
        for pages in [PageKind::Small, PageKind::Transparent, PageKind::Huge2M, PageKind::Huge1G] {
            assert_eq!(serde_json::to_value(pages).unwrap(), pages.name());
        }
        assert_eq!(serde_json::from_str::<Point>("{}").unwrap(), Point::default());
        assert!(serde_json::from_str::<Point>(r#"{"pages": "8k"}"#).is_err());
    }
}
