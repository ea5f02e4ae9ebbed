//! What was seen around the repetitions, and what is wrong with a number.

use std::collections::BTreeMap;

use crate::checks::Severity;
use crate::histogram::Histogram;
use serde::{Deserialize, Serialize};

/// A reason to distrust a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mark {
    /// The check's code, e.g. `V01`; `charz explain V01` describes it.
    pub code: String,
    /// How much it weighs.
    pub severity: Severity,
    /// What was found, in words.
    pub reason: String,
}

/// What one invocation saw, besides what its laps say. What could not be read is null, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// The pages that the blocks got; absent for kernels without blocks or where unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Pages>,
    /// The NUMA nodes that the pages lie on; absent for kernels without blocks or where unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Nodes>,
    /// The frequency of the workers' cores around the repetitions; absent where it cannot be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<Frequency>,
    /// What the machine was busy with while the repetitions were made; absent where the system does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<Busy>,
    /// Circumstances that were counted while the iterations were made: by the code of its check, how much each was in the quantity of
    /// that check. What the system does not count is absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seen: BTreeMap<String, f64>,
    /// What else used the seats' CPUs while this run and those shortly before it were made, the most first: what used a twentieth of a CPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub culprits: Vec<Culprit>,
    /// The nanoseconds that these were looked for; absent of a run after which charz did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked_ns: Option<u64>,
    /// Nanoseconds that a cache line takes from a worker's CPU to another's, the mean before and after the repetitions; absent where workers
    /// share neither lines nor memory, or a CPU, and where it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apart_ns: Option<f64>,
    /// What of the machine was not after the repetitions what it had been before them, or not before them what it had been before the
    /// first run of the configuration since the sweep was begun or resumed: the setting's name, a colon, and how it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// How late a thread that no CPU was asked for woke up while it slept until fixed times, in an iteration behind those that count, beside the
    /// workers; of the empty kernel beside nothing. Absent of kernels whose workers do not contend, and of short iterations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_ups: Option<Histogram>,
    /// Why hardware counters did not count although they were asked for; absent where they did, or were not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_counters: Option<String>,
    /// What was seen of the user's program; absent of all other kernels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramSeen>,
}

/// What used CPUs besides the measuring process, or took them away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Culprit {
    /// What it is.
    #[serde(default)]
    pub kind: CulpritKind,
    /// Its name: that of a process, with ` and its children` where most of the time was that of short processes that it started; the line of
    /// the system's table that rose most where it is interrupts.
    pub name: String,
    /// Its process id; of several processes, that of the one that used most; null unless it is a process.
    pub pid: Option<u32>,
    /// Its user; null where it had ended, and unless it is a process.
    pub uid: Option<u32>,
    /// How many other processes of that name and user are counted in.
    #[serde(default)]
    pub others: u64,
    /// The processor time that it used, or took away.
    pub cpu_ns: u64,
    /// In so many nanoseconds.
    pub time_ns: u64,
}

impl Culprit {
    /// What uses less of a CPU, in CPUs, is not worth naming.
    pub const LEAST: f64 = 0.05;

    /// Behind the name of one whose children, of which it waited for those that ended, used more than it did.
    pub const WITH_CHILDREN: &str = " and its children";

    /// Its name without its children, which used more in one look and less in another.
    pub fn bare_name(&self) -> &str {
        self.name.strip_suffix(Culprit::WITH_CHILDREN).unwrap_or(&self.name)
    }
}

/// The kinds of [`Culprit`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CulpritKind {
    /// Another process.
    #[default]
    Process,
    /// Interrupts and their second halves, on the seats' CPUs.
    Interrupts,
    /// The control group's own quota.
    Quota,
    /// The hypervisor, which ran something else.
    Host,
    /// Something that is not listed here: a process of another container, that of another user under hidepid, or processes too short to be seen.
    Unseen,
}

/// What was seen of a program's runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramSeen {
    /// The most threads that a repetition had, those of all copies and of the processes that they started together.
    pub threads: u64,
    /// How many of them worked at the same time at most, by their processor time; null or absent where it was not counted for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working: Option<u64>,
    /// How many CPUs the copies of a repetition had work for on average, whether they got them or not, the most; null or absent where it
    /// was not counted. Of programs that are counted in whole, what they used, where that was more than was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted_cpus: Option<f64>,
    /// How they were found and put on their seats: `ptrace`, `poll` (some ran unseated for milliseconds) or `none`.
    pub followed: String,
    /// How often a thread of the program stood still for charz: at its beginning, its end and its signals where ptrace follows it, and where it
    /// asked which CPUs it may use; of all repetitions and copies. Null or absent where nothing follows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<u64>,
    /// What one such stop costs a program on this machine, in nanoseconds, as it was measured; null or absent where there were so few that it
    /// does not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_ns: Option<u64>,
    /// For how long at most the copies of these repetitions waited for charz to read their output, the longest of each, in all: nanoseconds in which
    /// no thread ran, and a pipe may have been full. Null or absent where none of them printed more than 1 MiB, and where it was not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_wait_ns: Option<u64>,
    /// Processes that outlived the program that had started them, and were ended.
    pub left: u64,
    /// The time of the first run of the configuration, which was made before all others to predict how long runs take: nanoseconds without those
    /// in which a thread of it waited for a CPU. In the first invocation after it only; null or absent elsewhere, and where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_ns: Option<u64>,
    /// How many threads worked at the same time in that run, where it was followed and these are not; null or absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_working: Option<u64>,
    /// The very first run of the program, where that was one of another configuration; null or absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_elsewhere: Option<FirstElsewhere>,
    /// The time of the last run before these of the same program with one thread, under the same mapping; null or absent where there was none,
    /// and of numbers that do not come from the time of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone_ns: Option<u64>,
    /// The processor time of that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone_cpu_ns: Option<u64>,
}

/// The very first run of a program, which was one of another configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstElsewhere {
    /// Its time, as that of [`ProgramSeen::first_ns`].
    pub ns: u64,
    /// Its number of threads.
    pub threads: u64,
    /// The median time of the later runs of that configuration; null or absent as long as there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later_ns: Option<u64>,
}

impl Evidence {
    /// The name of the kernel's clock source among [`Evidence::changes`].
    pub const CLOCK_SOURCE: &str = "clock source";

    /// The name of the strands that the kernel has.
    pub const ONLINE_STRANDS: &str = "online strands";

    /// The name of those that a process may use.
    pub const ALLOWED_STRANDS: &str = "allowed strands";

    /// The names of all settings that may change.
    pub const SETTINGS: [&str; 10] = [
        Self::ONLINE_STRANDS,
        Self::ALLOWED_STRANDS,
        "allowed nodes",
        "CPU quota",
        "frequency governor",
        "turbo",
        "no_turbo",
        Self::CLOCK_SOURCE,
        "transparent huge pages",
        "NUMA balancing",
    ];

    /// Whether a change is that of strands, which came or went.
    pub fn is_of_strands(change: &str) -> bool {
        [Self::ONLINE_STRANDS, Self::ALLOWED_STRANDS].map(Some).contains(&change.split(':').next())
    }

    /// Strands that came or went, needed or not, where nothing else changed.
    pub fn strands_changed(&self) -> Option<&str> {
        let first = self.changes.first().filter(|_| self.changes.iter().all(|one| Self::is_of_strands(one)));
        first.map(String::as_str)
    }
}

/// Processor time from before the first repetition to after the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Busy {
    /// The nanoseconds that passed.
    pub time_ns: u64,
    /// Nanoseconds in which strands ran tasks, summed over all strands of the machine; counted in ticks of 10 ms.
    pub all_ns: u64,
    /// Nanoseconds of processor time of the measuring process.
    pub own_ns: u64,
    /// Nanoseconds from a tick of the kernel, at which it looks what strands run, to the next; null in reports that older versions wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick_ns: Option<u64>,
}

impl Busy {
    /// How many CPUs other processes used on average.
    pub fn by_others(&self) -> f64 {
        self.all_ns.saturating_sub(self.own_ns) as f64 / self.time_ns.max(1) as f64
    }
}

/// Resident bytes by kind of page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pages {
    /// The size of a base page.
    pub base_page_bytes: u64,
    /// On pages of the base size.
    pub base_bytes: u64,
    /// On transparent huge pages.
    pub transparent_bytes: u64,
    /// On reserved huge pages of 2 MiB.
    pub huge_2m_bytes: u64,
    /// On reserved huge pages of 1 GiB.
    pub huge_1g_bytes: u64,
    /// The size of a transparent huge page; null where the system does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transparent_page_bytes: Option<u64>,
}

impl Pages {
    /// Bytes on pages of all kinds.
    pub fn total(&self) -> u64 {
        let kinds = [self.base_bytes, self.transparent_bytes, self.huge_2m_bytes, self.huge_1g_bytes];
        kinds.into_iter().fold(0, u64::saturating_add)
    }
}

/// Where the pages of seated workers' blocks lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nodes {
    /// Bytes on the NUMA node of the worker that owns them.
    pub local_bytes: u64,
    /// Bytes that lie as they were asked to, where that is not on the worker's own node: of several nodes, no more on one than
    /// its equal part. Null where nothing else was asked.
    pub asked_bytes: Option<u64>,
    /// All bytes.
    pub bytes: u64,
    /// Whether the kernel moves pages between nodes by itself.
    pub balancing: Option<bool>,
}

/// The frequency of the cores, measured by a chain of dependent multiplications on every worker.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frequency {
    /// Hertz of the slowest worker's core before the first repetition.
    pub before_hz: f64,
    /// Hertz of the slowest worker's core after the last repetition.
    pub after_hz: f64,
    /// Hertz of the fastest worker's core, at these times and after each repetition.
    pub highest_hz: f64,
    /// The largest change of any one worker's core, as a fraction.
    pub drift: f64,
}

/// The clock that stamps laps, looked at before the sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timer {
    /// What a reading costs: the fastest of several batches, divided by their readings.
    pub overhead_ns: u64,
    /// The smallest step between two different readings.
    pub resolution_ns: u64,
    /// The largest gap between two readings in a row: what the machine took away in between.
    pub worst_gap_ns: u64,
    /// How far the stamps of two strands may be apart, by exchange of messages; null where it was not measured.
    pub skew_ns: Option<u64>,
}
