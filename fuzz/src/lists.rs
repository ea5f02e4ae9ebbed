//! Lists that people and programs write: strands, numbers of workers, mappings, the answers of mapper programs.

use std::collections::HashSet;
use std::sync::LazyLock;

use charz::parsers as parsers_of_tables;
use charz_topology::{Machine, Mapping, Order, Source, cpulist, discover, parse_mappings, parsers, place};

use super::assert_readable;

/// What is printed reads back, and no list is longer than there are ids.
pub(super) fn cpulist(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    match cpulist::parse(text) {
        Err(reason) => assert_readable(&reason),
        Ok(ids) => {
            assert!(!ids.is_empty() && ids.len() <= 2 * (cpulist::MAX_ID as usize + 1), "{} ids", ids.len());
            assert!(ids.iter().all(|id| *id <= cpulist::MAX_ID));
            assert_eq!(cpulist::parse(&cpulist::print(&ids)), Ok(ids));
        }
    }
}

/// Levels lie inside each other, so there are fewer of them than CPUs. Of large squares libFuzzer would find nothing but that they take long.
pub(super) fn latencies(data: &[u8]) {
    let Some(text) = str::from_utf8(data).ok().filter(|text| text.len() < 4096) else { return };
    match parsers_of_tables::latencies(text) {
        Err(reason) => assert_readable(&reason),
        Ok((cpus, levels)) => assert!(cpus > 1 && levels < cpus, "{levels} levels of {cpus} CPUs"),
    }
}

/// What is read of a table are numbers above 0, and reads back.
pub(super) fn sizes(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    match parsers_of_tables::latency_by_size(text) {
        Err(reason) => assert_readable(&reason),
        Ok(points) => {
            assert!(points.iter().all(|(_, ns)| ns.is_finite() && *ns > 0.0));
            let printed: String = points.iter().map(|(size, ns)| format!("{size},{ns}\n")).collect();
            assert_eq!(parsers_of_tables::latency_by_size(&printed), Ok(points));
        }
    }
}

/// Mappings read back as they are printed, and order the strands of a machine without naming one twice. Programs are not
/// started.
pub(super) fn mappings(data: &[u8]) {
    static MACHINE: LazyLock<Machine> = LazyLock::new(|| {
        let mut machine = discover(&Source::Synthetic("pack:2 [numa] core:3 pu:2".to_owned())).expect("a machine");
        machine.strands[7].usable = false;
        machine.absent = vec![12];
        machine
    });
    let Ok(text) = str::from_utf8(data) else { return };
    match parse_mappings(text) {
        Err(error) => assert_readable(&error.to_string()),
        Ok(mappings) => {
            let printed = mappings.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            assert_eq!(parse_mappings(&printed).as_ref(), Ok(&mappings), "{printed:?}");
            let safe = mappings.iter().filter(|mapping| !mapping.to_string().starts_with("command:"));
            safe.for_each(|mapping| assert_orders(mapping, &MACHINE));
        }
    }
}

/// An order names usable strands, none of them twice unless the user did, and workers are dealt along it.
#[track_caller]
pub(super) fn assert_orders(mapping: &Mapping, machine: &Machine) {
    match mapping.order(machine) {
        Err(error) => assert_readable(&error.to_string()),
        Ok(order) => {
            let workers = machine.strands.len() + 1;
            assert_eq!(place(&order, workers).seats.len(), workers);
            let Order::Strands(ids) = order else { return };
            let usable: HashSet<u32> = machine.usable_strands().map(|strand| strand.os_id).collect();
            let named: HashSet<u32> = ids.iter().copied().collect();
            let once = named.len() == ids.len() || mapping.repeated().is_some();
            assert!(once && named.is_subset(&usable), "{mapping}: {ids:?}");
        }
    }
}

/// An answer is the same in plain numbers and as JSON.
pub(super) fn answer(data: &[u8]) {
    match parsers::answer(data) {
        Err(reason) => assert_readable(&reason),
        Ok(ids) => {
            assert!(!ids.is_empty());
            let words = ids.iter().map(ToString::to_string).collect::<Vec<_>>();
            assert_eq!(parsers::answer(words.join(" ").as_bytes()).as_ref(), Ok(&ids));
            assert_eq!(parsers::answer(format!("[{}]", words.join(",")).as_bytes()), Ok(ids));
        }
    }
}
