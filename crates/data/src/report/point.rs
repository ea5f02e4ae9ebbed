//! What a cell has for itself of the parameters that a sweep varies.

use crate::mix::Mix;
use crate::params::{self, Class, PARAMS, Param, Params, Process};
use crate::{MemoryPolicy, PageKind};
use serde::{Deserialize, Serialize};

/// A field per parameter that a sweep may vary, with the line of the table that it belongs to.
macro_rules! point {
    ($($(#[$about:meta])* $field:ident: $kind:ty = $param:ident,)*) => {
        /// The parameters of a cell where the sweep varies them for its kernel. What is absent is as the plan says, or nothing that
        /// the kernel obeys.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(default)]
        pub struct Point {
            $($(#[$about])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<$kind>,)*
        }

        impl Point {
            /// The parameters of the cell: those of the plan, but for what the point has.
            pub fn params(&self, plan: &Params) -> Params {
                Params { $($field: self.$field.unwrap_or(plan.$field),)* ..*plan }
            }

            /// With the value that `values` has of this parameter.
            pub fn with(mut self, param: &Param, values: &Params) -> Self {
                $(if *param == params::$param {
                    self.$field = Some(values.$field);
                })*
                self
            }

            /// Whether it has a value of this parameter.
            pub fn has(&self, param: &Param) -> bool {
                $((self.$field.is_some() && *param == params::$param))||*
            }
        }
    };
}

point! {
    /// Size of a worker's private block.
    size_bytes: u64 = SIZE,
    /// The kind of pages asked for.
    pages: PageKind = PAGES,
    /// Bytes from one place of a block that a load may read to the next.
    stride_bytes: u64 = STRIDE,
    /// Chains of loads that a worker follows at once.
    chains: u64 = CHAINS,
    /// Arithmetic operations between a load and the next of its chain.
    ops_per_load: u64 = OPS,
    /// Steps of about a nanosecond that workers which load the memory make between two portions.
    delay: u64 = DELAY,
    /// Work inside a critical section, in steps of about a nanosecond.
    inside_steps: u64 = INSIDE,
    /// Work between critical sections, in such steps.
    outside_steps: u64 = OUTSIDE,
    /// Where workers' memory was asked to be; absent is on each worker's own NUMA node, by its own touch.
    memory: MemoryPolicy = MEMORY,
    /// The class of an NPB problem.
    class: Class = CLASS,
    /// Rows and columns of the matrices that are multiplied.
    order: u64 = ORDER,
    /// Levels of the recursion that multiplies them.
    depth: u64 = DEPTH,
    /// Threads that do units of each kind; absent is that all do the kernel's own.
    mix: Mix = MIX,
    /// What the process has done before the cell; absent is nothing.
    process: Process = PROCESS,
    /// Locks that sections are divided among.
    stripes: u64 = STRIPES,
    /// Sections of a hundred that write.
    writes: u64 = WRITES,
    /// Threads of each process, where workers are processes.
    per_process: u64 = PER_PROCESS,
}

impl Point {
    /// Whether the sweep varies nothing.
    pub fn is_empty(&self) -> bool {
        *self == Point::default()
    }

    /// The parameters of a cell whose blocks may have another size than its point.
    pub fn params_with(&self, plan: &Params, block_bytes: Option<u64>) -> Params {
        let own = self.params(plan);
        Params { size_bytes: block_bytes.unwrap_or(own.size_bytes), ..own }
    }

    /// The parameters that it has, in the order of the table.
    pub fn varied(self) -> impl Iterator<Item = &'static Param> {
        PARAMS.iter().copied().filter(move |param| self.has(param))
    }

    /// What of it the table says: a number with its unit, a word, a key; `None` where it has no such parameter.
    pub fn tell(&self, param: &Param, how: fn(&Params) -> String) -> Option<String> {
        self.has(param).then(|| how(&self.params(&Params::SMALL)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_that_a_sweep_varies_has_its_field() {
        let values = serde_json::to_value(Params::default()).unwrap();
        let keys = values.as_object().unwrap();
        let all: Point = serde_json::from_value(values.clone()).unwrap();
        let varied: Vec<&str> = all.varied().map(|param| param.key).collect();
        let expected: Vec<&str> = PARAMS.iter().filter(|param| param.vary).map(|param| param.key).collect();
        assert_eq!((varied, keys.len()), (expected, PARAMS.len()));
        assert_eq!(all.params(&Params::SMALL).size_bytes, Params::default().size_bytes);
    }

    #[test]
    fn a_point_overrules_what_it_has() {
        let plan = Params { size_bytes: 1 << 20, chains: 3, ..Params::SMALL };
        assert_eq!(Point::default().params(&plan), plan);
        let point = Point { size_bytes: Some(64), pages: Some(PageKind::Huge2M), ..Point::default() };
        assert_eq!(point.params(&plan), Params { size_bytes: 64, pages: PageKind::Huge2M, ..plan });
    }

    #[test]
    fn an_empty_point_is_the_plans() {
        assert_eq!(serde_json::from_str::<Point>("{}").unwrap(), Point::default());
        assert!(serde_json::from_str::<Point>(r#"{"pages": "8k"}"#).is_err());
    }
}
