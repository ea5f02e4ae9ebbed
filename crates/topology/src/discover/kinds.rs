//! The kinds of core of a hybrid machine, and how their rank is known.

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
        format!("ranked by hwloc, which knows {}", evidence.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::how_known;
    use crate::Info;

    #[test]
    fn the_rank_names_its_evidence() {
        let info = |name: &str| Info { name: name.to_owned(), value: "1".to_owned() };
        assert!(how_known(None, &[info("CoreType")]).contains("does not rank"));
        assert!(how_known(Some(1), &[info("Other")]).contains("operating system or the topology file"));
        let known = how_known(Some(0), &[info("FrequencyMaxMHz"), info("CoreType")]);
        assert!(known.ends_with("CoreType and FrequencyMaxMHz"), "{known}");
    }
}
