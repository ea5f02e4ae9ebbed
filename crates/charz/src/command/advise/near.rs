//! A report's placements near a device.

use std::collections::BTreeSet;

use charz_data::cpulist;
use charz_data::report::{Cell, Report};
use charz_measure::sweep::node;
use charz_render::advise::Nearby;
use charz_topology::{Machine, Mapping, Near, Source, discover, place};

use crate::exit::{Error, Exit};

/// Which device, and the machine that has it if the report does not say.
pub struct Asked {
    pub device: String,
    pub topology: Option<Source>,
}

/// The report with the placements on CPUs local to the device; where it has none, with those that fit there, put there.
pub(super) fn near(report: &Report, asked: &Asked) -> Result<(Report, Nearby), Error> {
    let machine = machine(report, asked)?;
    let near = Near::of(&machine, &asked.device)?;
    let is_seated = |cell: &&Cell| !cell.seats.is_empty() && cell.seats.iter().all(Option::is_some);
    let seated = || report.cells.iter().filter(is_seated);
    let is_there = |cell: &&Cell| cell.seats.iter().flatten().all(|seat| near.is_local(*seat));
    let mut cells: Vec<Cell> = seated().filter(is_there).cloned().collect();
    let measured_there = !cells.is_empty();
    if !measured_there {
        let mut seen = BTreeSet::new();
        let moved = seated().filter_map(|cell| moved(cell, &machine, &near));
        cells = moved
            .filter(|cell| seen.insert((cell.kernel.clone(), format!("{:?}", cell.point), cell.mapping.clone())))
            .collect();
    }
    let mut cpus: Vec<u32> =
        machine.usable_strands().map(|strand| strand.os_id).filter(|id| near.is_local(*id)).collect();
    cpus.sort_unstable();
    if cells.is_empty() {
        let (device, cpus) = (&near.device, cpulist::print(&cpus));
        return Err(Error::ended(
            Exit::NoVerdict,
            format!(
                "--near {device}: the report has no placement that fits CPUs {cpus}; charz sweep --mapping list:{cpus} measures there"
            ),
        ));
    }
    let (device, memory_node, count) = (near.device.clone(), near.memory, cpus.len());
    let nearby = Nearby { device, cpus: cpulist::print(&cpus), count, memory_node, measured_there };
    Ok((Report { cells, ..report.clone() }, nearby))
}

/// As many threads in the same order on CPUs local to the device; `None` where there are fewer of these.
fn moved(cell: &Cell, machine: &Machine, near: &Near) -> Option<Cell> {
    let mapping = Mapping::of_data(&cell.mapping).ok()?;
    let order = near.order(mapping.order(machine).ok()?).ok()?;
    let seats = place(&order, cell.seats.len()).seats;
    if near.locals(&order) < seats.len() {
        return None;
    }
    let ids: Vec<u32> = seats.iter().flatten().copied().collect();
    Some(Cell { mapping: format!("list:{}", cpulist::print(&ids)), seats, ..cell.clone() })
}

/// The machine of the report with its devices: older reports, and those without names, have none.
fn machine(report: &Report, asked: &Asked) -> Result<Machine, Error> {
    let is_same = |machine: &Machine| machine.node_of_strands() == report.machine.node_of_strands();
    let source = match &asked.topology {
        None if !report.machine.devices.is_empty() => return Ok(report.machine.clone()),
        None if report.host.name.is_some() && report.host.name == node() => Source::ThisMachine,
        None => {
            return Err(Error::bad_input(
                "--near: the report names no devices and is not of this machine; name its machine with --topology FILE, written there by lstopo --of xml",
            ));
        }
        Some(source) => source.clone(),
    };
    let machine = discover(&source)?;
    if !is_same(&machine) {
        return Err(Error::bad_input(format!(
            "--topology: the report was measured on another machine than {source}: CPUs or NUMA nodes differ; name the one that it was measured on"
        )));
    }
    Ok(Machine { devices: machine.devices, ..report.machine.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::machine::{Device, DeviceKind};
    use charz_data::report::Unit;
    use charz_data::report::fixtures::{cell, report};

    fn of(mapping: &str, seats: &[u32]) -> Cell {
        cell("mem-read", seats.len() as u64, Unit::BytesPerSecond, 1e9).under(mapping).seated(seats)
    }

    fn with_device(cells: Vec<Cell>) -> Report {
        let mut machine = discover(&Source::Synthetic("pack:2 [numa(memory=1GiB)] core:4 pu:1".into())).unwrap();
        machine.enter_devices(vec![Device {
            names: vec!["eth5".to_owned()],
            kind: DeviceKind::Nic,
            model: None,
            pci: None,
            pci_root: None,
            package: Some(1),
            numa: Some(1),
            cpus: "4-7".to_owned(),
        }]);
        let report = report(cells);
        Report { machine, ..report }
    }

    fn asked() -> Asked {
        Asked { device: "eth5".to_owned(), topology: None }
    }

    #[test]
    fn what_was_measured_there_counts_alone() {
        let report = with_device(vec![of("compact", &[0, 1]), of("list:6,7", &[6, 7]), of("round-robin", &[0, 4])]);
        let (found, nearby) = near(&report, &asked()).unwrap();
        assert_eq!(found.cells.iter().map(|cell| cell.mapping.as_str()).collect::<Vec<_>>(), ["list:6,7"]);
        assert_eq!((nearby.measured_there, nearby.memory_node, nearby.cpus.as_str()), (true, Some(1), "4-7"));
    }

    #[test]
    fn other_placements_are_put_there_if_they_fit() {
        let all: Vec<u32> = (0..8).collect();
        let report = with_device(vec![of("compact", &[0, 1]), of("dumb", &[0, 1]), of("dumb", &all)]);
        let (found, nearby) = near(&report, &asked()).unwrap();
        assert_eq!(found.cells.iter().map(|cell| cell.mapping.as_str()).collect::<Vec<_>>(), ["list:4-5"]);
        assert!(!nearby.measured_there);
        assert!(near(&with_device(vec![of("dumb", &all)]), &asked()).is_err());
    }

    #[test]
    fn a_report_without_devices_needs_its_machine() {
        let mut report = with_device(vec![of("compact", &[0, 1])]);
        report.machine.devices.clear();
        report.host.name = None;
        assert!(near(&report, &asked()).is_err());
        let other = Asked { topology: Some(Source::Synthetic("pu:2".into())), ..asked() };
        assert!(near(&report, &other).is_err());
    }
}
