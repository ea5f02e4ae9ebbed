//! Descriptions of machines: hwloc's XML and synthetic ones. What our checks let pass, hwloc itself gets.

use std::collections::HashSet;

use charz::view::topo::FORMATS;
use charz_render::look::TerminalStyle;
use charz_topology::{MAPPERS, Machine, Source, discover, parsers};

use super::lists::assert_orders;
use super::{assert_harmless, assert_readable};

/// hwloc lays out larger machines too slowly to fuzz; the check has its say on all.
const MOST_STRANDS: u64 = 256;

/// A description that passes the check gives the machine that it describes.
pub(super) fn synthetic(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    match parsers::synthetic(text) {
        Err(reason) => assert_readable(&reason),
        Ok(strands) if strands <= MOST_STRANDS => {
            let machine = discover(&Source::Synthetic(text.to_owned())).expect("it passed the check");
            assert_eq!(machine.strands.len() as u64, strands, "{text:?}");
            assert_sane(&machine);
        }
        Ok(_) => {}
    }
}

/// A file that passes the check does not end hwloc, and what hwloc makes of it is a machine.
pub(super) fn xml(data: &[u8]) {
    match parsers::xml(data) {
        Err(reason) => assert_readable(&reason),
        Ok(text) => match parsers::machine(&text) {
            Err(reason) => assert_readable(&reason),
            Ok(machine) => assert_sane(&machine),
        },
    }
}

/// A machine has strands of different ids, names only parts that it has, can be shown, and can be filled by every mapper.
#[track_caller]
fn assert_sane(machine: &Machine) {
    let ids: HashSet<u32> = machine.strands.iter().map(|strand| strand.os_id).collect();
    assert!(!ids.is_empty() && ids.len() == machine.strands.len(), "strands have ids of their own");
    assert!(
        machine.absent.windows(2).all(|pair| pair[0] < pair[1]) && machine.absent.iter().all(|id| !ids.contains(id))
    );
    for strand in &machine.strands {
        let within = |index: Option<u32>, length: usize| index.is_none_or(|index| (index as usize) < length);
        assert!(within(strand.package, machine.packages.len()) && within(strand.core, machine.cores.len()));
        assert!(within(strand.numa, machine.numa_nodes.len()) && within(strand.kind, machine.kinds.len()));
        assert!(strand.caches.iter().all(|cache| (*cache as usize) < machine.caches.len()));
        assert!(strand.groups.iter().all(|group| (*group as usize) < machine.groups.len()));
        assert!(strand.numa_nodes.iter().all(|node| (*node as usize) < machine.numa_nodes.len()));
    }
    for format in FORMATS {
        let mut out = Vec::new();
        (format.write)(machine, &TerminalStyle::PLAIN, &mut out).expect("a vector takes all");
        assert_harmless(&String::from_utf8(out).expect("pages are text"));
    }
    for card in MAPPERS.iter().filter(|card| card.parameter.is_none()) {
        assert_orders(&card.name.parse().expect("the mapper needs no parameter"), machine);
    }
}
