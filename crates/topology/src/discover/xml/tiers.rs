//! What hwloc XML states of the speed of memory: its memory attributes, MiB per second and nanoseconds (hwloc/memattrs.h).

use std::collections::BTreeMap;

use super::value;
use crate::MemoryTier;

/// By the OS ids of nodes what a text that passed the check states of their memory, for the CPUs that it is fastest for.
pub(in crate::discover) fn tiers(text: &str) -> BTreeMap<u32, MemoryTier> {
    let number = |element: &str, name: &str| value(element, name)?.parse::<u64>().ok();
    let nodes = text.split('<').filter(|element| value(element, "type") == Some("NUMANode"));
    let nodes: BTreeMap<u64, u32> = nodes
        .filter_map(|element| Some((number(element, "gp_index")?, number(element, "os_index")?.try_into().ok()?)))
        .collect();
    let (mut found, mut attribute) = (BTreeMap::<u32, MemoryTier>::new(), None);
    for element in text.split('<') {
        if element.starts_with("memattr ") {
            attribute = value(element, "name");
        }
        let node = number(element, "target_obj_gp_index").and_then(|identity| nodes.get(&identity));
        let (Some(node), Some(stated)) = (node, number(element, "value").filter(|value| *value > 0)) else { continue };
        // Of an attribute without a way, and of reads, which come after it.
        match attribute {
            Some("Bandwidth" | "ReadBandwidth") => {
                let rate = stated.saturating_mul(1 << 20);
                let tier = found.entry(*node).or_default();
                tier.bytes_per_second = tier.bytes_per_second.max(Some(rate));
            }
            Some("Latency" | "ReadLatency") => {
                let tier = found.entry(*node).or_default();
                let stated = u32::try_from(stated).unwrap_or(u32::MAX);
                tier.latency_ns = Some(tier.latency_ns.map_or(stated, |known| known.min(stated)));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::tiers;

    #[test]
    fn attributes_are_those_of_the_fastest_access() {
        let text = "<object type=\"NUMANode\" os_index=\"3\" gp_index=\"9\"/>\
            <memattr name=\"Bandwidth\" flags=\"5\">\
            <memattr_value target_obj_type=\"NUMANode\" target_obj_gp_index=\"9\" value=\"10\" initiator_cpuset=\"0x1\"/>\
            <memattr_value target_obj_type=\"NUMANode\" target_obj_gp_index=\"9\" value=\"20\" initiator_cpuset=\"0x2\"/>\
            <memattr_value target_obj_type=\"NUMANode\" target_obj_gp_index=\"8\" value=\"90\" initiator_cpuset=\"0x2\"/></memattr>\
            <memattr name=\"Latency\" flags=\"6\">\
            <memattr_value target_obj_type=\"NUMANode\" target_obj_gp_index=\"9\" value=\"80\" initiator_cpuset=\"0x1\"/>\
            <memattr_value target_obj_type=\"NUMANode\" target_obj_gp_index=\"9\" value=\"70\" initiator_cpuset=\"0x2\"/></memattr>\
            <memattr name=\"odd\"><memattr_value target_obj_gp_index=\"9\" value=\"5\"/></memattr>";
        let found = tiers(text);
        assert_eq!((found.len(), found[&3].bytes_per_second, found[&3].latency_ns), (1, Some(20 << 20), Some(70)));
    }
}
