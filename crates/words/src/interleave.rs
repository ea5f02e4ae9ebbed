//! Weights of interleaved memory in words.

use charz_data::escape::counted;
use charz_data::machine::Machine;
use charz_data::{cpulist, interleave_weights};
use charz_estimate::grouped;

/// The page ratio that follows from the bandwidths of nodes by their OS ids, with the ratio of the kernel, and the commands that set it and
/// use it. `None` where pages are to be spread evenly, or a bandwidth is missing.
///
/// Weights are those of Linux 6.9 and later, `numactl` takes them since 2.0.19.
pub fn weights(machine: &Machine, bandwidths: &[(u32, f64)]) -> Option<[String; 2]> {
    let rates: Vec<f64> = bandwidths.iter().map(|(_, rate)| *rate).collect();
    let wanted = interleave_weights(&rates);
    if wanted.windows(2).all(|two| two[0] == two[1]) {
        return None;
    }
    let mut nodes: Vec<(u32, u32)> = bandwidths.iter().zip(wanted).map(|((node, _), weight)| (*node, weight)).collect();
    nodes.sort_unstable();
    let of_kernel = |id: u32| machine.numa_nodes.iter().find(|node| node.os_id == Some(id))?.tier?.weight;
    let each = grouped(&nodes, |(_, weight)| *weight).into_iter().map(|alike| {
        let ids: Vec<u32> = alike.iter().map(|(node, _)| *node).collect();
        let (list, each) = (cpulist::print(&ids), if ids.len() > 1 { " each" } else { "" });
        format!("{}{each} on node{} {list}", counted(alike[0].1 as usize, "page"), if ids.len() > 1 { "s" } else { "" })
    });
    let kernels: Option<Vec<u32>> = nodes.iter().map(|(node, _)| of_kernel(*node)).collect();
    let beside = match kernels {
        Some(kernels) if kernels.iter().eq(nodes.iter().map(|(_, weight)| weight)) => {
            ", as the kernel has it".to_owned()
        }
        Some(kernels) => {
            let kernels: Vec<String> = kernels.iter().map(u32::to_string).collect();
            format!(" (the kernel has {})", kernels.join(", "))
        }
        None => String::new(),
    };
    let sentence = format!("interleaving by bandwidth: {}{beside}", each.collect::<Vec<_>>().join(" to "));
    let other = nodes.iter().filter(|(node, weight)| of_kernel(*node) != Some(*weight));
    let set = |alike: Vec<&(u32, u32)>| {
        let ids: Vec<String> = alike.iter().map(|(node, _)| node.to_string()).collect();
        let (ids, weight) = (ids.join(" "), alike[0].1);
        format!("for n in {ids}; do echo {weight} > /sys/kernel/mm/mempolicy/weighted_interleave/node$n; done")
    };
    let list: Vec<u32> = nodes.iter().map(|(node, _)| *node).collect();
    let start = format!("numactl --weighted-interleave={} PROGRAM", cpulist::print(&list));
    let lines: Vec<String> = grouped(other, |(_, weight)| *weight).into_iter().map(set).chain([start]).collect();
    Some([sentence, lines.join("; ")])
}

#[cfg(test)]
mod tests {
    use super::weights;
    use charz_data::machine::{MemoryTier, NumaNode};
    use charz_data::report::fixtures::report;

    #[test]
    fn only_weights_that_differ_from_the_kernels_are_written() {
        let mut machine = report(Vec::new()).machine;
        let node = |id, weight| {
            let tier = Some(MemoryTier { weight, ..MemoryTier::default() });
            NumaNode { os_id: Some(id), tier, ..machine.numa_nodes[0].clone() }
        };
        machine.numa_nodes = vec![node(0, Some(1)), node(2, Some(1))];
        let bandwidths = [(0, 50e9), (2, 200e9)];
        let [sentence, line] = weights(&machine, &bandwidths).unwrap();
        assert!(
            sentence.contains("1 page on node 0 to 4 pages on node 2") && sentence.contains("has 1, 1"),
            "{sentence}"
        );
        assert!(line.starts_with("for n in 2; do echo 4 >") && !line.contains("echo 1"), "{line}");
        assert_eq!(weights(&machine, &[(0, 50e9), (2, 50e9)]), None);
        machine.numa_nodes[1].tier = Some(MemoryTier { weight: Some(4), ..MemoryTier::default() });
        let [sentence, line] = weights(&machine, &bandwidths).unwrap();
        assert!(sentence.contains("as the kernel has it") && !line.contains("echo"), "{sentence} {line}");
    }
}
