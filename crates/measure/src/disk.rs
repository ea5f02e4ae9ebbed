//! How long a disk takes to answer each NUMA node: reads of blocks of a file, one at a time, past the page cache.
//!
//! The kernel states the node of a disk's controller and never measures it. A read of 4 KiB goes from the node through the controller and
//! back, so its median differs by what the way between nodes takes; the disk itself takes far longer, and its noise decides how small a
//! difference can be seen. Nothing is written, and reads need no right but that of the file.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use charz_stats::Sample;
use charz_topology::{Binder, Machine};
use rustix::fs::OFlags;

use crate::atomic_file::open_regular;

/// Bytes of a read: what disks and file systems have for a block.
pub const BLOCK: u64 = 4096;
/// Bytes that a file has to have at least: of fewer blocks each is read more than once in a round.
pub const LEAST_BYTES: u64 = 16 << 20;
/// Bytes in a sector, in which `st_blocks` counts (stat(3type)).
const SECTOR: u64 = 512;
/// Rounds in which each node reads once.
const ROUNDS: usize = 15;
/// What a node reads for in a round.
const ROUND: Duration = Duration::from_millis(150);

/// Reads from one node.
#[derive(Debug)]
pub struct Reads {
    /// The OS id of the node.
    pub node: u32,
    /// The OS id of the CPU that read.
    pub cpu: u32,
    /// The median of each round, in nanoseconds.
    pub rounds: Sample,
    /// Reads in all rounds.
    pub count: usize,
}

/// Aligned as direct reads want it.
#[repr(align(4096))]
struct Block([u8; BLOCK as usize]);

/// Reads a file from each node that has a usable CPU, in rounds, the order of which is drawn by lot. An error, in a sentence, where the file
/// cannot be read past the page cache, is too small, or has holes, and where a thread is not on its CPU. `stops` ends it before the next
/// read of a node; nodes that were not read until then are missing.
pub fn read_from_each_node(
    path: &Path,
    machine: &Machine,
    binder: &Binder,
    seed: u64,
    stops: &dyn Fn() -> bool,
) -> Result<Vec<Reads>, String> {
    let shown = path.display();
    let (file, blocks) = open(path).map_err(|reason| format!("{shown}: {reason}"))?;
    let mut readers: Vec<(u32, u32, Vec<f64>, usize)> = Vec::new();
    for strand in machine.usable_strands() {
        let node = strand.numa.map(|node| machine.node_id(node));
        if let Some(node) = node.filter(|node| readers.iter().all(|(known, ..)| known != node)) {
            readers.push((node, strand.os_id, Vec::new(), 0));
        }
    }
    if readers.is_empty() {
        return Err("the system does not report the NUMA nodes of the CPUs".to_owned());
    }
    let memory = machine.nodes_for_memory();
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..ROUNDS {
        random.shuffle(&mut readers);
        for (node, cpu, medians, count) in readers.iter_mut().take_while(|_| !stops()) {
            let own = memory.contains(node).then_some(*node);
            let seed = random.u64(..);
            let round = || {
                binder.seat(*cpu).map_err(|error| error.to_string())?;
                if !binder.read_back().map_err(|error| error.to_string())?.is_only(*cpu) {
                    return Err(format!("a thread that was put on CPU {cpu} is not there"));
                }
                if memory.len() > 1 {
                    own.map_or(Ok(()), |own| binder.place_memory(&[own])).map_err(|error| error.to_string())?;
                }
                read(&file, blocks, seed).map_err(|error| format!("{shown}: {error}"))
            };
            // A thread of its own: where it runs and puts memory ends with it.
            let times = thread::scope(|scope| {
                let reader = thread::Builder::new().spawn_scoped(scope, round).map_err(|error| error.to_string())?;
                reader.join().map_err(|_| "a reading thread ended".to_owned())?
            })?;
            *count += times.len();
            medians.extend(charz_stats::median(times));
        }
    }
    let mut all: Vec<Reads> = readers
        .into_iter()
        .filter_map(|(node, cpu, rounds, count)| Some(Reads { node, cpu, rounds: Sample::new(rounds)?, count }))
        .collect();
    all.sort_by(|a, b| a.rounds.median().total_cmp(&b.rounds.median()).then(a.node.cmp(&b.node)));
    Ok(all)
}

/// The file past the page cache, and its blocks.
fn open(path: &Path) -> Result<(File, u64), String> {
    // A folder is refused like a file system that has no direct reads.
    if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        return Err("it is not a regular file".to_owned());
    }
    let file = open_regular(path, OpenOptions::new().read(true), OFlags::DIRECT);
    let file = file.map_err(|error| match error.raw_os_error() == Some(rustix::io::Errno::INVAL.raw_os_error()) {
        true => "its file system reads nothing past the page cache; name a file on the disk itself".to_owned(),
        false => error.to_string(),
    })?;
    let about = file.metadata().map_err(|error| error.to_string())?;
    if about.len() < LEAST_BYTES {
        return Err(format!("it has {} bytes; name a file of {} MiB or more", about.len(), LEAST_BYTES >> 20));
    }
    if about.blocks() * SECTOR < about.len() {
        return Err("a part of it is on no disk (holes, or compressed); name a file that was written whole".to_owned());
    }
    Ok((file, about.len() / BLOCK))
}

/// Nanoseconds of each read of a round.
fn read(file: &File, blocks: u64, seed: u64) -> io::Result<Vec<f64>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut block = Box::new(Block([1; BLOCK as usize]));
    let mut times = Vec::new();
    let begin = Instant::now();
    while begin.elapsed() < ROUND {
        let at = random.u64(..blocks) * BLOCK;
        let before = Instant::now();
        file.read_exact_at(&mut block.0, at)?;
        times.push(before.elapsed().as_nanos() as f64);
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use charz_topology::{Seating, Seats, Source, discover};

    use super::*;

    /// Takes each node, and puts every thread on one CPU whatever it is asked, or where it is asked.
    struct Anywhere(Option<u32>);

    thread_local! {
        static SEAT: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
    }

    impl Seats for Anywhere {
        fn seat(&self, cpu: u32) -> Result<(), String> {
            SEAT.set(self.0.unwrap_or(cpu));
            Ok(())
        }

        fn read_back(&self) -> Result<Seating, String> {
            Ok(Seating { allowed: vec![SEAT.get()], on: None })
        }

        fn place_memory(&self, _: &[u32]) -> Result<(), String> {
            Ok(())
        }
    }

    fn file(bytes: u64) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![7; bytes as usize]).unwrap();
        file.as_file().sync_all().unwrap();
        file
    }

    #[test]
    fn each_node_reads_in_each_round() {
        let machine = discover(&Source::Synthetic("numa:3 pu:2".to_owned())).unwrap();
        let file = file(LEAST_BYTES);
        let found = match read_from_each_node(file.path(), &machine, &Binder::through(Anywhere(None)), 1, &|| false) {
            Ok(found) => found,
            // An overlay in memory.
            Err(why) => return assert!(why.contains("page cache"), "{why}"),
        };
        let mut nodes: Vec<(u32, u32)> = found.iter().map(|reads| (reads.node, reads.cpu)).collect();
        nodes.sort_unstable();
        assert_eq!(nodes, [(0, 0), (1, 2), (2, 4)]);
        assert!(found.iter().all(|reads| reads.rounds.len() == ROUNDS && reads.count >= ROUNDS));
        assert!(found.is_sorted_by(|a, b| a.rounds.median() <= b.rounds.median()));
        let elsewhere = read_from_each_node(file.path(), &machine, &Binder::through(Anywhere(Some(0))), 1, &|| false);
        assert!(elsewhere.unwrap_err().contains("is not there"));
        let stopped = read_from_each_node(file.path(), &machine, &Binder::through(Anywhere(None)), 1, &|| true);
        assert!(stopped.unwrap().is_empty());
    }

    #[test]
    fn what_no_disk_is_read_for_is_refused() {
        let machine = discover(&Source::Synthetic("pu:1".to_owned())).unwrap();
        let refused = |path: &Path| {
            let found = read_from_each_node(path, &machine, &Binder::through(Anywhere(None)), 1, &|| false);
            found.map(|_| ()).unwrap_err()
        };
        let small = file(BLOCK);
        assert!(refused(small.path()).contains("4096 bytes") || refused(small.path()).contains("page cache"));
        small.as_file().set_len(LEAST_BYTES).unwrap();
        assert!(refused(small.path()).contains("on no disk") || refused(small.path()).contains("page cache"));
        assert!(refused(Path::new("/nowhere/at/all")).contains("No such file"));
        assert!(!refused(Path::new("/proc/self/status")).is_empty() && !refused(Path::new("/")).is_empty());
    }
}
