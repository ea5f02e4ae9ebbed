//! The table of machines: what each is, what it runs, and what has to hold.

mod groups;
mod hotplug;
mod restricted;
mod whole;

use super::Machine;
use super::boot::Architecture::{Arm, X86};
use super::shape::{Node, Shape};

const TWO_SOCKETS: Shape = Shape { sockets: 2, clusters: 1, cores: 4, threads: 2 };
const TWO_NODES: [Node; 2] = [node(0, 7, 1024), node(8, 15, 1024)];

const fn node(first: u32, last: u32, mib: u32) -> Node {
    Node { cpus: Some((first, last)), mib }
}

pub(super) const MACHINES: &[Machine] = &[
    Machine {
        name: "two-sockets",
        about: "x86_64, 2 sockets x 4 cores x 2 threads, 2 NUMA nodes",
        architecture: X86,
        shape: TWO_SOCKETS,
        nodes: &TWO_NODES,
        script: whole::script,
        checks: whole::check,
    },
    Machine {
        name: "restricted",
        about: "the same with a CPU offline, a cpuset of seven CPUs and one NUMA node, and a quota of half a CPU",
        architecture: X86,
        shape: TWO_SOCKETS,
        nodes: &TWO_NODES,
        script: restricted::script,
        checks: restricted::check,
    },
    Machine {
        name: "hotplug",
        about: "the same, whose CPUs go offline during a sweep and come back",
        architecture: X86,
        shape: TWO_SOCKETS,
        nodes: &TWO_NODES,
        script: hotplug::script,
        checks: hotplug::check,
    },
    Machine {
        name: "groups",
        about: "the same with control groups: cpu.max, memory.max, memory.high, pids.max, and a cpuset partition",
        architecture: X86,
        shape: TWO_SOCKETS,
        nodes: &TWO_NODES,
        script: groups::script,
        checks: groups::check,
    },
    Machine {
        name: "four-sockets",
        about: "x86_64, 4 sockets x 16 cores x 2 threads; of 5 NUMA nodes one has no memory and one no CPUs",
        architecture: X86,
        shape: Shape { sockets: 4, clusters: 1, cores: 16, threads: 2 },
        nodes: &[
            node(0, 31, 768),
            node(32, 63, 768),
            node(64, 95, 768),
            node(96, 127, 0),
            Node { cpus: None, mib: 512 },
        ],
        script: whole::script,
        checks: whole::check,
    },
    Machine {
        name: "clusters",
        about: "aarch64, 2 sockets x 2 clusters x 2 cores, 2 NUMA nodes",
        architecture: Arm,
        shape: Shape { sockets: 2, clusters: 2, cores: 2, threads: 1 },
        nodes: &[node(0, 3, 1024), node(4, 7, 1024)],
        script: whole::script,
        checks: whole::check,
    },
    Machine {
        name: "arm-64",
        about: "aarch64, 64 CPUs: 4 sockets x 16 cores, 4 NUMA nodes",
        architecture: Arm,
        shape: Shape { sockets: 4, clusters: 1, cores: 16, threads: 1 },
        nodes: &[node(0, 15, 512), node(16, 31, 512), node(32, 47, 512), node(48, 63, 512)],
        script: whole::script,
        checks: whole::check,
    },
];
