//! What a kernel declares about itself. A report includes the cards of its kernels, so it needs no other file to be understood.

use std::borrow::Cow;
use std::{iter, mem};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::params::{PROCESS, Param, Params, Process, TIMEOUT};
pub use crate::role::{
    Access, Chase, CounterKind, LineOperation, Multiplier, Numbers, Role, Text, Waiter, WordOwner, Words,
};
use crate::words::words;

/// What a kernel declares: declared as `Card::new(…)` and what differs from its defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Card {
    /// The name on the command line and in reports, e.g. `mem-read`.
    pub name: Text,
    /// Its family.
    pub family: Family,
    /// What a worker does, in one sentence.
    pub about: Text,
    /// What is counted.
    pub metric: Metric,
    /// What analyses and figures take the kernel for.
    pub role: Role,
    /// What the hardware moves or does in addition to what is counted, e.g. write-allocate reads; empty if nothing.
    pub uncounted_traffic: Text,
    /// The parameters that the kernel obeys.
    #[serde(serialize_with = "write_params", deserialize_with = "read_params")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub params: Cow<'static, [&'static Param]>,
    /// The two times that its workers stamp of some or all operations; null where they stamp none.
    pub times: Option<Times>,
    /// Paper and section, or manual, that the kernel comes from.
    pub source: Text,
    /// Whether a sweep without flags runs it.
    pub by_default: bool,
    /// An upper bound on the operations or bytes that a worker can do per cycle of its core's clock. A higher number is a
    /// mistake, such as a loop that was optimised away. Null where nothing is counted.
    pub max_per_cycle: Option<f64>,
    /// Whether workers contend for cache lines: a run may take many times longer than its work alone and be hard to stop
    /// from outside, so it gets a deadline and a bounded number of workers.
    pub contends: bool,
    /// How many workers it takes.
    pub workers: WorkerCount,
    /// Whether the measured work includes work of the operating system: workers sleep and are woken, threads start and end.
    /// Time off the strand and page faults are then no disturbance.
    pub blocks_in_kernel: bool,
    /// Whether workers take their work from one pool, each as much as it gets to: one that finds it empty is done before the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shares_work: bool,
}

/// By how much [`Card::max_per_cycle`] exceeds what any known processor can do, but where that follows from the latency by which the clock
/// is known: that is an estimate from below, and processors grow wider. A loop that does nothing exceeds the bound by far more.
pub const ROOM: f64 = 2.0;

/// Sets a field in a constant, where nothing can be dropped.
const fn put<T>(field: &mut T, value: T) {
    mem::forget(mem::replace(field, value));
}

impl Card {
    /// A card of a kernel of any number of workers that obeys no parameter.
    pub const fn new(name: &'static str, family: Family, about: &'static str, metric: Metric) -> Card {
        Card {
            name: Cow::Borrowed(name),
            family,
            about: Cow::Borrowed(about),
            metric,
            role: Role::Other,
            uncounted_traffic: Cow::Borrowed(""),
            params: Cow::Borrowed(&[]),
            times: None,
            source: Cow::Borrowed(""),
            by_default: false,
            max_per_cycle: None,
            contends: false,
            workers: WorkerCount::Any,
            blocks_in_kernel: false,
            shares_work: false,
        }
    }

    /// The card of a relative that differs in these.
    pub const fn named(mut self, name: &'static str, about: &'static str) -> Card {
        put(&mut self.name, Cow::Borrowed(name));
        put(&mut self.about, Cow::Borrowed(about));
        self
    }

    /// What the first and the second of the times are that the workers stamp.
    pub const fn times(mut self, first: &'static str, second: &'static str) -> Card {
        put(
            &mut self.times,
            Some(Times { first: Cow::Borrowed(first), second: Cow::Borrowed(second), on_one_strand: false }),
        );
        self
    }

    /// Each of the times begins and ends on one strand.
    pub const fn on_one_strand(mut self) -> Card {
        if let Some(times) = &mut self.times {
            times.on_one_strand = true;
        }
        self
    }

    /// A sweep without flags runs it.
    pub const fn by_default(mut self) -> Card {
        self.by_default = true;
        self
    }

    /// Whether the parameter changes what it does.
    pub fn obeys(&self, param: &Param) -> bool {
        self.params.contains(&param)
    }

    /// Whether its times are stamped by the clock of the laps. A clock under test either reports its own steps or is timed by the counter
    /// behind fences.
    pub fn is_stamped(&self) -> bool {
        self.family != Family::Timer || self.obeys(&TIMEOUT)
    }

    /// Whether workers share lines or memory, so what they do depends on how far their CPUs are apart.
    pub fn depends_on_distance(&self) -> bool {
        match self.family {
            Family::Memory | Family::Sync | Family::Workload | Family::Program => true,
            Family::Compute | Family::Timer | Family::Floor => false,
        }
    }

    /// Whether its number is about what happens between CPUs, so each worker needs one of its own. Others that wait for each other may take
    /// turns on a CPU.
    pub fn needs_a_cpu_each(&self) -> bool {
        match self.role {
            Role::LineTransfer(_) | Role::LoadedLatency => true,
            _ => self.family != Family::Sync && matches!(self.workers, WorkerCount::Exactly(2..)),
        }
    }

    /// The numbers of workers that a warm process runs, one after the other, before a cell with so many; none in a fresh one.
    pub fn runs_before(&self, params: &Params, workers: usize) -> impl Iterator<Item = usize> + use<> {
        let is_warm = params.process == Process::Warm && self.obeys(&PROCESS);
        let first = usize::try_from(params.mix.threads()).unwrap_or(usize::MAX).max(1);
        let doubled = iter::successors(Some(first), |workers| workers.checked_mul(2));
        doubled.take_while(move |before| is_warm && *before < workers)
    }
}

/// Functions that set a field of their name, in constants.
macro_rules! sets {
    ($($field:ident: $type:ty => $value:expr;)*) => {
        impl Card {$(
            #[doc = concat!("The same with another value of [`", stringify!($field), "`](#structfield.", stringify!($field), ").")]
            pub const fn $field(mut self, $field: $type) -> Card {
                put(&mut self.$field, $value);
                self
            }
        )*}
    };
}

sets! {
    metric: Metric => metric;
    role: Role => role;
    uncounted_traffic: &'static str => Cow::Borrowed(uncounted_traffic);
    params: &'static [&'static Param] => Cow::Borrowed(params);
    source: &'static str => Cow::Borrowed(source);
    max_per_cycle: f64 => Some(max_per_cycle);
    contends: bool => contends;
    workers: WorkerCount => workers;
    blocks_in_kernel: bool => blocks_in_kernel;
    shares_work: bool => shares_work;
}

fn write_params<S: Serializer>(params: &[&'static Param], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(params.iter().map(|param| param.stored))
}

/// Parameters that this program does not know cannot be shown, and are left out.
fn read_params<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'static, [&'static Param]>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    Ok(names.iter().filter_map(|name| Param::find(name)).collect())
}

/// A family of kernels, for `--family`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Arithmetic on registers.
    Compute,
    /// Latency and bandwidth of caches and memory, and the cost of pages.
    Memory,
    /// Workers that contend for a cache line or wait for each other.
    Sync,
    /// Clocks and timeouts.
    Timer,
    /// Whole programs, whose threads share the work of one problem.
    Workload,
    /// Programs of the user's.
    Program,
    /// The cost of the apparatus itself.
    Floor,
}

impl Family {
    /// The relative half width of the interval that is wanted: what the family's kernels reach on a quiet machine in a few
    /// invocations.
    pub fn precision(self) -> f64 {
        match self {
            Family::Compute => 0.01,
            Family::Memory | Family::Program => 0.02,
            Family::Sync | Family::Timer | Family::Workload => 0.05,
            // Nothing is concluded from the floor but its order of magnitude.
            Family::Floor => 1.0,
        }
    }
}

// In the order of the catalog.
words! { Family {
    Compute = "compute", Memory = "memory", Sync = "sync", Timer = "timer", Workload = "workload", Program = "program",
    Floor = "floor",
} }

/// What a kernel's number is, with the meaning of one counted item.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Operations per second.
    Ops(Text),
    /// Bytes per second that the program asked for.
    Bytes(Text),
    /// The time from one operation to the next over all workers, each of which begins when another ends.
    SerialTime(Text),
    /// The time of an operation of one worker, over the workers that do any.
    OpTime(Text),
    /// The time of a GiB that the operating system hands out, locks or takes back.
    TimePerGib(Text),
    /// The median of the second of [`Card::times`].
    SecondTime,
    /// The duration of a run: nothing is counted.
    Duration,
    /// A number that a user's program reports, or what follows from its time; where it comes from.
    Reported(Text),
}

impl Metric {
    /// [`Metric::Ops`], with what one operation is.
    pub const fn ops(one: &'static str) -> Metric {
        Metric::Ops(Cow::Borrowed(one))
    }

    /// [`Metric::Bytes`], with which bytes are counted.
    pub const fn bytes(which: &'static str) -> Metric {
        Metric::Bytes(Cow::Borrowed(which))
    }

    /// [`Metric::SerialTime`], with what one operation is.
    pub const fn serial_time(one: &'static str) -> Metric {
        Metric::SerialTime(Cow::Borrowed(one))
    }

    /// [`Metric::OpTime`], with what one operation is.
    pub const fn op_time(one: &'static str) -> Metric {
        Metric::OpTime(Cow::Borrowed(one))
    }

    /// [`Metric::TimePerGib`], with which bytes are counted.
    pub const fn time_per_gib(which: &'static str) -> Metric {
        Metric::TimePerGib(Cow::Borrowed(which))
    }
}

/// What the two times are that workers stamp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Times {
    /// The first time: from what to what.
    pub first: Text,
    /// The second time, of which most analyses speak.
    pub second: Text,
    /// Whether each of them begins and ends on one strand, so it involves no other strand's clock.
    #[serde(default)]
    pub on_one_strand: bool,
}

/// How many workers a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkerCount {
    /// One or more.
    Any,
    /// So many and no other number.
    Exactly(usize),
    /// So many or more.
    AtLeast(usize),
}

impl WorkerCount {
    /// Whether it takes so many.
    pub const fn allows(self, workers: usize) -> bool {
        match self {
            WorkerCount::Any => workers > 0,
            WorkerCount::Exactly(number) => workers == number,
            WorkerCount::AtLeast(number) => workers >= number,
        }
    }

    /// The smallest number that it takes.
    pub const fn min(self) -> usize {
        match self {
            WorkerCount::Any => 1,
            WorkerCount::Exactly(number) | WorkerCount::AtLeast(number) => number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{CHAINS, SIZE};

    #[test]
    fn a_card_comes_back_from_a_report() {
        let card = Card::new("x", Family::Sync, "does something", Metric::SecondTime)
            .params(&[&SIZE, &CHAINS])
            .times("from here", "to there")
            .role(Role::LockFreePool { backs_off: Role::backoff_of("y") })
            .max_per_cycle(ROOM * 2.0)
            .workers(WorkerCount::AtLeast(2));
        let mut json = serde_json::to_value(&card).unwrap();
        assert_eq!(json["params"], serde_json::json!(["size", "chains"]));
        assert_eq!(serde_json::from_value::<Card>(json.clone()).unwrap(), card);
        json["params"] = serde_json::json!(["size", "flux", "chains"]);
        assert_eq!(serde_json::from_value::<Card>(json).unwrap(), card, "an unknown parameter is left out");
    }

    #[test]
    fn a_warm_process_goes_upward() {
        let card = |params| Card::new("x", Family::Workload, "", Metric::Duration).params(params);
        let before = |card: &Card, process, mix: &str, workers| {
            let params = Params { process, mix: mix.parse().unwrap(), ..Params::SMALL };
            card.runs_before(&params, workers).collect::<Vec<_>>()
        };
        let (warm, obeys) = (Process::Warm, card(&[&PROCESS]));
        assert_eq!(before(&obeys, warm, "alone", 1), [0; 0]);
        assert_eq!(before(&obeys, warm, "alone", 16), [1, 2, 4, 8]);
        assert_eq!(before(&obeys, warm, "alone", 5), [1, 2, 4]);
        assert_eq!(before(&obeys, warm, "2:1:0", 12), [3, 6]);
        assert_eq!(before(&obeys, Process::Fresh, "alone", 16), [0; 0]);
        assert_eq!(before(&card(&[&SIZE]), warm, "alone", 16), [0; 0]);
    }

    #[test]
    fn worker_counts() {
        for (count, allowed) in [
            (WorkerCount::Any, [1, 2, 3].as_slice()),
            (WorkerCount::Exactly(2), &[2]),
            (WorkerCount::AtLeast(2), &[2, 3]),
        ] {
            assert_eq!((0..4).filter(|workers| count.allows(*workers)).collect::<Vec<_>>(), allowed);
            assert_eq!(count.min(), allowed[0]);
        }
    }
}
