//! What is missing or impossible among the kernel's lists, in sentences.

use charz_system::sysfs::{self, Fault, Listing};

use crate::cpulist;
use crate::error::quote;

/// What follows where a file or folder has a fault, by the end of its path.
const LOST: [(&str, &str); 14] = [
    ("cpu/online", "the CPUs are those that have a folder"),
    ("/topology", "sockets and cores are not known"),
    ("_siblings_list", "sockets or cores may be wrong"),
    ("_cpus_list", "sockets or cores may be wrong"),
    ("physical_package_id", "the socket has no number"),
    ("core_id", "the core has no number"),
    ("/cache", "caches are not known"),
    ("level", "the cache is left out"),
    ("type", "the cache is left out"),
    ("shared_cpu_list", "the cache is left out"),
    ("cpulist", "the NUMA nodes of CPUs may be wrong"),
    ("meminfo", "the memory of the node may be wrong"),
    ("distance", "distances between NUMA nodes are not known"),
    ("node/online", "the NUMA nodes are those that have a folder"),
];

/// A sentence for each kind of file with a fault.
pub(super) fn doubts(listing: &Listing) -> impl Iterator<Item = String> {
    listing.faults.iter().map(|((path, fault), ids)| {
        let whole = format!("{}/{path}", sysfs::SYSTEM);
        if path == "node" {
            return format!("there is no {whole}: one NUMA node was made of the whole machine");
        }
        let ids: Vec<u32> = ids.iter().copied().collect();
        let of = match (ids.as_slice(), path.starts_with("node")) {
            ([], _) => String::new(),
            (ids, false) => format!(" of {}", cpulist::cpus(ids)),
            ([id], true) => format!(" of NUMA node {id}"),
            (ids, true) => format!(" of NUMA nodes {}", cpulist::shown(ids)),
        };
        let state = match fault {
            Fault::Missing => "is missing".to_owned(),
            Fault::Unreadable => "cannot be read".to_owned(),
            Fault::Empty => "is empty".to_owned(),
            Fault::Impossible(text) => format!("holds {}, which cannot be", quote(text)),
        };
        let lost = LOST.iter().find(|(end, _)| path.ends_with(end)).map_or("it is left out", |(_, lost)| lost);
        format!("{whole}{of} {state}: {lost}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_a_sentence_each() {
        let mut listing = Listing::default();
        let mut add = |path: &str, fault, ids: &[u32]| {
            listing.faults.insert((path.to_owned(), fault), ids.iter().copied().collect());
        };
        add("cpu/cpu*/topology", Fault::Missing, &[0, 1, 2]);
        add("cpu/cpu*/topology/physical_package_id", Fault::Impossible("65535".to_owned()), &[3]);
        add("node/node*/distance", Fault::Empty, &[1]);
        add("cpu/online", Fault::Unreadable, &[]);
        let said: Vec<String> = doubts(&listing).collect();
        let words = [
            "of CPUs 0-2 is missing: sockets",
            "of CPU 3 holds \"65535\"",
            "cpu/online cannot be read",
            "of NUMA node 1 is empty",
        ];
        for (sentence, words) in said.iter().zip(words) {
            assert!(sentence.contains(words) && sentence.starts_with(sysfs::SYSTEM), "{sentence}");
        }
    }
}
