//! The kinds of core of a hybrid machine, and how their rank is known.

use charz_data::Arrange;
use std::collections::HashMap;

use hwlocality::Topology;
use hwlocality::bitmap::BitmapRef;
use hwlocality::cpu::cpuset::CpuSet;

use crate::{Info, Kind, Machine, cpulist};

/// The ids in a set, ascending, as far as they are possible ids. An endless set so has an end.
pub(super) fn ids(set: BitmapRef<'_, CpuSet>) -> Vec<u32> {
    let ids = set.iter_set().map(|id| u32::try_from(usize::from(id)).unwrap_or(u32::MAX));
    ids.take_while(|id| *id <= cpulist::MAX_ID).collect()
}

/// What hwloc ranks kinds by if they have no given rank, best first (`HWLOC_CPUKINDS_RANKING`, default strategy).
const EVIDENCE: [&str; 4] = ["CoreType", "FrequencyMaxMHz", "FrequencyBaseMHz", "LinuxCapacity"];

/// Reads hwloc's kinds and gives each strand its own.
pub(super) fn read(topology: &Topology, machine: &mut Machine) {
    // That there are no kinds is no error: most machines have one kind of core.
    let Ok(kinds) = topology.cpu_kinds() else { return };
    let mut kind_of: HashMap<u32, u32> = HashMap::new();
    for (index, kind) in (0u32..).zip(kinds) {
        for id in ids((&kind.cpuset).into()) {
            kind_of.insert(id, index);
        }
        let text = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
        let infos: Vec<Info> =
            kind.infos.iter().map(|info| Info { name: text(info.name()), value: text(info.value()) }).collect();
        let speed_rank = kind.efficiency.and_then(|rank| u32::try_from(rank).ok());
        machine.kinds.push(Kind { speed_rank, how_known: how_known(speed_rank, &infos), infos, strands: 0 });
    }
    for strand in &mut machine.strands {
        strand.kind = kind_of.get(&strand.os_id).copied();
    }
    merge(machine);
}

/// How many times a number of a core may be that of the next slower core of its kind: those of big and little cores are further apart.
const ALIKE: f64 = 1.1;

/// Makes one kind of the cores of one design: without a base frequency hwloc makes a kind of each maximum, and where firmware rates each
/// core, as on AMD and Arm, there may be as many as cores. A kind is then described by its fastest cores.
fn merge(machine: &mut Machine) {
    const NUMBERS: [&str; 3] = ["LinuxCapacity", "FrequencyMaxMHz", "FrequencyBaseMHz"];
    // The caches of a kind, then its numbers.
    let of = |kind: &Kind| (Vec::new(), NUMBERS.map(|name| number(kind, name).unwrap_or(0)));
    let mut designs: Vec<(Vec<u64>, [u64; 3])> = machine.kinds.iter().map(of).collect();
    for strand in &machine.strands {
        if let Some((caches, _)) = strand.kind.and_then(|kind| designs.get_mut(kind as usize)) {
            *caches = machine.cache_sizes(strand).max(std::mem::take(caches));
        }
    }
    let is_near = |(one, other): (&u64, &u64)| *one.max(other) as f64 <= ALIKE * *one.min(other) as f64;
    let alike = |one: usize, other: usize| {
        let ((caches, one), (others, other)) = (&designs[one], &designs[other]);
        let mut known = one.iter().zip(other).filter(|(one, other)| **one > 0 && **other > 0).peekable();
        caches == others && known.peek().is_some() && known.all(is_near)
    };
    let is_typed = |kind: &usize| machine.kinds[*kind].infos.iter().any(|info| info.name == EVIDENCE[0]);
    let (typed, mut order): (Vec<usize>, Vec<usize>) = (0..machine.kinds.len()).partition(is_typed);
    order.arrange_by(|one, other| designs[*one].cmp(&designs[*other]));
    let mut groups: Vec<Vec<usize>> = order.chunk_by(|one, other| alike(*one, *other)).map(<[usize]>::to_vec).collect();
    groups.extend(typed.into_iter().map(|kind| vec![kind]));
    // hwloc has them by rank, the slowest first.
    groups.arrange_by_key(|group| group.iter().copied().max());
    let mut kinds = Vec::new();
    let mut kind_of = vec![0; machine.kinds.len()];
    for (at, group) in (0u32..).zip(&groups) {
        group.iter().for_each(|kind| kind_of[*kind] = at);
        let fastest = group.iter().max().map(|kind| machine.kinds[*kind].clone());
        kinds.extend(fastest.map(|kind| Kind { speed_rank: kind.speed_rank.map(|_| at), ..kind }));
    }
    machine.kinds = kinds;
    for kind in machine.strands.iter_mut().filter_map(|strand| strand.kind.as_mut()) {
        *kind = kind_of[*kind as usize];
    }
}

/// The designs of Intel's hybrid processors, the slowest first: the name that hwloc's x86 component gives them, and the list of
/// their CPUs.
pub(super) const INTEL: [(&str, &str); 3] = [
    ("IntelLowPower", "/sys/devices/cpu_lowpower/cpus"),
    ("IntelAtom", "/sys/devices/cpu_atom/cpus"),
    ("IntelCore", "/sys/devices/cpu_core/cpus"),
];

/// Gives the kinds the type of their cores, by the lists of CPUs of each type, the slowest first; and a rank where hwloc gives none, as
/// where kinds have the same base frequency.
pub(super) fn name(machine: &mut Machine, types: &[(&str, Vec<u32>)]) {
    let type_of = |kind: u32| {
        let mut own = machine.strands.iter().filter(|strand| strand.kind == Some(kind)).peekable();
        own.peek()?;
        let ids: Vec<u32> = own.map(|strand| strand.os_id).collect();
        types.iter().position(|(_, list)| ids.iter().all(|id| list.contains(id)))
    };
    let found: Option<Vec<usize>> = (0..machine.kinds.len() as u32).map(type_of).collect();
    let Some(found) = found.filter(|_| machine.is_hybrid()) else { return };
    for (kind, at) in machine.kinds.iter_mut().zip(&found) {
        if !kind.infos.iter().any(|info| info.name == EVIDENCE[0]) {
            kind.infos.push(Info { name: EVIDENCE[0].to_owned(), value: types[*at].0.to_owned() });
        }
    }
    if machine.kinds.iter().any(|kind| kind.speed_rank.is_none()) {
        let of = |kind: usize| (found[kind], number(&machine.kinds[kind], "FrequencyMaxMHz"));
        let mut order: Vec<usize> = (0..machine.kinds.len()).collect();
        order.arrange_by_key(|kind| of(*kind));
        if order.windows(2).any(|pair| of(pair[0]) == of(pair[1])) {
            return;
        }
        let ranked = order.iter().zip(0..).map(|(kind, rank)| {
            let kind = machine.kinds[*kind].clone();
            Kind { speed_rank: Some(rank), how_known: how_known(Some(rank), &kind.infos), ..kind }
        });
        machine.kinds = ranked.collect();
        for kind in machine.strands.iter_mut().filter_map(|strand| strand.kind.as_mut()) {
            *kind = order.iter().position(|before| *before == *kind as usize).map_or(*kind, |at| at as u32);
        }
    }
}

fn number(kind: &Kind, name: &str) -> Option<u64> {
    kind.infos.iter().find(|info| info.name == name)?.value.parse().ok()
}

/// How a kind's rank is known, in words.
fn how_known(speed_rank: Option<u32>, infos: &[Info]) -> String {
    if speed_rank.is_none() {
        return "hwloc separates the kinds but does not rank them".to_owned();
    }
    let evidence: Vec<&str> = EVIDENCE.into_iter().filter(|name| infos.iter().any(|info| info.name == *name)).collect();
    if evidence.is_empty() {
        "ranked by the operating system or the topology file".to_owned()
    } else {
        format!("ranked by {}", evidence.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::{how_known, merge, name};
    use crate::{Info, Kind, Machine, Source, discover};

    fn info(name: &str, value: &str) -> Info {
        Info { name: name.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn the_rank_names_its_evidence() {
        let info = |name| info(name, "1");
        assert!(how_known(None, &[info("CoreType")]).contains("does not rank"));
        assert!(how_known(Some(1), &[info("Other")]).contains("operating system or the topology file"));
        let known = how_known(Some(0), &[info("FrequencyMaxMHz"), info("CoreType")]);
        assert!(known.ends_with("CoreType and FrequencyMaxMHz"), "{known}");
    }

    /// The kind of each core after merging, where core i is of kind i, the second half of the cores has another last cache if that is
    /// asked for, and these are the kinds' infos.
    #[track_caller]
    fn check(infos: &[&[(&str, &str)]], other_cache: bool, expected: &[u32]) -> Machine {
        let half = infos.len() / 2;
        let text = format!("pack:1 l3:2(size=32MiB) core:{half} pu:1");
        let mut machine = discover(&Source::Synthetic(text)).unwrap();
        machine.caches[1].size_bytes = Some(if other_cache { 16 << 20 } else { 32 << 20 });
        machine.strands.iter_mut().zip(0..).for_each(|(strand, at)| strand.kind = Some(at));
        let kind = |(rank, infos): (u32, &&[(&str, &str)])| Kind {
            speed_rank: Some(rank),
            how_known: String::new(),
            infos: infos.iter().map(|(name, value)| info(name, value)).collect(),
            strands: 1,
        };
        machine.kinds = (0..).zip(infos).map(kind).collect();
        merge(&mut machine);
        let found: Vec<u32> = machine.strands.iter().filter_map(|strand| strand.kind).collect();
        let ranks: Vec<u32> = machine.kinds.iter().filter_map(|kind| kind.speed_rank).collect();
        assert_eq!((found.as_slice(), ranks), (expected, (0..machine.kinds.len() as u32).collect()), "{infos:?}");
        machine
    }

    #[test]
    fn favoured_cores_are_no_kind_of_their_own() {
        let clock = |mhz: &'static str| [("FrequencyMaxMHz", mhz)];
        let [slow, fast, faster, little] = ["5352", "5837", "6321", "3300"].map(clock);
        let favoured: [&[(&str, &str)]; 4] = [&slow, &fast, &fast, &faster];
        let machine = check(&favoured, false, &[0, 0, 0, 0]);
        assert!(!machine.is_hybrid() && machine.kinds[0].infos[0].value == "6321", "{:?}", machine.kinds);
        check(&favoured, true, &[0, 0, 1, 1]);
        check(&[&little, &little, &slow, &fast], false, &[0, 0, 1, 1]);
        let typed = |kind: &'static str| [("CoreType", kind), ("FrequencyMaxMHz", "5000")];
        let [atom, core] = ["IntelAtom", "IntelCore"].map(typed);
        check(&[&atom, &core], false, &[0, 1]);
        let [small, big] = ["459", "1024"].map(|capacity| [("LinuxCapacity", capacity), ("FrequencyMaxMHz", "3000")]);
        check(&[&small, &big], false, &[0, 1]);
        check(&[&[], &[]], false, &[0, 1]);
    }

    /// Two cores of each of three designs: hwloc ranks none where base frequencies are equal.
    #[test]
    fn cores_of_intel_have_their_type_and_rank() {
        let mut machine = discover(&Source::Synthetic("pack:1 core:6 pu:1".to_owned())).unwrap();
        machine.strands.iter_mut().zip([2, 2, 0, 0, 1, 1]).for_each(|(strand, kind)| strand.kind = Some(kind));
        let kind = |mhz: &str| Kind {
            speed_rank: None,
            how_known: how_known(None, &[]),
            infos: vec![info("FrequencyMaxMHz", mhz)],
            strands: 2,
        };
        machine.kinds = ["3600", "2500", "4500"].map(kind).to_vec();
        let unnamed = machine.clone();
        name(&mut machine, &[("IntelLowPower", vec![]), ("IntelAtom", vec![2, 3, 4, 5]), ("IntelCore", vec![0, 1])]);
        let found: Vec<u32> = machine.strands.iter().filter_map(|strand| strand.kind).collect();
        assert_eq!(found, [2, 2, 1, 1, 0, 0]);
        let types: Vec<&str> = machine.kinds.iter().map(|kind| kind.infos[1].value.as_str()).collect();
        assert_eq!(types, ["IntelAtom", "IntelAtom", "IntelCore"]);
        let ranks: Vec<Option<u32>> = machine.kinds.iter().map(|kind| kind.speed_rank).collect();
        assert_eq!(ranks, [Some(0), Some(1), Some(2)]);
        // A machine that is not Intel's is left as it is.
        let mut other = unnamed.clone();
        name(&mut other, &[("IntelAtom", vec![]), ("IntelCore", vec![])]);
        assert_eq!(other, unnamed);
    }
}
