//! Which loads the nodes of a group have reliable results of, and what is said of a node without one.

use std::collections::{BTreeMap, BTreeSet};

use crate::norms::Own;
use crate::visit::{Visit, load};
use crate::words;
use crate::{Node, USUAL};

/// From this share of the nodes that planned a load on, another sweep of a node is likely to give it. Of one that hardly any node has, no
/// sweep settles it, and a fleet of unclear nodes would hide those that are slow.
const ATTAINABLE: f64 = 0.2;

/// Of a group: kernels, each with its loads and with none.
pub(crate) struct Loads<'a> {
    /// Those that most nodes have a reliable result of.
    pub(crate) usual: BTreeSet<(&'a str, &'a str)>,
    /// Those that some have.
    attainable: BTreeSet<(&'a str, &'a str)>,
    /// The kernels that a node has at their most threads.
    compared: BTreeSet<&'a str>,
}

impl<'a> Loads<'a> {
    pub(crate) fn of(nodes: &[Own<'a>]) -> Self {
        // Reliable ones, and others.
        let mut counts: BTreeMap<(&str, &str), [usize; 2]> = BTreeMap::new();
        let mut compared = BTreeSet::new();
        for newest in nodes.iter().map(Own::newest) {
            let own = newest.speeds.keys();
            let own: BTreeSet<_> =
                own.flat_map(|(kernel, rest)| ["", load(rest)].map(|load| (kernel.as_str(), load))).collect();
            own.into_iter().for_each(|load| counts.entry(load).or_default()[0] += 1);
            let without = newest.unreliable.iter().map(|(kernel, load)| (kernel.as_str(), load.as_str()));
            without.for_each(|load| counts.entry(load).or_default()[1] += 1);
            compared.extend(newest.compared().into_iter().filter(|(_, is_compared)| *is_compared).map(|own| own.0));
        }
        let of = |is: &dyn Fn([usize; 2]) -> bool| {
            counts.iter().filter(|(_, counts)| is(**counts)).map(|(load, _)| *load).collect()
        };
        Loads {
            usual: of(&|[reliable, _]| reliable as f64 >= USUAL * nodes.len() as f64),
            attainable: of(&|[reliable, others]| {
                reliable > 0 && reliable as f64 >= ATTAINABLE * (reliable + others) as f64
            }),
            compared,
        }
    }

    /// What a node lacks that others have makes it unclear; what hardly any has makes a sentence. `is_smaller` says whether it has other
    /// loads since it has, or gave, other CPUs; `is_alone` whether too few nodes have its build of charz, which is said by itself.
    pub(crate) fn tell_missing(&self, node: &mut Node, newest: &Visit, is_smaller: bool, is_alone: bool) {
        let is_missing = |(kernel, load): &(&str, &str)| load.is_empty() && !newest.has(kernel);
        let without = self.usual.iter().copied().filter(is_missing);
        let (without, unplanned): (BTreeSet<_>, BTreeSet<_>) =
            without.partition(|(kernel, _)| newest.families.contains_key(*kernel));
        let unreliable = || newest.unreliable.iter().map(|(kernel, load)| (kernel.as_str(), load.as_str()));
        let usual: BTreeSet<_> =
            without.into_iter().chain(unreliable().filter(|own| self.usual.contains(own))).collect();
        let is_some = |own: &(&str, &str)| self.attainable.contains(own) && !self.usual.contains(own);
        let some: BTreeSet<_> = unreliable().filter(is_some).collect();
        let is_told = |kernel: &str| usual.iter().chain(&some).any(|(told, _)| *told == kernel);
        let (full, hard): (Vec<_>, Vec<_>) = newest
            .compared()
            .into_iter()
            .filter(|(kernel, _)| !is_told(kernel))
            .partition(|(_, is_reliable)| *is_reliable);
        let hard: Vec<&str> = hard.into_iter().map(|(kernel, _)| kernel).collect();
        let has_any = hard.iter().any(|kernel| self.compared.contains(kernel));
        // Of its kernels that most nodes have: those that no other has at such parameters, and not for a reason that is said.
        let is_unlike = |kernel: &str| {
            let has_reason = |own: &(&str, &str)| newest.is_beyond(*own) || newest.lacks_huge_pages(own.0, own.1);
            self.usual.contains(&(kernel, ""))
                && !node.effects.keys().any(|own| own.split(' ').next() == Some(kernel))
                && !self.usual.iter().any(|own| own.0 == kernel && has_reason(own))
        };
        let unlike: Vec<&str> = full.into_iter().map(|(kernel, _)| kernel).filter(|kernel| is_unlike(kernel)).collect();
        for (loads, others) in [(usual, "most"), (some, "some")] {
            let mut remedies: BTreeMap<&str, BTreeSet<_>> = BTreeMap::new();
            for own in loads {
                remedies.entry(newest.remedy(own)).or_default().insert(own);
            }
            for (remedy, loads) in remedies {
                node.unclear(words::missing(loads, others, remedy));
            }
        }
        let beyond: BTreeSet<_> = self.usual.iter().copied().filter(|own| newest.is_beyond(*own)).collect();
        if !beyond.is_empty() && !is_smaller {
            node.unclear(words::fewer(newest.cpus, beyond));
        }
        if !unplanned.is_empty() {
            node.unclear(words::unplanned(unplanned));
        }
        if !unlike.is_empty() && !is_smaller && !is_alone {
            node.unclear(words::unlike(&unlike));
        }
        if !hard.is_empty() {
            node.why.push(words::uncompared(&hard, has_any));
        }
    }
}
