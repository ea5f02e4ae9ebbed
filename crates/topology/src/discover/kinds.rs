//! The kinds of core of a hybrid machine, and how their rank is known.

use charz_data::Arrange;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use charz_system::cpuinfo;
use hwlocality::Topology;
use hwlocality::bitmap::BitmapRef;
use hwlocality::cpu::cpuset::CpuSet;
use hwlocality::object::types::ObjectType;

use super::midr;
use super::xml::escaped;

use crate::{Info, Kind, Machine, Strand, cpulist};

/// The ids in a set, ascending, as far as they are possible ids. An endless set so has an end.
pub(super) fn ids(set: BitmapRef<'_, CpuSet>) -> Vec<u32> {
    let ids = set.iter_set().map(|id| u32::try_from(usize::from(id)).unwrap_or(u32::MAX));
    ids.take_while(|id| *id <= cpulist::MAX_ID).collect()
}

/// The name of a design.
const CORE_TYPE: &str = "CoreType";

/// What hwloc ranks kinds by if they have no given rank, best first (`HWLOC_CPUKINDS_RANKING`, default strategy).
const EVIDENCE: [&str; 4] = [CORE_TYPE, "FrequencyMaxMHz", "FrequencyBaseMHz", "LinuxCapacity"];

/// Reads hwloc's kinds and gives each strand its own.
pub(super) fn read(topology: &Topology, machine: &mut Machine) {
    let mut kind_of: HashMap<u32, u32> = HashMap::new();
    // That there are no kinds is no error: most machines have one kind of core.
    for (index, kind) in (0u32..).zip(topology.cpu_kinds().into_iter().flatten()) {
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
    let designs = designs(topology);
    split(machine, &designs);
    merge(machine, &designs);
    name_designs(machine, &designs);
}

/// The names of Arm's processors by the CPU: on this machine from its registers, in a file from its packages, of which it names the first
/// processor of each. Empty where all have one name, which says nothing of kinds.
fn designs(topology: &Topology) -> BTreeMap<u32, String> {
    let mut designs = BTreeMap::new();
    if topology.is_this_system() {
        designs = midr::names(&cpuinfo::read());
    } else {
        for package in topology.objects_with_type(ObjectType::Package) {
            let info = |name: &str| package.info(name).map(|text| text.to_string_lossy().into_owned());
            let name = info("CPUImplementer").zip(info("CPUPart")).and_then(|(of, part)| midr::name_of(&of, &part));
            if let Some((name, cpuset)) = name.zip(package.cpuset()) {
                designs.extend(ids(cpuset).into_iter().map(|id| (id, name.clone())));
            }
        }
    }
    let first = designs.values().next();
    if designs.values().all(|name| Some(name) == first) { BTreeMap::new() } else { designs }
}

/// Makes several kinds of one that holds several designs, as where their clocks are the same, or not known. Those of one are equally fast.
fn split(machine: &mut Machine, designs: &BTreeMap<u32, String>) {
    if designs.is_empty() {
        return;
    }
    let mut parts: BTreeMap<(Option<u32>, &str), u32> = BTreeMap::new();
    let design = |strand: &Strand| (strand.kind, designs.get(&strand.os_id).map_or("", String::as_str));
    parts.extend(machine.strands.iter().map(|strand| (design(strand), 0)));
    let kinds = parts.iter_mut().zip(0..).map(|(((kind, _), number), at)| {
        *number = at;
        let kind = kind.and_then(|kind| machine.kinds.get(kind as usize)).cloned();
        let how_known = "the processors of the cores have different names, which do not rank them".to_owned();
        kind.unwrap_or(Kind { speed_rank: None, how_known, infos: Vec::new(), strands: 0 })
    });
    machine.kinds = kinds.collect();
    machine.strands.iter_mut().for_each(|strand| strand.kind = parts.get(&design(strand)).copied());
}

/// Gives kinds the name of their design.
fn name_designs(machine: &mut Machine, designs: &BTreeMap<u32, String>) {
    for strand in &machine.strands {
        let kind = strand.kind.and_then(|kind| machine.kinds.get_mut(kind as usize));
        if let Some((kind, name)) = kind.zip(designs.get(&strand.os_id))
            && !kind.infos.iter().any(|info| info.name == CORE_TYPE)
        {
            kind.infos.push(Info { name: CORE_TYPE.to_owned(), value: name.clone() });
        }
    }
}

/// How many times a number of a core may be that of the next slower core of its kind: those of big and little cores are further apart.
const ALIKE: f64 = 1.1;

/// Makes one kind of the cores of one design: without a base frequency hwloc makes a kind of each maximum, and where firmware rates each
/// core, as on AMD and Arm, there may be as many as cores. A kind is then described by its fastest cores.
///
/// Cores are of one design if their names and the sizes of their own caches are equal, and their numbers close. A cache that neighbours
/// share is none of a core's own: on one die of AMD's X3D processors the L3 is three times that of the other, and the cores are the same.
fn merge(machine: &mut Machine, names: &BTreeMap<u32, String>) {
    const NUMBERS: [&str; 3] = ["LinuxCapacity", "FrequencyMaxMHz", "FrequencyBaseMHz"];
    // The name of a kind, its caches, its numbers.
    let of = |kind: &Kind| {
        let name = kind.infos.iter().find(|info| info.name == CORE_TYPE).map(|info| info.value.clone());
        (name, Vec::new(), NUMBERS.map(|name| number(kind, name).unwrap_or(0)))
    };
    let mut designs: Vec<(Option<String>, Vec<u64>, [u64; 3])> = machine.kinds.iter().map(of).collect();
    machine.count_strands();
    for strand in &machine.strands {
        if let Some((name, caches, _)) = strand.kind.and_then(|kind| designs.get_mut(kind as usize)) {
            *name = name.take().or_else(|| names.get(&strand.os_id).cloned());
            *caches = own_caches(machine, strand).max(std::mem::take(caches));
        }
    }
    let is_near = |(one, other): (&u64, &u64)| *one.max(other) as f64 <= ALIKE * *one.min(other) as f64;
    let alike = |one: usize, other: usize| {
        let ((name, caches, one), (of, others, other)) = (&designs[one], &designs[other]);
        let mut known = one.iter().zip(other).filter(|(one, other)| **one > 0 && **other > 0).peekable();
        let is_equal = name == of && caches.iter().zip(others).all(|(one, other)| one == other);
        is_equal && known.peek().is_some() && known.all(is_near)
    };
    let mut order: Vec<usize> = (0..machine.kinds.len()).collect();
    order.arrange_by(|one, other| designs[*one].cmp(&designs[*other]));
    let mut groups: Vec<Vec<usize>> = order.chunk_by(|one, other| alike(*one, *other)).map(<[usize]>::to_vec).collect();
    // hwloc has them by rank, the slowest first.
    groups.arrange_by_key(|group| group.iter().copied().max());
    let mut kinds = Vec::new();
    let mut kind_of = vec![0; machine.kinds.len()];
    let mut latest = (None, 0);
    for (at, group) in (0u32..).zip(&groups) {
        group.iter().for_each(|kind| kind_of[*kind] = at);
        let Some(fastest) = group.iter().max().map(|kind| machine.kinds[*kind].clone()) else { continue };
        if fastest.speed_rank != latest.0 {
            latest = (fastest.speed_rank, at);
        }
        kinds.push(Kind { speed_rank: fastest.speed_rank.map(|_| latest.1), ..fastest });
    }
    machine.kinds = kinds;
    for kind in machine.strands.iter_mut().filter_map(|strand| strand.kind.as_mut()) {
        *kind = kind_of[*kind as usize];
    }
}

/// The sizes of the caches for data that no other core shares, from the innermost outwards, up to the first that is not known.
fn own_caches(machine: &Machine, strand: &Strand) -> Vec<u64> {
    let of_core = strand.core.and_then(|core| machine.cores.get(core as usize)).map_or(1, |core| core.strands);
    let own = machine.data_caches(strand).take_while(|(_, cache)| cache.strands <= of_core);
    own.map_while(|(_, cache)| cache.size_bytes).collect()
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
        if !kind.infos.iter().any(|info| info.name == CORE_TYPE) {
            kind.infos.push(Info { name: CORE_TYPE.to_owned(), value: types[*at].0.to_owned() });
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

/// The kinds of a machine in hwloc XML, in which `mask` writes ids.
pub(super) fn written(machine: &Machine, mask: fn(&[usize]) -> String) -> String {
    let mut text = String::new();
    for (at, kind) in (0u32..).zip(&machine.kinds) {
        let own = machine.strands.iter().filter(|strand| strand.kind == Some(at));
        let own: Vec<usize> = own.map(|strand| strand.os_id as usize).collect();
        if own.is_empty() {
            continue;
        }
        let rank = kind.speed_rank.map(|rank| format!(" forced_efficiency=\"{rank}\"")).unwrap_or_default();
        let _ = writeln!(text, "  <cpukind cpuset=\"{}\"{rank}>", mask(&own));
        for info in &kind.infos {
            let (name, value) = (escaped(&info.name), escaped(&info.value));
            let _ = writeln!(text, "    <info name=\"{name}\" value=\"{value}\"/>");
        }
        text.push_str("  </cpukind>\n");
    }
    text
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
    use super::*;
    use crate::{Source, discover};

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
        merge(&mut machine, &BTreeMap::new());
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
        check(&favoured, true, &[0, 0, 0, 0]);
        check(&[&little, &little, &slow, &fast], false, &[0, 0, 1, 1]);
        let typed = |kind: &'static str, mhz: &'static str| [("CoreType", kind), ("FrequencyMaxMHz", mhz)];
        let [low, atom] = ["2500", "5000"].map(|mhz| typed("IntelAtom", mhz));
        let [core, favoured] = ["5000", "5200"].map(|mhz| typed("IntelCore", mhz));
        check(&[&low, &atom, &core, &favoured], false, &[0, 1, 2, 2]);
        let [small, big] = ["459", "1024"].map(|capacity| [("LinuxCapacity", capacity), ("FrequencyMaxMHz", "3000")]);
        check(&[&small, &big], false, &[0, 1]);
        check(&[&[], &[]], false, &[0, 1]);
    }

    fn kinds(machine: &Machine) -> Vec<Option<u32>> {
        machine.strands.iter().map(|strand| strand.kind).collect()
    }

    /// Two clusters with a big and a little core each: what they share says nothing of a core, what each has for itself does.
    #[test]
    fn a_design_is_known_by_its_own_caches() {
        let mut machine = discover(&Source::Synthetic("pack:1 l3:2(size=8MiB) l2:2 core:1 pu:1".to_owned())).unwrap();
        let capacity = |(rank, capacity): (u32, &str)| Kind {
            speed_rank: Some(rank),
            how_known: String::new(),
            infos: vec![info("LinuxCapacity", capacity)],
            strands: 1,
        };
        machine.kinds = (0..).zip(["930", "935", "990", "1024"]).map(capacity).collect();
        machine.strands.iter_mut().zip([0, 2, 1, 3]).for_each(|(strand, kind)| strand.kind = Some(kind));
        machine.caches.iter_mut().for_each(|cache| cache.size_bytes = Some(2 << (16 + 3 * (cache.index % 2))));
        merge(&mut machine, &BTreeMap::new());
        assert_eq!(kinds(&machine), [Some(0), Some(1), Some(0), Some(1)]);
        assert_eq!(machine.kinds.iter().map(|kind| kind.speed_rank).collect::<Vec<_>>(), [Some(0), Some(1)]);
    }

    #[test]
    fn a_design_is_known_by_its_name() {
        let names = |names: [&str; 4]| (0..).zip(names.map(str::to_owned)).collect::<BTreeMap<u32, String>>();
        let named = |clocks: &[&str], of: [u32; 4], names: &BTreeMap<u32, String>| {
            let mut machine = discover(&Source::Synthetic("pack:1 core:4 pu:1".to_owned())).unwrap();
            let kind = |(rank, mhz): (u32, &&str)| Kind {
                speed_rank: Some(rank),
                how_known: String::new(),
                infos: vec![info("FrequencyMaxMHz", mhz)],
                strands: 1,
            };
            machine.kinds = (0..).zip(clocks).map(kind).collect();
            let of = of.map(|kind| Some(kind).filter(|kind| (*kind as usize) < clocks.len()));
            machine.strands.iter_mut().zip(of).for_each(|(strand, kind)| strand.kind = kind);
            split(&mut machine, names);
            merge(&mut machine, names);
            name_designs(&mut machine, names);
            machine
        };
        let ranks = |machine: &Machine| machine.kinds.iter().map(|kind| kind.speed_rank).collect::<Vec<_>>();
        let types = |machine: &Machine| {
            let of = |kind: &Kind| kind.infos.iter().find(|info| info.name == CORE_TYPE).map(|info| info.value.clone());
            machine.kinds.iter().filter_map(of).collect::<Vec<_>>()
        };
        // A little core whose clock is near that of a big one.
        let phone = named(&["1800", "1920", "2600"], [0, 0, 1, 2], &names(["A", "A", "B", "B"]));
        assert_eq!((kinds(&phone), ranks(&phone)), ([0, 0, 1, 2].map(Some).to_vec(), [0, 1, 2].map(Some).to_vec()));
        assert_eq!(types(&phone), ["A", "B", "B"]);
        let unnamed = named(&["1800", "1920", "2600"], [0, 0, 1, 2], &BTreeMap::new());
        assert_eq!((kinds(&unnamed), types(&unnamed).len()), ([0, 0, 0, 1].map(Some).to_vec(), 0));
        // Clocks that are the same rank no design, and neither do clocks that are not known.
        let alike = named(&["2000", "3000"], [0, 0, 1, 1], &names(["A", "B", "B", "B"]));
        assert_eq!((kinds(&alike), ranks(&alike)), ([0, 1, 2, 2].map(Some).to_vec(), [0, 0, 2].map(Some).to_vec()));
        let unknown = named(&[], [0; 4], &names(["A", "B", "B", "A"]));
        assert_eq!((kinds(&unknown), ranks(&unknown)), ([0, 1, 1, 0].map(Some).to_vec(), vec![None, None]));
        assert_eq!(types(&unknown), ["A", "B"]);
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
