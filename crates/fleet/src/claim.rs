//! What a fleet concludes: enums, numbers, and names from the reports. Sentences are made of it at the top.
#![allow(missing_docs, reason = "what a name says needs no second one")]

use std::collections::{BTreeMap, BTreeSet};

use charz_analysis::culprits::Disturber;

use crate::setting::{Setting, Structure, Value};

/// What the reports of many nodes say together.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// Each node once, slow ones first.
    pub nodes: Vec<Node>,
    /// Nodes that are alike.
    pub groups: Vec<Group>,
    /// Files that are no report, with the reason.
    pub unreadable: Vec<Unreadable>,
    /// When the newest of the reports was begun.
    pub newest: Option<String>,
}

/// A node, by the name of its host.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub host: String,
    /// What is concluded of it; none of a node that is well and was compared in all.
    pub claims: Vec<Claim>,
    /// In which settings it differs from most nodes like it.
    pub differs: BTreeMap<Setting, Differs>,
    /// The place of its group among [`Fleet::groups`].
    pub group: usize,
    /// How many reports of it there are that began an hour apart.
    pub visits: usize,
    /// By how much its newest visit is faster than the median of its group, as a fraction, under the load where that is least; kernels
    /// that no other node has are left out.
    pub effects: BTreeMap<Quantity, f64>,
    /// By kernel that was to be measured: whether its newest visit has a reliable result at the kernel's most threads. By others it was not
    /// compared.
    pub reliable: BTreeMap<String, bool>,
    /// The median share of the capacity that it delivered while it was measured.
    pub delivered: Option<f64>,
    /// Its name in Slurm, where that is known and no other node's.
    pub slurm: Option<String>,
}

/// What is said of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It, or a part of it, is slower than its like.
    Slow,
    /// It may be: its claims have what would settle it.
    Unclear,
    /// There is no reliable number of it.
    Unmeasured,
    /// Nothing is slower than its like.
    Ok,
}

// The worst first.
charz_data::words! { State { Slow = "slow", Unclear = "unclear", Unmeasured = "unmeasured", Ok = "ok" } }

/// A part of a node, or the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    Node,
    Package,
    NumaNode,
    /// The largest caches that several cores share, and their level.
    Cache(u32),
    Core,
    /// Two CPUs, by what passes between them.
    Pair,
}

/// What is compared: a kernel, and of lines that travel between CPUs each distance, by its mapping.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity {
    pub kernel: String,
    pub distance: Option<String>,
}

/// What shows that something is slow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    Kernels(BTreeSet<Quantity>),
    /// The share of the capacity that was delivered.
    Delivered,
    /// The CPUs that a quota allows for long.
    Quota,
}

/// A part of a node that is slower than its like, or the node.
#[derive(Clone, Debug, PartialEq)]
pub struct Blame {
    pub part: Component,
    /// By their OS ids.
    pub cpus: Vec<u32>,
    pub by: By,
    /// By how much it is faster, as a fraction: below 0 it is slower.
    pub effect: f64,
    /// Where the effect lies, with 95% confidence.
    pub interval: [f64; 2],
    pub cause: Option<Cause>,
    /// A clock that explains half of the effect at least.
    pub clock: Option<Clock>,
}

/// A setting that explains a loss.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// The node's own value of it.
    Setting(Setting, Value),
    /// One that it shares with other slow nodes.
    Class(Class),
    Quota(Quota),
}

/// A clock that is slower than usual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    pub hz: f64,
    /// That of nodes like it, or of the node's faster runs and cores.
    pub usual_hz: f64,
    /// Seconds from the beginning of the sweep on to the first run at this clock, where runs before had the usual one.
    pub since_s: Option<f64>,
}

/// What a quota takes: shares of the node's CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// In CPUs.
    pub quota: String,
    pub own: f64,
    /// The median of the others.
    pub usual: f64,
    /// Whether these were delivered, and are not only what the quota allows for long.
    pub was_seen: bool,
}

/// Nodes that are on a lower level together.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// What all of them have and no other: each setting with the values here and those of the others. Empty where no setting goes with it.
    pub settings: Vec<(Setting, [BTreeSet<Value>; 2])>,
    /// Whether the others are all other nodes, and not those with another value.
    pub is_gap: bool,
    /// How many nodes are slower, and how many others there are.
    pub counts: [usize; 2],
    /// By how much they are faster, as a fraction.
    pub effect: f64,
    pub kernels: BTreeSet<Quantity>,
}

/// What leaves open whether something that seems slow is.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// No other node shows whether it is usual.
    NoLike,
    /// One kernel alone says so; these of its kind were measured, and have no reliable result.
    OneKernel(BTreeSet<String>),
    /// It is faster: its like may be the slow ones.
    Faster,
    /// The host of a guest may have moved its CPUs apart; so many more visits settle it.
    HostMoved(usize),
    /// Too few visits tell a slow node from a slow hour: the newest that show it, of those that are compared, and how many are missing; of
    /// so many visits, which are made of so many reports.
    Visits { seen: [usize; 2], missing: usize, all: [usize; 2] },
    /// So many visits disagree.
    Disagree(usize),
    /// So many visits show it, and nodes like it vary so much that a fault must exceed this fraction.
    Wide(usize, f64),
    /// So many earlier visits found it, and the newest has no result.
    Lost(usize),
    /// Memory of a guest is what its host gives in that hour.
    GuestMemory,
    /// It is a matter of all nodes of a setting or level.
    Class(Class),
    /// So few nodes do not show which speed is usual; the fastest of them.
    Far(String),
    /// A quota that is usual.
    Quota(Quota),
    /// Other programs took its CPUs: what it delivered of its capacity, and what the others did.
    Busy([f64; 2]),
}

/// Kernels with a number of threads, or without any result.
pub type Loads = BTreeSet<(String, Option<u64>)>;

/// What gives a result that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// Its sweep is finished.
    Finish,
    /// It is swept again when it is idle.
    Again,
    /// It was skipped for a reason.
    Skipped,
}

/// A conclusion of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    Slow(Blame),
    Doubt(Blame, Doubt),
    /// Earlier visits found it slow, and the newest no longer does.
    NoLonger(Blame),
    /// No configuration of so many has a reliable result.
    Unmeasured {
        cells: usize,
        is_pending: bool,
    },
    /// Several machines have its name.
    Shared {
        reports: usize,
        kinds: usize,
        do_overlap: bool,
    },
    /// So many CPUs of all were measured.
    Partly([usize; 2]),
    /// Its size, and that of nodes like it.
    Smaller([Structure; 2]),
    /// It has loads on 4k pages that most nodes have on transparent huge pages.
    OtherPages(Loads),
    /// It lacks results that most others have, or some.
    Missing {
        loads: Loads,
        is_of_most: bool,
        remedy: Remedy,
    },
    /// Its sweep did not include these.
    Unplanned(Loads),
    /// No other node has its configurations of these kernels.
    Unlike(Vec<String>),
    /// It has no result of kernels that no node has one of, or hardly any.
    Uncompared {
        kernels: Vec<String>,
        has_any: bool,
    },
    /// Of reports less than an hour apart another counts: these kernels have no number.
    Dropped(BTreeSet<String>),
    /// Too few others are of its kind; in what the build of charz differs that measured the rest, and whether others have a share that they
    /// delivered.
    Alone {
        others: usize,
        build: Option<String>,
        was_delivered: bool,
    },
    /// What used its CPUs while it was measured.
    Disturbed(Vec<Disturber>),
}

impl Claim {
    /// What the node is by it.
    pub fn state(&self) -> State {
        match self {
            Claim::Slow(_) => State::Slow,
            Claim::Unmeasured { .. } => State::Unmeasured,
            Claim::NoLonger(_) | Claim::Uncompared { .. } | Claim::Dropped(_) | Claim::Disturbed(_) => State::Ok,
            Claim::Alone { build: None, .. } => State::Ok,
            _ => State::Unclear,
        }
    }
}

/// A setting of a node, and that of most nodes like it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differs {
    /// The node's own.
    pub here: Value,
    /// Most others'.
    pub others: Value,
}

/// Nodes that may be held against each other: of one kind of machine.
#[derive(Clone, Debug)]
pub struct Group {
    /// Their product and processor.
    pub kind: String,
    /// Their size; fewer nodes of another are among them.
    pub structure: Structure,
    /// Their names.
    pub nodes: Vec<String>,
    /// How many reports of them there are.
    pub visits: usize,
    /// What is said of several of them at once: the class, and its nodes.
    pub classes: Vec<(Class, Vec<String>)>,
}

/// A file that is no report.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Unreadable {
    /// Its name.
    pub file: String,
    /// What is wrong with it, in words.
    pub why: String,
}

impl Node {
    /// What it is, by the worst of its claims.
    pub fn state(&self) -> State {
        self.claims.iter().map(Claim::state).min().unwrap_or(State::Ok)
    }

    /// What is slow, or what may be where nothing is; the slowest first.
    pub fn blame(&self) -> Vec<&Blame> {
        let is_slow = self.state() == State::Slow;
        let mut all = Vec::new();
        for claim in &self.claims {
            match claim {
                Claim::Slow(blame) => all.push(blame),
                Claim::Doubt(blame, _) if !is_slow && blame.effect < 0.0 => all.push(blame),
                _ => {}
            }
        }
        all.sort_by(|one, other| one.effect.total_cmp(&other.effect));
        all
    }
}

impl Fleet {
    /// How many nodes are in this state.
    pub fn count(&self, state: State) -> usize {
        self.nodes.iter().filter(|node| node.state() == state).count()
    }
}
