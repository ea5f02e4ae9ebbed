//! The NUMA nodes that a memory policy means on a machine.

use charz_data::MemoryPolicy;

use crate::{Machine, cpulist};

/// The nodes that each worker's memory is to come from, by OS ids: an element a worker, or a single one for all;
/// none where each worker's own touch decides.
/// The error says why the policy cannot be followed on this machine, as a clause.
pub fn memory_homes(policy: MemoryPolicy, machine: &Machine, seats: &[Option<u32>]) -> Result<Vec<Vec<u32>>, String> {
    let nodes = machine.nodes_for_memory();
    match policy {
        MemoryPolicy::Local => return Ok(Vec::new()),
        MemoryPolicy::Node(id) => return check_node(machine, id).map(|()| vec![vec![id]]),
        MemoryPolicy::First | MemoryPolicy::Remote | MemoryPolicy::Interleaved => {}
    }
    if nodes.len() < 2 {
        let why = match policy {
            MemoryPolicy::First => "the first thread's is every thread's own, so it is local",
            _ => "there is no other to put memory on",
        };
        let has = if machine.numa_nodes.len() > 1 { " with memory to use" } else { "" };
        return Err(format!("one NUMA node{has} here: {why}"));
    }
    if policy == MemoryPolicy::Interleaved {
        return Ok(vec![nodes]);
    }
    let places = machine.node_of_strands();
    let own = |seat: &Option<u32>| match seat {
        Some(seat) => places.get(seat).copied().ok_or_else(|| format!("the NUMA node of CPU {seat} is not known")),
        None => {
            Err(format!("a floating thread is on no NUMA node, so no memory is {policy}; take a mapping that seats"))
        }
    };
    match (policy, seats.first()) {
        (MemoryPolicy::First, Some(first)) => {
            let own = own(first)?;
            let why = || format!("NUMA node {own} of the first thread has no memory to use, and several are as near");
            machine.local_node(own).map(|node| vec![vec![node]]).ok_or_else(why)
        }
        _ => {
            let far = |seat| own(seat).map(|own| machine.farthest_node(own).into_iter().collect());
            seats.iter().map(far).collect()
        }
    }
}

/// Whether this process can put memory on a node, by its OS id.
fn check_node(machine: &Machine, id: u32) -> Result<(), String> {
    let mut known = machine.nodes_for_memory();
    known.sort_unstable();
    if known.contains(&id) {
        return Ok(());
    }
    let list = cpulist::print(&known);
    Err(match machine.numa_nodes.iter().find(|node| node.os_id == Some(id)) {
        None => format!("no NUMA node {id} is listed; those with memory to use are {list}"),
        Some(node) if node.usable => format!("NUMA node {id} has no memory; those that have are {list}"),
        Some(_) => format!("memory on NUMA node {id} is not allowed; it is on {list}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, discover};

    fn machine(text: &str) -> Machine {
        discover(&Source::Synthetic(text.to_owned())).unwrap()
    }

    /// Four nodes with two strands each.
    fn four() -> Machine {
        machine("NUMA:4 Core:2 PU:1")
    }

    #[track_caller]
    fn check(machine: &Machine, policy: &str, seats: &[Option<u32>], expected: Result<&[&[u32]], &str>) {
        let found = memory_homes(policy.parse().unwrap(), machine, seats);
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{policy}"),
            (Err(found), Err(part)) => assert!(found.contains(part), "{policy}: {found}"),
            (found, expected) => panic!("{policy}: {found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn each_policy_names_its_nodes() {
        let seats = [Some(3), Some(0)];
        check(&four(), "local", &seats, Ok(&[]));
        check(&four(), "first", &seats, Ok(&[&[1]]));
        check(&four(), "interleaved", &seats, Ok(&[&[0, 1, 2, 3]]));
        check(&four(), "node:2", &seats, Ok(&[&[2]]));
        check(&four(), "remote", &seats, Ok(&[&[2], &[1]]));
    }

    #[test]
    fn remote_goes_by_claimed_distances() {
        let mut machine = four();
        machine.numa_distances =
            vec![vec![10, 21, 21, 32], vec![21, 10, 32, 21], vec![21, 32, 10, 21], vec![32, 21, 21, 10]];
        let seats: Vec<Option<u32>> = (0..8).map(Some).collect();
        check(&machine, "remote", &seats, Ok(&[&[3], &[3], &[2], &[2], &[1], &[1], &[0], &[0]]));
        machine.numa_nodes[3].usable = false;
        // The local memory of a node whose own is not allowed is the nearest.
        check(&machine, "first", &[Some(6)], Err("several are as near"));
        machine.numa_distances[3][2] = 20;
        check(&machine, "first", &[Some(6)], Ok(&[&[2]]));
        check(&machine, "remote", &[Some(0)], Ok(&[&[1]]));
        machine.numa_nodes[1].memory_bytes = Some(0);
        check(&machine, "remote", &[Some(0)], Ok(&[&[2]]));
        check(&machine, "interleaved", &[Some(0)], Ok(&[&[0, 2]]));
        // The local memory of a node without any is the nearest.
        check(&machine, "first", &[Some(2)], Ok(&[&[0]]));
        machine.numa_distances[1][2] = 21;
        check(&machine, "first", &[Some(2)], Err("no memory to use, and several are as near"));
        assert_eq!(machine.nodes_of(&[Some(2), Some(4), None]), [None, Some(2), None]);
    }

    #[test]
    fn what_cannot_be_followed_says_why() {
        let one = machine("Package:2 Core:2 PU:1");
        for policy in ["remote", "interleaved", "first"] {
            check(&one, policy, &[Some(0)], Err("one NUMA node here"));
        }
        check(&one, "node:0", &[Some(0)], Ok(&[&[0]]));
        check(&one, "node:1", &[Some(0)], Err("no NUMA node 1"));
        let mut lacking = four();
        lacking.numa_nodes[1].usable = false;
        lacking.numa_nodes[2].memory_bytes = Some(0);
        check(&lacking, "node:1", &[Some(0)], Err("0,3"));
        check(&lacking, "node:2", &[Some(0)], Err("no memory"));
        for policy in ["first", "remote"] {
            check(&four(), policy, &[None], Err("floating"));
        }
        check(&four(), "interleaved", &[None], Ok(&[&[0, 1, 2, 3]]));
    }
}
