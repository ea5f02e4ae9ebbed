//! Strands as LIKWID names them: by their numbers within a domain.

use charz_data::Arrange;
use charz_data::escape::counted;
use std::collections::HashSet;
use std::fmt;

use super::{Mapper, Order, misfit};
use crate::{Error, Machine, Strand, cpulist};

/// A part of the machine, numbered from 0 among its like.
#[derive(Clone, Copy)]
enum Domain {
    Node,
    Socket(u32),
    LastCache(u32),
    NumaNode(u32),
}

/// Numbers within domains, in this order.
struct Likwid(Vec<(Domain, Vec<u32>)>);

/// Whether a mapping begins with a domain, as in `S0:0-3`.
pub(super) fn begins_with_domain(text: &str) -> bool {
    text.split_once(':').is_some_and(|(domain, _)| Domain::read(domain).is_some())
}

pub(super) fn read(text: &str) -> Result<(Box<dyn Mapper>, String), String> {
    let part = |part: &str| {
        let (domain, numbers) = part.split_once(':')?;
        Some((Domain::read(domain)?, numbers.to_owned()))
    };
    let mut parts = Vec::new();
    for text in text.split('@') {
        let Some((domain, numbers)) = part(text) else {
            return Err(format!(
                "{} does not begin with a domain (N, S0, C0 or M0) and a colon; write S0:0-3@S1:0-3",
                crate::error::quote(text)
            ));
        };
        parts.push((domain, cpulist::parse(&numbers)?));
    }
    let mapper = Likwid(parts);
    let canonical = mapper.to_string();
    Ok((Box::new(mapper), canonical))
}

impl Domain {
    fn read(text: &str) -> Option<Domain> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        match (text, text.get(1..).and_then(digits)) {
            ("N", _) => Some(Domain::Node),
            (_, Some(number)) if text.starts_with('S') => Some(Domain::Socket(number)),
            (_, Some(number)) if text.starts_with('C') => Some(Domain::LastCache(number)),
            (_, Some(number)) if text.starts_with('M') => Some(Domain::NumaNode(number)),
            _ => None,
        }
    }

    fn holds(self, machine: &Machine, strand: &Strand, last_caches: &[u32], nodes: &[u32]) -> bool {
        let is = |own: Option<&u32>, numbered: &[u32], at: u32| own.is_some() && own == numbered.get(at as usize);
        match self {
            Domain::Node => true,
            Domain::Socket(number) => machine.package_of(strand) == Some(number),
            Domain::LastCache(number) => is(strand.caches.last(), last_caches, number),
            Domain::NumaNode(number) => is(strand.numa.as_ref(), nodes, number),
        }
    }
}

impl Mapper for Likwid {
    fn order(&self, machine: &Machine) -> Result<Order, Error> {
        let refuse = |reason: String| misfit(&format!("likwid:{self}"), &reason);
        let mut seen = HashSet::new();
        let mut last_caches: Vec<u32> =
            machine.strands.iter().filter_map(|strand| strand.caches.last().copied()).collect();
        last_caches.retain(|cache| seen.insert(*cache));
        // As in LIKWID's affinity.c: nodes have numbers from 0 in the order of their ids, and a domain has the CPUs of the cpuset.
        let mut nodes: Vec<u32> = (0..).take(machine.numa_nodes.len()).collect();
        nodes.arrange_by_key(|node| machine.node_id(*node));
        let mut ids = Vec::new();
        for (domain, numbers) in &self.0 {
            let mut within: Vec<&Strand> =
                machine.usable_strands().filter(|strand| domain.holds(machine, strand, &last_caches, &nodes)).collect();
            // LIKWID numbers the first strands of all cores before the second ones.
            within.arrange_by_key(|strand| strand.strand_in_core);
            if within.is_empty() {
                return Err(refuse(format!("there is no domain {domain} with CPUs to use")));
            }
            for number in numbers {
                let strand = within.get(*number as usize).ok_or_else(|| {
                    let places: Vec<u32> = (0..).take(within.len()).collect();
                    let has = counted(within.len(), "CPU");
                    refuse(format!("the domain {domain} has {has}, {}", cpulist::print(&places)))
                })?;
                ids.push(strand.os_id);
            }
        }
        match super::list::first_repeated(&ids) {
            None => Ok(Order::Strands(ids)),
            Some(id) => Err(refuse(format!("it names CPU {id} twice; name it once"))),
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Domain::Node => f.write_str("N"),
            Domain::Socket(number) => write!(f, "S{number}"),
            Domain::LastCache(number) => write!(f, "C{number}"),
            Domain::NumaNode(number) => write!(f, "M{number}"),
        }
    }
}

impl fmt::Display for Likwid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (domain, numbers)) in self.0.iter().enumerate() {
            write!(f, "{}{domain}:{}", if at > 0 { "@" } else { "" }, cpulist::print(numbers))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Error, Machine, Mapping, Order, Source, discover};

    fn server() -> Machine {
        discover(&Source::Synthetic("Package:2 [NUMA(memory=1GB)] L3:2 Core:2 PU:2".into())).unwrap()
    }

    fn order(text: &str) -> Result<Vec<u32>, Error> {
        order_on(&server(), text)
    }

    fn order_on(machine: &Machine, text: &str) -> Result<Vec<u32>, Error> {
        match text.parse::<Mapping>()?.order(machine)? {
            Order::Strands(ids) => Ok(ids),
            Order::Floating => panic!("{text} binds no worker"),
        }
    }

    #[test]
    fn numbers_are_those_within_a_domain_first_strands_first() {
        for (text, expected) in [
            ("likwid:S0:0-3@S1:0-1", [0, 2, 4, 6, 8, 10]),
            ("S1:0,4@S0:0,4@N:2-3", [8, 9, 0, 1, 4, 6]),
            ("C1:0-1@C2:0-3", [4, 6, 8, 10, 9, 11]),
            ("M1:0-2@M0:7,5,6", [8, 10, 12, 7, 3, 5]),
        ] {
            assert_eq!(order(text).unwrap(), expected, "{text}");
        }
        assert_eq!("S1:0,1,2@N:7".parse::<Mapping>().unwrap().to_string(), "likwid:S1:0-2@N:7");
    }

    #[test]
    fn nodes_go_by_their_ids_and_cpus_are_those_of_the_cpuset() {
        let mut machine = server();
        (machine.numa_nodes[0].os_id, machine.numa_nodes[1].os_id) = (Some(9), Some(4));
        machine.strands[..9].iter_mut().for_each(|strand| strand.usable = false);
        assert_eq!(order_on(&machine, "M0:0-6").unwrap(), [10, 12, 14, 9, 11, 13, 15]);
        assert_eq!(order_on(&machine, "N:0").unwrap(), [10]);
        assert!(order_on(&machine, "M1:0").unwrap_err().to_string().contains("M1"));
        let plain = discover(&Source::Synthetic("Core:4 PU:1".into())).unwrap();
        assert_eq!(order_on(&plain, "S0:3,0").unwrap(), [3, 0], "a machine without sockets is one");
    }

    #[test]
    fn what_the_machine_does_not_have_is_refused() {
        for (text, word) in [
            ("S2:0", "domain S2"),
            ("C9:0", "domain C9"),
            ("S0:8", "8 CPUs, 0-7"),
            ("S0:0@N:0", "CPU 0 twice"),
            ("S0:x", "not a CPU id"),
            ("S0:0@x", "does not begin with a domain"),
            ("likwid:0-3", "does not begin with a domain"),
        ] {
            let error = order(text).unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
