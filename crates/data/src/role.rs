//! The role of a kernel for readers of reports.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::words::words;

/// Text of a kernel's source code, or out of a report.
pub type Text = Cow<'static, str>;

/// What analyses and figures take a kernel for. They ask for roles, never for names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// Shown, and compared with nothing.
    #[default]
    Other,
    /// An empty run: the floor below which times mean nothing.
    Floor,
    /// Dependent arithmetic on integers or floating-point numbers.
    Arithmetic(Numbers),
    /// Independent arithmetic on the widest vectors.
    VectorArithmetic(Numbers),
    /// Bandwidth of one pass over a block in memory.
    MemoryBandwidth(Access),
    /// Bandwidth of repeated passes over a block in any level.
    LevelBandwidth(Access),
    /// Latency of dependent loads.
    Latency(Chase),
    /// Latency of one worker while the others load the memory.
    LoadedLatency,
    /// Words per cycle that workers read from a cache.
    CacheWords(Words),
    /// Latency of a cache line between two strands.
    LineTransfer(LineOperation),
    /// A list of items under a lock; pools of this role differ in the lock only.
    LockPool {
        /// Whether others are compared with it: the lock that programs take if the standard library's is too slow.
        is_reference: bool,
        /// The pool without the backoff that this one adds.
        backs_off: Option<Text>,
    },
    /// A lock that workers take and give back; kernels of this role differ in the lock only.
    Lock {
        /// As that of a pool under a lock.
        is_reference: bool,
        /// The lock without the backoff that this one adds.
        backs_off: Option<Text>,
    },
    /// A pool of items without a lock.
    LockFreePool {
        /// The pool without the backoff that this one adds.
        backs_off: Option<Text>,
    },
    /// A program whose activities double from size to size, on a runtime that has threads for them.
    Growing,
    /// A product of matrices.
    Product(Multiplier),
    /// A counter that all workers add to.
    Counter(CounterKind),
    /// Additions to a word, one after the other.
    Adding(WordOwner),
    /// Workers that pass a token around.
    Ring,
    /// A barrier, at which workers meet.
    Barrier,
    /// Something handed to another thread.
    HandOff(Waiter),
    /// A page that all workers have read is unmapped.
    Unmapping,
    /// Arithmetic under a CPU quota, which stops all threads of a control group.
    Quota,
    /// A program of the user's.
    Program,
}

impl Role {
    /// The pool or lock without the backoff that this one adds.
    pub fn backs_off(&self) -> Option<&str> {
        match self {
            Role::LockPool { backs_off, .. } | Role::Lock { backs_off, .. } | Role::LockFreePool { backs_off } => {
                backs_off.as_deref()
            }
            _ => None,
        }
    }

    /// Text that this role names another kernel by.
    pub const fn backoff_of(name: &'static str) -> Option<Text> {
        Some(Cow::Borrowed(name))
    }
}

/// The numbers that arithmetic is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Numbers {
    /// Integers of 64 bits.
    Integer,
    /// Doubles.
    Float,
}

/// What a pass does with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Access {
    /// Reads all of it.
    Read,
    /// Overwrites all of it.
    Write,
    /// Copies one half to the other.
    Copy,
}

/// The order of dependent loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Chase {
    /// Random: the hardware cannot read ahead.
    Random,
    /// Ascending by a stride.
    Stride,
    /// Several random chains at once.
    Chains,
    /// Several random chains at once, with arithmetic between the loads of each.
    Computing,
}

/// Whose words a worker reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Words {
    /// Its own, again and again.
    Steady,
    /// Words that it has just written.
    OwnWritten,
    /// Words that another worker has just written.
    OtherWritten,
}

/// The operation by which a cache line is transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LineOperation {
    /// Loads of one worker's line by the other, and a store to its own.
    ReadWrite,
    /// Compare-and-swap.
    Cas,
    /// Fetch-and-add.
    FetchAdd,
    /// Swap.
    Exchange,
}

words! { LineOperation { ReadWrite = "read-write", Cas = "cas", FetchAdd = "fetch-add", Exchange = "exchange" } }

/// How a limited resource is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CounterKind {
    /// One counter under a mutex.
    Mutex,
    /// One counter, by an atomic addition.
    Atomic,
    /// A shard per strand.
    Sharded,
}

/// Whose word is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WordOwner {
    /// One word for all workers.
    All,
    /// Each worker has its own, two of them on the two lines of 128 bytes.
    NextLine,
    /// Each worker has its own, 128 bytes or more from all others.
    Apart,
    /// Each worker has its own, in memory of its own.
    Worker,
}

/// Who multiplies matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Multiplier {
    /// A recursion whose activities take threads from a runtime.
    Recursion,
    /// A library that programs use.
    Library,
}

/// How the thread waits that something is handed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Waiter {
    /// It sleeps; the call that wakes it does nothing else.
    AsleepBare,
    /// It sleeps.
    Asleep,
    /// It spins.
    Spinning,
}
