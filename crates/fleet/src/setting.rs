//! The settings in which nodes differ, and what each can be the cause of.

use std::collections::BTreeMap;

use charz_data::Family;
use charz_data::report::{Report, Unit};

/// A setting of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "they are fields of a report")]
pub enum Setting {
    Cpus,
    Cores,
    Sockets,
    NumaNodes,
    Governor,
    Microcode,
    Firmware,
    Kernel,
    HugePages,
    ClockSource,
    /// In CPUs.
    Quota,
    Memory,
    Modules,
    /// The build of charz that measured the node.
    Charz,
    /// One that the user gave.
    Label(String),
}

/// The numbers of CPUs, cores, sockets and NUMA nodes of a machine.
pub type Structure = [usize; 4];

/// What a kernel shows of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Aspect {
    Arithmetic,
    Bandwidth,
    Latency,
    /// What passes between CPUs.
    Lines,
}

impl Aspect {
    pub(crate) fn of(family: Family, unit: Unit) -> Option<Self> {
        match family {
            Family::Compute => Some(Aspect::Arithmetic),
            Family::Memory if unit == Unit::NanosecondsPerStep => Some(Aspect::Latency),
            Family::Memory => Some(Aspect::Bandwidth),
            Family::Sync => Some(Aspect::Lines),
            _ => None,
        }
    }

    pub(crate) fn is_of_memory(self) -> bool {
        matches!(self, Aspect::Bandwidth | Aspect::Latency)
    }
}

/// What a node has of a setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// So many.
    Count(usize),
    /// So many GiB.
    Gib(u64),
    /// As the system has it.
    Text(String),
}

/// The sizes of [`Structure`], in its order.
pub(crate) const SIZES: [Setting; 4] = [Setting::Cpus, Setting::Cores, Setting::Sockets, Setting::NumaNodes];

/// A setting that nodes with a level of their own may have in common.
pub(crate) struct Suspect {
    pub(crate) setting: Setting,
    memory_only: bool,
    /// Whether one visit and this setting make one node slow.
    pub(crate) is_cause: bool,
    /// Whether many nodes that have it are slow, and not of another kind.
    pub(crate) is_fault: bool,
}

const fn suspect(setting: Setting, memory_only: bool, is_cause: bool, is_fault: bool) -> Suspect {
    Suspect { setting, memory_only, is_cause, is_fault }
}

/// Of several causes of a memory's loss, its own come first.
pub(crate) static SUSPECTS: [Suspect; 7] = [
    suspect(Setting::Modules, true, true, false),
    suspect(Setting::Memory, true, true, false),
    suspect(Setting::HugePages, true, true, true),
    suspect(Setting::Governor, false, true, true),
    suspect(Setting::Microcode, false, true, true),
    suspect(Setting::Kernel, false, false, false),
    suspect(Setting::Firmware, false, false, false),
];

impl Suspect {
    pub(crate) fn concerns(&self, aspect: Aspect) -> bool {
        !self.memory_only || aspect.is_of_memory()
    }

    /// Whether a node can be slow as it has this value where others have that.
    pub(crate) fn can_slow(&self, here: &Value, others: &Value) -> bool {
        let numbers = |text: &str| text.split(' ').filter_map(|word| word.parse().ok()).collect::<Vec<f64>>();
        match (&self.setting, here, others) {
            (Setting::Governor, Value::Text(here), _) => here != "performance",
            // charz asks for its pages by itself, which only this policy refuses.
            (Setting::HugePages, Value::Text(here), _) => here == "never",
            (Setting::Modules, Value::Text(here), Value::Text(others)) => {
                let (here, others) = (numbers(here), numbers(others));
                here.len() != others.len() || here.iter().zip(&others).any(|(here, others)| here < others)
            }
            (Setting::Memory, Value::Gib(here), Value::Gib(others)) => here < others,
            _ => true,
        }
    }
}

/// Those of a report that are known.
pub(crate) fn of(report: &Report, structure: Structure) -> BTreeMap<Setting, Value> {
    let host = &report.host;
    let known = |text: &Option<String>| {
        let text = text.as_deref().map(str::trim);
        text.filter(|text| *text != "unknown" && !text.starts_with("unavailable")).map(|text| Value::Text(text.into()))
    };
    let settings = [
        (Setting::Governor, known(&host.frequency_governor)),
        (Setting::Microcode, known(&host.microcode)),
        (Setting::Firmware, known(&host.firmware)),
        (Setting::Kernel, known(&host.kernel)),
        (Setting::HugePages, known(&host.transparent_huge_pages)),
        (Setting::ClockSource, known(&host.clock_source)),
        (Setting::Quota, Some(Value::Text(host.cpu_quota.clone().unwrap_or_else(|| "none".into())))),
        (Setting::Memory, host.memory.total_bytes.map(|bytes| Value::Gib((bytes + (1 << 29)) >> 30))),
        (Setting::Modules, known(&host.memory.modules)),
        (Setting::Charz, Some(Value::Text([report.tool.version.as_str(), &report.tool.kernels].join(" ")))),
    ];
    let sizes = SIZES.into_iter().zip(structure.map(Value::Count));
    let labels = host.labels.iter().map(|(name, value)| (Setting::Label(name.clone()), Value::Text(value.clone())));
    let known = settings.into_iter().filter_map(|(setting, value)| Some((setting, value?)));
    sizes.chain(known).chain(labels).collect()
}
