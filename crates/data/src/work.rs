//! Units of work, as types: operations and bytes cannot be mixed.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// A number of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ops(pub u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// What was done: operations and bytes that the card counts; the other stays 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Operations, as the card counts them.
    pub ops: Ops,
    /// Bytes moved, by the kernel's own convention.
    pub bytes: Bytes,
}

impl Work {
    /// So many operations.
    pub const fn ops(n: u64) -> Self {
        Work { ops: Ops(n), bytes: Bytes(0) }
    }

    /// So many bytes.
    pub const fn bytes(n: u64) -> Self {
        Work { ops: Ops(0), bytes: Bytes(n) }
    }
}

impl Add for Work {
    type Output = Work;
    fn add(self, other: Work) -> Work {
        Work { ops: Ops(self.ops.0 + other.ops.0), bytes: Bytes(self.bytes.0 + other.bytes.0) }
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        *self = *self + other;
    }
}

impl Sum for Work {
    fn sum<I: Iterator<Item = Work>>(iter: I) -> Work {
        iter.fold(Work::default(), Add::add)
    }
}
