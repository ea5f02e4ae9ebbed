//! A report that does not say whose it is: what identifies the host, its user and other programs is left out, what was measured stays.
//!
//! `decided!` takes each type apart by all of its fields, so a new field does not compile before it is decided here. What is [`Copy`] is a
//! number, a word of ours or the symbol of a unit, and stays.

mod texts;

use std::borrow::Cow;

use crate::machine::{Cache, Core, Group, Info, Kind, Machine, NumaNode, Package, Strand, Usable};
use crate::{
    Blocks, Card, Distribution, Growth, HardwareCounts, Histogram, JointHistogram, Metric, Program, ProgramValue, Role,
    Shape, Text, Times, checks,
};

use super::{
    Cell, Culprit, CulpritKind, Energy, Evidence, Host, Invocation, Lap, Mark, Memory, Plan, ProgramSeen, Report, Run,
    Schema, Timer, Tool,
};
use texts::{
    NO_REASON, PROGRAM, bare_program, change, ended, flags, hide_mappers, hide_programs, release, stopper, told,
    unsaid, without_paths, without_program, without_runs,
};

/// Leaves out of a report what says whose it is: names, labels, products, paths, command lines, other programs, and sentences that a program
/// or the system wrote. Reasons of marks are those of their checks: who judges the report again derives them from what is left.
#[must_use]
pub fn anonymous(mut report: Report) -> Report {
    hide_mappers(&mut report);
    hide_programs(&mut report);
    report.anonymous()
}

/// As [`anonymous`], of a cell alone.
#[must_use]
pub fn anonymous_cell(cell: &Cell) -> Cell {
    cell.clone().anonymous()
}

/// What all other programs are called.
const OTHERS: &str = "other programs";
/// In place of what `--value` and `--verify` look for.
const EXPRESSION: &str = "EXPRESSION";

trait Anonymous {
    fn anonymous(self) -> Self;
}

impl<T: Anonymous> Anonymous for Option<T> {
    fn anonymous(self) -> Self {
        self.map(T::anonymous)
    }
}

impl<T: Anonymous> Anonymous for Vec<T> {
    fn anonymous(self) -> Self {
        self.into_iter().map(T::anonymous).collect()
    }
}

impl<T: Anonymous> Anonymous for Box<T> {
    fn anonymous(mut self) -> Self {
        *self = (*self).anonymous();
        self
    }
}

/// What becomes of each field of these types.
macro_rules! decided {
    ($($type:ident { $($field:ident: $decision:expr,)+ })+) => {$(
        impl Anonymous for $type {
            fn anonymous(self) -> Self {
                let $type { $($field),+ } = self;
                $type { $($field: $decision($field)),+ }
            }
        }
    )+};
}

decided! {
    Report {
        schema: within,
        // At random.
        id: stays,
        tool: within,
        command: flags,
        // A file is named after what it is about.
        measured_by: |name: Option<String>| name.map(|_| "another program".into()),
        started: stays,
        host: within,
        machine: within,
        timer: within,
        plan: within,
        cards: within,
        floor: within,
        cells: within,
        seal: out,
        wall_ns: number,
        complete: number,
        stopped_by: stopper,
        anonymous: |_| true,
        file: out,
    }
    Schema { name: stays, major: number, minor: number, }
    Tool {
        version: stays,
        commit: stays,
        rustc: stays,
        target: stays,
        profile: stays,
        rustflags: without_paths,
        kernels: stays,
        hwloc: stays,
    }
    Host {
        name: out,
        slurm_name: out,
        product: out,
        kernel: release,
        processor: stays,
        microcode: stays,
        firmware: out,
        claimed_hz: number,
        tlb_4k_entries: number,
        tlb_2m_entries: number,
        virtual_machine: number,
        clock_source: stays,
        transparent_huge_pages: stays,
        frequency_governor: stays,
        timer_slack_ns: number,
        // A number, as text.
        cpu_quota: stays,
        disturbances: unsaid,
        labels: out,
        energy: told,
        memory: within,
    }
    Memory { total_bytes: number, modules: told, available_bytes: number, budget_bytes: number, }
    Timer { overhead_ns: number, resolution_ns: number, worst_gap_ns: number, skew_ns: number, }
    Machine {
        source: |source| if source == THIS { source } else { "another machine".into() },
        name: out,
        strands: within,
        cores: within,
        packages: within,
        numa_nodes: within,
        numa_distances: |rows: Vec<Vec<u64>>| rows,
        caches: within,
        groups: within,
        kinds: within,
        // They name makers and models, and the names may be a host's own.
        devices: |_| Vec::new(),
        alu: number,
        absent: numbers,
        usable: within,
        // Sentences of ours about CPUs and nodes.
        doubts: stays,
    }
    Strand {
        os_id: number,
        package: number,
        numa: number,
        core: number,
        alu: number,
        slot: number,
        strand_in_core: number,
        kind: number,
        numa_nodes: numbers,
        caches: numbers,
        groups: numbers,
        usable: number,
    }
    Package { os_id: number, model: stays, strands: number, }
    Core { os_id: number, strands: number, }
    NumaNode {
        os_id: number,
        subtype: stays,
        memory_bytes: number,
        memory_side_cache_bytes: number,
        tier: number,
        strands: number,
        usable: number,
    }
    Cache {
        level: number,
        holds: number,
        index: number,
        size_bytes: number,
        line_bytes: number,
        ways: number,
        inclusive: number,
        strands: number,
    }
    Group { what: stays, strands: number, }
    Kind { speed_rank: number, how_known: stays, infos: within, strands: number, }
    // hwloc has those of kinds of core only.
    Info { name: stays, value: stays, }
    // Lists of CPUs and nodes.
    Usable { strands: number, cpuset: stays, affinity: stays, memory: stays, quota_cpus: number, }
    Plan {
        kernels: stays,
        mappings: |mappings: Vec<String>| mappings.into_iter().map(without_program).collect(),
        threads: numbers,
        params: number,
        precision: number,
        repetitions: number,
        min_invocations: number,
        max_invocations: number,
        adaptive: number,
        seed: number,
        budget_ns: number,
        clock: stays,
        binder: stays,
        program: within,
        // Paths, and what identifies files.
        program_identity: out,
        counters: number,
        issue_width: number,
    }
    Program {
        command: bare_program,
        setup: |setup: Option<String>| setup.map(|_| PROGRAM.to_owned()),
        value: within,
        // A number without its unit says nothing.
        unit: stays,
        output: |file: Option<String>| file.map(|file| if file == Program::NO_OUTPUT { file } else { "FILE".into() }),
        verify: |verify: Option<String>| verify.map(|_| EXPRESSION.to_owned()),
        timeout_ns: number,
        ignored_failures: stays,
        follow: stays,
    }
    Cell {
        kernel: stays,
        mapping: without_program,
        point: number,
        level: stays,
        traffic: number,
        block_bytes: number,
        about_memory: number,
        workers: number,
        seats: numbers,
        unit: stays,
        estimator: number,
        precision: number,
        repetitions: number,
        footprint_bytes: number,
        skipped: |reason: Option<String>| reason.map(without_runs),
        stated_interval: number,
        status: number,
        reason: |reason: Option<String>| reason.map(without_runs),
        capacity: number,
        delivered: number,
        marks: within,
        invocations: within,
        summary: number,
        distribution: within,
        contention: number,
        counted: within,
        hardware: number,
        energy: within,
    }
    Times { first: stays, second: stays, on_one_strand: number, }
    Energy { watts: numbers, joules: number, }
    Evidence {
        pages: number,
        nodes: number,
        frequency: number,
        busy: number,
        seen: stays,
        culprits: within,
        looked_ns: number,
        apart_ns: number,
        changes: |changes: Vec<String>| changes.into_iter().map(change).collect(),
        wake_ups: within,
        no_counters: |why: Option<String>| why.map(|_| NO_REASON.to_owned()),
        program: within,
    }
    ProgramSeen {
        threads: number,
        working: number,
        wanted_cpus: number,
        followed: stays,
        stops: number,
        stop_ns: number,
        write_wait_ns: number,
        left: number,
        first_ns: number,
        first_working: number,
        first_elsewhere: number,
        alone_ns: number,
        alone_cpu_ns: number,
    }
    Run {
        interval_ns: number,
        start_skew_ns: number,
        steal_ns: number,
        throttled_periods: number,
        pressure_ns: number,
        energy_uj: |each: Option<Box<[u64]>>| each,
        // Codes of checks.
        dirty: stays,
        laps: within,
        samples: within,
        growth: within,
        reported: number,
        printed_unit: out,
    }
    Lap {
        rank: number,
        seat: number,
        strand: number,
        start_ns: number,
        end_ns: number,
        ops: number,
        bytes: number,
        on_seat: number,
        checks: number,
        strays: number,
        counts: number,
        contention: number,
        blocks: within,
        hardware: |counts: Option<Box<HardwareCounts>>| counts.map(|counts| Box::new(number(*counts))),
        group: number,
    }
    Blocks { count: number, times: numbers, }
    Growth {
        steps: numbers,
        stopped_by: number,
        unfinished: number,
        most_threads: number,
        limited_by: |limit: String| if limit.is_empty() { limit } else { "a limit of the system".into() },
    }
    Distribution { samples: within, first: within, second: within, second_shorter: number, }
    Shape { p50_ns: number, p90_ns: number, p99_ns: number, p999_ns: number, p9999_ns: number, peaks: numbers, }
    JointHistogram { count: number, second_shorter: number, first: within, second: within, bins: numbers, }
    Histogram { min_ns: number, max_ns: number, bins: numbers, }
}

impl Anonymous for Card {
    /// Of a program of the user's, the card repeats what was asked for.
    fn anonymous(self) -> Self {
        let is_of_user = self.role == Role::Program;
        let own = |text: Text, words: &'static str| if is_of_user { Cow::Borrowed(words) } else { text };
        let Card {
            name,
            family,
            about,
            metric,
            role,
            uncounted_traffic,
            params,
            times,
            source,
            by_default,
            max_per_cycle,
            contends,
            workers,
            blocks_in_kernel,
            shares_work,
        } = self;
        let metric = if is_of_user { Metric::Reported("its own number, or its time".into()) } else { metric };
        Card {
            name,
            family,
            about: own(about, "runs a program of the user's"),
            metric,
            role,
            uncounted_traffic,
            params,
            times: within(times),
            source,
            by_default,
            max_per_cycle,
            contends,
            workers,
            blocks_in_kernel,
            shares_work,
        }
    }
}

impl Anonymous for ProgramValue {
    fn anonymous(self) -> Self {
        match self {
            ProgramValue::Regex(_) => ProgramValue::Regex(EXPRESSION.to_owned()),
            ProgramValue::Json(_) => ProgramValue::Json(EXPRESSION.to_owned()),
            value @ (ProgramValue::Wall | ProgramValue::Work(_) | ProgramValue::Last | ProgramValue::Protocol) => value,
        }
    }
}

impl Anonymous for Mark {
    fn anonymous(self) -> Self {
        let Mark { code, severity, reason: _ } = self;
        let reason = checks::find(&code).map_or(NO_REASON, |check| check.title).to_owned();
        Mark { code, severity, reason }
    }
}

impl Anonymous for Culprit {
    /// What it took stays. Those of one kind are then one.
    fn anonymous(self) -> Self {
        let Culprit { kind, name: _, pid: _, uid: _, others, cpu_ns, time_ns } = self;
        let name = if kind == CulpritKind::Process { OTHERS } else { "" }.to_owned();
        Culprit { kind, name, pid: None, uid: None, others, cpu_ns, time_ns }
    }
}

impl Anonymous for Invocation {
    fn anonymous(self) -> Self {
        let Invocation { started_ns, seed, ending, reason, variant, evidence, runs, speeds, value } = self;
        Invocation {
            started_ns,
            seed,
            ending,
            reason: reason.map(|reason| ended(ending, &reason)),
            variant,
            evidence: within(evidence),
            runs: within(runs),
            speeds: numbers(speeds),
            value,
        }
    }
}

/// What describes this machine, in [`Machine::source`].
const THIS: &str = "this machine";

/// Decided field by field.
fn within<T: Anonymous>(value: T) -> T {
    value.anonymous()
}

/// Holds no text.
fn number<T: Copy>(value: T) -> T {
    value
}

/// As [`number`].
fn numbers<T: Copy>(list: Vec<T>) -> Vec<T> {
    list
}

/// Text that says what was measured, or how.
fn stays<T>(text: T) -> T {
    text
}

/// Left out.
fn out<T: Default>(_: T) -> T {
    T::default()
}
