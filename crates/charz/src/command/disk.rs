//! `charz numa --disk FILE`: how near the disk of a file is to each NUMA node.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use charz_data::machine::DeviceKind;
use charz_measure::disk::read_from_each_node;
use charz_system::devices::disks_of;
use charz_topology::{Binder, Machine};

use super::sweep::{MeasuringContext, New};
use crate::exit::{Error, Exit};
use crate::view::{disk, look};

pub(super) fn run(file: &Path, new: &New, is_json: bool, out: &mut dyn Write) -> Result<Exit, Error> {
    let context = MeasuringContext::set(new.clock, new.binder, new.wait, new.quiet)?;
    let machine = &context.machine;
    let about =
        std::fs::metadata(file).map_err(|error| Error::bad_input(format!("--disk: {}: {error}", file.display())))?;
    let device = [rustix::fs::major(about.dev()), rustix::fs::minor(about.dev())];
    let names = disks_of(Path::new("/"), device);
    let reads = read_from_each_node(file, machine, &Binder::new(new.binder), fastrand::u64(..), &|| {
        context.signals.stop().raised()
    });
    let reads = reads.map_err(|why| Error::bad_input(format!("--disk: {why}")))?;
    let exit = context.signals.received().map_or(Exit::Done, |(exit, _)| exit);
    if reads.is_empty() {
        return Ok(exit);
    }
    let found = disk::Disk { file: file.display().to_string(), stated: stated(machine, &names), names, reads };
    match is_json {
        true => disk::write_json(&found, out)?,
        false => disk::write(&found, &look::of_stdout(), out)?,
    }
    Ok(exit)
}

/// The node that all of these disks hang on.
fn stated(machine: &Machine, names: &[String]) -> Option<u32> {
    let node = |name: &String| {
        let device = machine.device(name).filter(|device| device.kind == DeviceKind::Disk)?;
        Some(machine.node_id(device.numa?))
    };
    let nodes: BTreeSet<Option<u32>> = names.iter().map(node).collect();
    nodes.first().copied().flatten().filter(|_| nodes.len() == 1)
}
