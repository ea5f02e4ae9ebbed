//! A cell by what it is to be, before a machine has it.

use serde::{Deserialize, Serialize};

use crate::params::Process;
use crate::report::{Cell, MemoryHome, PageKind, Plan, Point};

/// A cell as a document specifies it. What is `None` is as the sweep has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CellSpec {
    /// The kernel; in a document also several joined by `+`, whose numbers are added.
    #[serde(default)]
    pub kernel: String,
    /// The mapping, in its canonical spelling.
    #[serde(default = "auto")]
    pub mapping: String,
    /// The number of workers, once it is known for a machine.
    #[serde(skip)]
    pub workers: u64,
    /// Bytes of a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The level of caches that holds the blocks, `L1`, `L2`, … or `memory`, in place of a size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The pages of blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageKind>,
    /// Bytes from one place of a block that a load may read to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stride: Option<u64>,
    /// Chains of loads that a thread follows at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chains: Option<u64>,
    /// Arithmetic operations between a load and the next of its chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops_per_load: Option<u64>,
    /// Where blocks lie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryHome>,
    /// Rows of the matrices that are multiplied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<u64>,
    /// Levels of the recursion that multiplies them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u64>,
    /// What its process has done before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// Locks that sections are divided among.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripes: Option<u64>,
    /// Sections of a hundred that write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
}

fn auto() -> String {
    "auto".into()
}

impl CellSpec {
    /// The kernels whose numbers are added, one as a rule.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.kernel.split('+')
    }

    /// The cells with this number of workers, one per kernel.
    pub fn cells(&self, workers: u64) -> impl Iterator<Item = CellSpec> {
        self.kernels().map(move |kernel| CellSpec { kernel: kernel.to_owned(), workers, ..self.clone() })
    }

    /// What a sweep varies of it.
    pub fn point(&self) -> Point {
        Point {
            size_bytes: self.size,
            pages: self.pages,
            stride_bytes: self.stride,
            chains: self.chains,
            ops_per_load: self.ops_per_load,
            memory: self.memory,
            order: self.order,
            depth: self.depth,
            process: self.process,
            stripes: self.stripes,
            writes: self.writes,
            ..Point::default()
        }
    }

    /// Whether a cell of a report is specified by this, by its own point or by the plan.
    pub fn describes(&self, cell: &Cell, plan: &Plan) -> bool {
        let own = cell.point.params(&plan.params);
        cell.kernel == self.kernel
            && cell.mapping == self.mapping
            && cell.workers == self.workers
            && self.size.is_none_or(|size| size == own.size_bytes)
            && self.level.as_ref().is_none_or(|level| cell.level.as_ref() == Some(level))
            && self.pages.unwrap_or(plan.params.pages) == own.pages
            && self.stride.is_none_or(|stride| stride == own.stride_bytes)
            && self.chains.is_none_or(|chains| chains == own.chains)
            && self.ops_per_load.is_none_or(|ops| ops == own.ops_per_load)
            && self.memory.map_or(own.memory == plan.params.memory, |memory| memory == own.memory)
            && self.order.is_none_or(|order| order == own.order)
            && self.depth.is_none_or(|depth| depth == own.depth)
            && self.process.is_none_or(|process| process == own.process)
            && self.stripes.is_none_or(|stripes| stripes == own.stripes)
            && self.writes.is_none_or(|writes| writes == own.writes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryPolicy;
    use crate::report::fixtures::{cell, report};
    use crate::report::{Point, Unit};

    #[test]
    fn what_a_specification_leaves_out_is_as_the_plan_has_it() {
        let spec: CellSpec = serde_json::from_str(r#"{"kernel": "chase-random", "mapping": "dumb"}"#).unwrap();
        let plan = report(Vec::new()).plan;
        let spec = CellSpec { workers: 1, ..spec };
        let cell = cell("chase-random", 1, Unit::NanosecondsPerOp, 1.0).under("dumb");
        let described = |point| spec.describes(&cell.clone().at(point), &plan);
        assert!(described(Point::default()));
        let far = Some(MemoryPolicy::Remote).filter(|memory| *memory != plan.params.memory);
        let other = PageKind::ALL.iter().copied().find(|pages| *pages != plan.params.pages);
        assert!(!described(Point { memory: far, ..Point::default() }));
        assert!(!described(Point { pages: other, ..Point::default() }));
    }
}
