//! Which loads the nodes of a group have reliable results of, and what is said of a node without one.

use std::collections::{BTreeMap, BTreeSet};

use crate::claim::{Claim, Node, Remedy};
use crate::norms::{Own, USUAL};
use crate::visit::{Visit, Wanted, loads};

/// From this share of the nodes that planned a load on, another sweep of a node is likely to give it. Of one that hardly any node has, no
/// sweep settles it, and a fleet of unclear nodes would hide those that are slow.
const ATTAINABLE: f64 = 0.2;

/// Of a group: kernels, each with its loads and with none.
pub(crate) struct Group<'a> {
    /// Those that most nodes have a reliable result of.
    pub(crate) usual: BTreeSet<Wanted<'a>>,
    /// Those that some have.
    attainable: BTreeSet<Wanted<'a>>,
    /// The kernels that a node has at their most threads.
    compared: BTreeSet<&'a str>,
}

impl<'a> Group<'a> {
    pub(crate) fn of(nodes: &[Own<'a>]) -> Self {
        // Reliable ones, and others.
        let mut counts: BTreeMap<Wanted<'_>, [usize; 2]> = BTreeMap::new();
        let mut compared = BTreeSet::new();
        for newest in nodes.iter().map(Own::newest) {
            let own = newest.speeds.keys();
            let own: BTreeSet<Wanted<'_>> =
                own.flat_map(|(kernel, of)| [None, Some(&of.load)].map(|load| (kernel.as_str(), load))).collect();
            own.into_iter().for_each(|load| counts.entry(load).or_default()[0] += 1);
            let without = newest.unreliable.iter().map(|(kernel, load)| (kernel.as_str(), Some(load)));
            without.for_each(|load| counts.entry(load).or_default()[1] += 1);
            compared.extend(newest.compared().into_iter().filter(|(_, is_compared)| *is_compared).map(|own| own.0));
        }
        let of = |is: &dyn Fn([usize; 2]) -> bool| {
            counts.iter().filter(|(_, counts)| is(**counts)).map(|(load, _)| *load).collect()
        };
        Group {
            usual: of(&|[reliable, _]| reliable as f64 >= USUAL * nodes.len() as f64),
            attainable: of(&|[reliable, others]| {
                reliable > 0 && reliable as f64 >= ATTAINABLE * (reliable + others) as f64
            }),
            compared,
        }
    }

    /// What a node lacks that others have makes it unclear; what hardly any has is said. `is_smaller` says whether it has other loads since
    /// it has, or gave, other CPUs; `is_alone` whether too few nodes have its build of charz, which is said by itself.
    pub(crate) fn claim_missing(&self, node: &mut Node, newest: &Visit, is_smaller: bool, is_alone: bool) {
        let is_missing = |own: &Wanted<'_>| own.1.is_none() && !newest.has(*own);
        let without = self.usual.iter().copied().filter(is_missing);
        let (without, unplanned): (BTreeSet<_>, BTreeSet<_>) =
            without.partition(|(kernel, _)| newest.kernels.contains_key(*kernel));
        let unreliable = || newest.unreliable.iter().map(|(kernel, load)| (kernel.as_str(), Some(load)));
        let usual: BTreeSet<Wanted<'_>> =
            without.into_iter().chain(unreliable().filter(|own| self.usual.contains(own))).collect();
        let is_some = |own: &Wanted<'_>| self.attainable.contains(own) && !self.usual.contains(own);
        let some: BTreeSet<_> = unreliable().filter(is_some).collect();
        let is_said = |kernel: &str| usual.iter().chain(&some).any(|(said, _)| *said == kernel);
        let rest = newest.compared().into_iter().filter(|(kernel, _)| !is_said(kernel));
        let (full, hard): (Vec<_>, Vec<_>) = rest.partition(|(_, is_reliable)| *is_reliable);
        // Of its kernels that most nodes have: those that no other has at such parameters, and not for a reason that is said.
        let is_unlike = |kernel: &str| {
            let has_reason = |own: &Wanted<'_>| newest.is_beyond(*own) || newest.lacks_huge_pages(*own);
            self.usual.contains(&(kernel, None))
                && !node.effects.keys().any(|own| own.kernel == kernel)
                && !self.usual.iter().any(|own| own.0 == kernel && has_reason(own))
        };
        let unlike = full.into_iter().filter(|(kernel, _)| is_unlike(kernel));
        let unlike: Vec<String> = unlike.map(|(kernel, _)| kernel.to_owned()).collect();
        for (lacked, is_of_most) in [(usual, true), (some, false)] {
            let mut remedies: BTreeMap<Remedy, Vec<_>> = BTreeMap::new();
            lacked.into_iter().for_each(|own| remedies.entry(newest.remedy(own)).or_default().push(own));
            let claim = |(remedy, own)| Claim::Missing { loads: loads(own), is_of_most, remedy };
            node.claims.extend(remedies.into_iter().map(claim));
        }
        let beyond: Vec<_> = self.usual.iter().copied().filter(|own| newest.is_beyond(*own)).collect();
        if !beyond.is_empty() && !is_smaller {
            let is_part = newest.cpus[0] < newest.cpus[1];
            node.claims.push(if is_part { Claim::Partly(newest.cpus) } else { Claim::Unplanned(loads(beyond)) });
        }
        if !unplanned.is_empty() {
            node.claims.push(Claim::Unplanned(loads(unplanned)));
        }
        if !unlike.is_empty() && !is_smaller && !is_alone {
            node.claims.push(Claim::Unlike(unlike));
        }
        if !hard.is_empty() {
            let has_any = hard.iter().any(|(kernel, _)| self.compared.contains(kernel));
            let kernels = hard.into_iter().map(|(kernel, _)| kernel.to_owned()).collect();
            node.claims.push(Claim::Uncompared { kernels, has_any });
        }
    }
}
