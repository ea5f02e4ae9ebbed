//! `charz numa --disk FILE`: how near the disk of a file is to each NUMA node.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use charz_data::machine::DeviceKind;
use charz_measure::disk::read_from_each_node;
use charz_system::devices::disks_of;
use charz_topology::{Backend, Binder, Machine, Source, discover};

use crate::exit::{Error, Exit};
use crate::view::{disk, look};

pub(super) fn run(file: &Path, is_json: bool, out: &mut dyn Write) -> Result<Exit, Error> {
    let machine = discover(&Source::ThisMachine)?;
    let about =
        std::fs::metadata(file).map_err(|error| Error::bad_input(format!("--disk: {}: {error}", file.display())))?;
    let device = [rustix::fs::major(about.dev()), rustix::fs::minor(about.dev())];
    let names = disks_of(Path::new("/"), device);
    let reads = read_from_each_node(file, &machine, &Binder::new(Backend::Hwloc), fastrand::u64(..))
        .map_err(|why| Error::bad_input(format!("--disk: {why}")))?;
    let found = disk::Disk { file: file.display().to_string(), stated: stated(&machine, &names), names, reads };
    match is_json {
        true => disk::write_json(&found, out)?,
        false => disk::write(&found, &look::of_stdout(), out)?,
    }
    Ok(Exit::Done)
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
