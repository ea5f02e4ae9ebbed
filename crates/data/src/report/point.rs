//! What a cell has for itself of the parameters that a sweep varies.

use crate::{MemoryPolicy, PageKind};
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
    pub memory: Option<MemoryPolicy>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_point_is_the_plans() {
        assert_eq!(serde_json::from_str::<Point>("{}").unwrap(), Point::default());
        assert!(serde_json::from_str::<Point>(r#"{"pages": "8k"}"#).is_err());
    }
}
