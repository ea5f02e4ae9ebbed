//! What `cargo xtask machines` runs inside a booted machine: an independent reading of where threads and pages are.
//!
//! `guest threads N MIB` starts threads, each with a block of its own, a multiple of 2 MiB. `guest watch PROGRAM ARGS` runs a program and reads where
//! the threads called `worker-RANK` and the memory of all charz processes are. Both read `/proc`: masks, CPUs, and the frame
//! numbers of pages, which root may see.
#![allow(clippy::disallowed_methods)] // An example may panic.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

const PAGE: usize = 4096;

/// Threads whose blocks share a huge page have it on the node of the first.
const HUGE_PAGE: usize = 2 << 20;

/// Mappings of blocks are at least as large; stacks and heaps are smaller, or hardly resident.
const BLOCK: usize = 4 << 20;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["threads", threads, mib] => own_threads(number(threads), number(mib)),
        ["watch", program, ref rest @ ..] => return watch(program, rest),
        _ => panic!("usage: guest threads N MIB | guest watch PROGRAM ARGS"),
    }
    ExitCode::SUCCESS
}

fn number(word: &str) -> usize {
    word.parse().expect("a number")
}

/// Prints a line per thread, in the order in which they were started: `rank 0 mask 0 cpu 0 pages 0:256`.
fn own_threads(count: usize, mib: usize) {
    let barrier = Barrier::new(count);
    let nodes = Nodes::read();
    let work = |rank| {
        let mut block = vec![0_u8; (mib << 20) + HUGE_PAGE];
        let unaligned = block.as_ptr().align_offset(HUGE_PAGE);
        let block = &mut block[unaligned..unaligned + (mib << 20)];
        block.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
        barrier.wait();
        let start = block.as_ptr() as usize;
        let place = place("/proc/thread-self").expect("a thread's place");
        let mut pages = BTreeMap::new();
        nodes.count("self", start, start + block.len(), &mut pages);
        // All threads live until each has been read.
        barrier.wait();
        format!("rank {rank} {place} {}", listed(&pages))
    };
    let work = &work;
    let lines: Vec<String> = thread::scope(|scope| {
        let others: Vec<_> = (1..count).map(|rank| scope.spawn(move || work(rank))).collect();
        let first = work(0);
        std::iter::once(first).chain(others.into_iter().map(|other| other.join().expect("a line"))).collect()
    });
    println!("{}", lines.join("\n"));
}

/// Runs a program, with its output on standard error, and prints what was seen last of each worker and process:
/// `worker 120 0 mask 0 cpu 0` and `memory 120 pages 0:2048`. A worker whose mask is still its process's has not taken its seat yet.
fn watch(program: &str, arguments: &[&str]) -> ExitCode {
    // Hundreds of threads of the kernel need not be looked at.
    let older: BTreeSet<u32> = numbers("/proc").collect();
    let mut command = Command::new(program);
    let mut child = command.args(arguments).stdout(Stdio::from(std::io::stderr())).spawn().expect("the program starts");
    let nodes = Nodes::read();
    let (mut workers, mut memory) = (BTreeMap::new(), BTreeMap::<u32, BTreeMap<u32, u64>>::new());
    let status = loop {
        if let Some(status) = child.try_wait().expect("the program's end") {
            break status;
        }
        for pid in numbers("/proc").filter(|pid| !older.contains(pid)) {
            let seen = seated(pid);
            if seen.is_empty() {
                continue;
            }
            workers.extend(seen.into_iter().map(|(rank, place)| ((pid, rank), place)));
            let (pages, most) = (nodes.blocks(pid), memory.entry(pid).or_default());
            if pages.values().sum::<u64>() >= most.values().sum() {
                *most = pages;
            }
        }
        thread::sleep(Duration::from_millis(10));
    };
    for ((pid, rank), place) in &workers {
        println!("worker {pid} {rank} {place}");
    }
    for (pid, pages) in &memory {
        println!("memory {pid} {}", listed(pages));
    }
    status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(code as u8))
}

/// The workers of a process that have taken their seats, by rank.
fn seated(pid: u32) -> Vec<(u32, String)> {
    let own = mask(&format!("/proc/{pid}"));
    let worker = |thread| {
        let folder = format!("/proc/{pid}/task/{thread}");
        let name = fs::read_to_string(format!("{folder}/comm")).ok()?;
        let rank = name.trim().strip_prefix("worker-")?.parse().ok()?;
        // A mask of one CPU cannot become narrower.
        let is_seated = mask(&folder) != own || own.as_ref().is_some_and(|own| own.parse::<u32>().is_ok());
        Some((rank, place(&folder).filter(|_| is_seated)?))
    };
    numbers(&format!("/proc/{pid}/task")).filter_map(worker).collect()
}

fn numbers(folder: &str) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn mask(folder: &str) -> Option<String> {
    let status = fs::read_to_string(format!("{folder}/status")).ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().to_owned())
}

/// The mask of a thread and the CPU that it is on, field 39 of its `stat`: `mask 0-3 cpu 2`.
fn place(folder: &str) -> Option<String> {
    let stat = fs::read_to_string(format!("{folder}/stat")).ok()?;
    // The name, field 2, may hold spaces.
    let cpu = stat.rsplit_once(')')?.1.split_whitespace().nth(39 - 3)?;
    Some(format!("mask {} cpu {cpu}", mask(folder)?))
}

fn listed(pages: &BTreeMap<u32, u64>) -> String {
    let words: Vec<String> = pages.iter().map(|(node, count)| format!("{node}:{count}")).collect();
    format!("pages {}", words.join(","))
}

/// Which NUMA node has which frames.
struct Nodes(Vec<(u64, u64, u32)>);

impl Nodes {
    /// From `/proc/zoneinfo`: the frames that each zone of a node spans.
    fn read() -> Self {
        let text = fs::read_to_string("/proc/zoneinfo").unwrap_or_default();
        let (mut node, mut spanned, mut zones) = (0, 0, Vec::new());
        for line in text.lines() {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["Node", id, ..] => node = id.trim_end_matches(',').parse().unwrap_or(u32::MAX),
                ["spanned", frames] => spanned = frames.parse().unwrap_or(0),
                ["start_pfn:", first] => {
                    let first = first.parse().unwrap_or(0);
                    zones.push((first, first + spanned, node));
                }
                _ => {}
            }
        }
        Nodes(zones)
    }

    /// Adds the resident pages of a range, by node.
    fn count(&self, pid: &str, start: usize, end: usize, pages: &mut BTreeMap<u32, u64>) {
        let Ok(file) = File::open(format!("/proc/{pid}/pagemap")) else { return };
        let mut entries = vec![0; (end - start) / PAGE * 8];
        let Ok(read) = file.read_at(&mut entries, (start / PAGE * 8) as u64) else { return };
        for entry in entries[..read].chunks_exact(8) {
            let entry = u64::from_le_bytes(entry.try_into().expect("eight bytes"));
            let frame = entry & ((1 << 55) - 1);
            let zone = self.0.iter().find(|(first, past, _)| (*first..*past).contains(&frame));
            // Bit 63: the page is present.
            if let Some((.., node)) = zone.filter(|_| entry >> 63 == 1) {
                *pages.entry(*node).or_default() += 1;
            }
        }
    }

    /// The pages of a process in large mappings without a file.
    fn blocks(&self, pid: u32) -> BTreeMap<u32, u64> {
        let mut pages = BTreeMap::new();
        for line in fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default().lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [range, "rw-p", _, "00:00", "0"] = words[..] else { continue };
            let ends = range.split_once('-').map(|(start, end)| [start, end].map(|end| usize::from_str_radix(end, 16)));
            if let Some([Ok(start), Ok(end)]) = ends
                && end - start >= BLOCK
            {
                self.count(&pid.to_string(), start, end, &mut pages);
            }
        }
        pages
    }
}
