//! What the system counts for each CPU: `/proc/stat`, `/proc/interrupts`, `/proc/softirqs` and `/proc/schedstat`, each read and parsed in one
//! pass, so a sample of a machine takes time in proportion to its CPUs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

use crate::Error;
use crate::stat::{self, Ticks};

/// The interrupts by which CPUs call each other, by the kernel's descriptions of them: those of x86_64, and of aarch64.
const BETWEEN_CPUS: [(&str, &[&str]); 3] =
    [("res", &["Rescheduling interrupts"]), ("cal", &["Function call interrupts"]), ("tlb", &["TLB shootdowns"])];

/// The place of those that are counted among the calls of functions too.
const SHOOTDOWNS: usize = 2;

/// One sample; counts since the system started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// By the CPU's id; CPUs that are offline are not there.
    pub cpus: BTreeMap<u32, Cpu>,
    /// The names of the kinds of softirqs, in the order of [`Cpu::softirqs`].
    pub softirqs: Vec<String>,
    /// What could not be read, with the reason.
    pub missing: Vec<(&'static str, String)>,
}

/// One CPU in a sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cpu {
    /// How it spent its time.
    pub ticks: Ticks,
    /// All interrupts that it served; `None` where the system does not say.
    pub interrupts: Option<u64>,
    /// Calls of other CPUs: to reschedule, to run a function, to forget translations of addresses.
    pub calls: Option<[u64; 3]>,
    /// By kind.
    pub softirqs: Vec<u64>,
    /// Nanoseconds that tasks waited for it though they could run, and how many turns tasks had; `None` where the kernel does not count.
    pub waits: Option<[u64; 2]>,
}

/// The names of [`Cpu::calls`].
pub fn calls() -> [&'static str; 3] {
    BETWEEN_CPUS.map(|(name, _)| name)
}

/// Reads a sample from a `/proc`.
///
/// # Errors
/// If there is no `stat` in it, or one whose CPUs are not those of the other files.
pub fn read(proc: &Path) -> Result<Sample, Error> {
    let mut sample = Sample::default();
    for (id, ticks) in Ticks::of_each(&stat::read(proc)?) {
        sample.cpus.insert(id, Cpu { ticks, ..Cpu::default() });
    }
    // Five megabytes on a large machine: memory that is not new has no page faults.
    let mut text = Vec::new();
    // Each with the columns that are missing without it, and what takes its text.
    type Add = fn(&mut Sample, &[u8]);
    let files: [(_, _, Add); 3] = [
        ("interrupts", "intr", Sample::add_interrupts),
        ("softirqs", "softirqs", Sample::add_softirqs),
        ("schedstat", "csw", Sample::add_waits),
    ];
    for (name, columns, add) in files {
        text.clear();
        match File::open(proc.join(name)).and_then(|mut file| file.read_to_end(&mut text)) {
            Ok(_) => add(&mut sample, &text),
            Err(error) => sample.missing.push((columns, format!("/proc/{name}: {}", why(&error)))),
        }
    }
    Ok(sample)
}

fn why(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "this kernel does not have it",
        io::ErrorKind::PermissionDenied => "it may not be read",
        _ => "it cannot be read",
    }
}

/// The first line, and what follows it. The standard library searches its end some bytes at a time.
fn line(text: &[u8]) -> (&[u8], &[u8]) {
    let mut behind = text;
    let length = behind.skip_until(b'\n').unwrap_or(text.len());
    (text[..length].trim_ascii_end(), behind)
}

/// The counts of a row that are not zero, each with its column.
type Counts = Vec<(usize, u64)>;

/// The ids of the columns, of a heading `           CPU0       CPU1`, and the rows: their names, the counts of the CPUs, and what the rows
/// are of.
fn rows(text: &[u8]) -> (Vec<u32>, impl Iterator<Item = (String, Counts, String)>) {
    let (heading, mut left) = line(text);
    let words = String::from_utf8_lossy(heading);
    let ids = words.split_whitespace().filter_map(|word| word.strip_prefix("CPU")?.parse().ok());
    let ids: Vec<u32> = ids.collect();
    let columns = ids.len();
    let row = move || {
        while !left.is_empty() {
            let end = left.iter().position(|mark| matches!(mark, b':' | b'\n'))?;
            let (name, rest) = left.split_at(end);
            // Errors have one number, of the whole machine.
            let Some((counts, rest)) = counts(&rest[1..], columns).filter(|_| rest[0] == b':') else {
                left = line(left).1;
                continue;
            };
            let about;
            (about, left) = line(rest);
            let words = |text| String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ");
            return Some((words(name), counts, words(about)));
        }
        None
    };
    (ids, std::iter::from_fn(row))
}

/// So many numbers, and what follows them. A large machine has half a million of them, mostly zeros in columns of eleven: of those
/// eight are passed at once.
fn counts(mut text: &[u8], columns: usize) -> Option<(Counts, &[u8])> {
    const ZEROS: &[u8; 88] =
        b"          0          0          0          0          0          0          0          0";
    let (mut counts, mut at) = (Counts::new(), 0);
    while at < columns {
        match text.split_first_chunk() {
            // Compared as a whole: a pattern of so many bytes is compared byte by byte.
            Some((zeros, rest @ [b' ' | b'\n', ..])) if zeros == ZEROS && columns - at >= 8 => {
                at += 8;
                text = rest;
            }
            _ => {
                let (count, behind) = number(text)?;
                if count > 0 {
                    counts.push((at, count));
                }
                at += 1;
                text = behind;
            }
        }
    }
    Some((counts, text))
}

/// A number behind spaces, and what follows it.
fn number(mut text: &[u8]) -> Option<(u64, &[u8])> {
    while let Some((spaces, rest)) = text.split_first_chunk()
        && *spaces == [b' '; 8]
    {
        text = rest;
    }
    let (mut number, mut digits) = (0_u64, 0);
    while let [first, rest @ ..] = text {
        match first {
            b' ' if digits == 0 => {}
            b'0'..=b'9' => {
                number = number.checked_mul(10)?.checked_add(u64::from(first - b'0'))?;
                digits += 1;
            }
            b' ' | b'\n' if digits > 0 => break,
            _ => return None,
        }
        text = rest;
    }
    (digits > 0).then_some((number, text))
}

/// By the number of an interrupt, the CPUs that it went to, and how often.
pub type Interrupts = BTreeMap<u32, Vec<(u32, u64)>>;

/// The CPUs of the text of `/proc/interrupts`, and by the number of each interrupt how often it went to each, where it did.
pub fn interrupts(text: &str) -> (Vec<u32>, Interrupts) {
    let (ids, rows) = rows(text.as_bytes());
    let of_row = |(name, counts, _): (String, Counts, String)| {
        let counts = counts.into_iter().map(|(at, count)| (ids[at], count)).collect();
        Some((name.parse().ok()?, counts))
    };
    let counts = rows.filter_map(of_row).collect();
    (ids, counts)
}

/// The line of `/proc/interrupts` or `/proc/softirqs` that rose most between two readings on these CPUs, by its own words, and by how much;
/// `None` where none rose.
pub fn busiest(before: &str, after: &str, is_one: impl Fn(u32) -> bool) -> Option<(String, u64)> {
    let sums = |text: &str| -> BTreeMap<String, (u64, String)> {
        let (ids, rows) = rows(text.as_bytes());
        let sum = |counts: Counts| counts.iter().filter(|(at, _)| is_one(ids[*at])).map(|(_, count)| count).sum();
        rows.map(|(name, counts, about)| (name, (sum(counts), about))).collect()
    };
    let earlier = sums(before);
    let rises = sums(after).into_iter().map(|(name, (sum, about))| {
        let rise = sum.saturating_sub(earlier.get(&name).map_or(sum, |earlier| earlier.0));
        (format!("{name} {about}").trim_end().to_owned(), rise)
    });
    rises.filter(|(_, rise)| *rise > 0).max_by_key(|(_, rise)| *rise)
}

impl Sample {
    fn add_interrupts(&mut self, text: &[u8]) {
        let (ids, rows) = rows(text);
        let mut all = vec![0_u64; ids.len()];
        let mut calls = BETWEEN_CPUS.map(|_| all.clone());
        let add = |sums: &mut [u64], counts: &Counts| counts.iter().for_each(|(at, count)| sums[*at] += count);
        for (_, counts, about) in rows {
            let kind = BETWEEN_CPUS.iter().position(|(_, names)| names.iter().any(|name| about.ends_with(name)));
            // Shootdowns are among the calls of functions.
            if kind != Some(SHOOTDOWNS) {
                add(&mut all, &counts);
            }
            if let Some(kind) = kind {
                add(&mut calls[kind], &counts);
            }
        }
        for (at, id) in ids.iter().enumerate() {
            if let Some(cpu) = self.cpus.get_mut(id) {
                (cpu.interrupts, cpu.calls) = (Some(all[at]), Some([0, 1, 2].map(|kind| calls[kind][at])));
            }
        }
    }

    fn add_softirqs(&mut self, text: &[u8]) {
        let (ids, rows) = rows(text);
        let mut by_column = vec![Vec::new(); ids.len()];
        for (kind, (name, counts, _)) in rows.enumerate() {
            self.softirqs.push(name.to_ascii_lowercase());
            by_column.iter_mut().for_each(|kinds| kinds.push(0));
            counts.into_iter().for_each(|(at, count)| by_column[at][kind] = count);
        }
        for (id, kinds) in ids.iter().zip(by_column) {
            if let Some(cpu) = self.cpus.get_mut(id) {
                cpu.softirqs = kinds;
            }
        }
    }

    /// Lines `cpu0 0 0 0 0 0 0 RAN WAITED TURNS` (kernel documentation, `scheduler/sched-stats`).
    fn add_waits(&mut self, mut text: &[u8]) {
        while !text.is_empty() {
            let one;
            (one, text) = line(text);
            // Those of scheduling domains are a hundred times as long.
            let Some(words) = one.strip_prefix(b"cpu") else { continue };
            let words = String::from_utf8_lossy(words);
            let mut words = words.split_ascii_whitespace();
            let id = words.next().and_then(|id| id.parse().ok());
            let numbers: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
            if let (Some(cpu), Some([.., waited, turns])) =
                (id.and_then(|id: u32| self.cpus.get_mut(&id)), numbers.as_deref())
            {
                cpu.waits = Some([*waited, *turns]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const INTERRUPTS: &str = "           CPU0       CPU3       \n\
        24:          1          7  IO-APIC   5-edge      ACPI:Ged\n\
        RES:         10         20   Rescheduling interrupts\n\
        CAL:          2          3   Function call interrupts\n\
        IPI0:        5          5   Rescheduling interrupts\n\
        TLB:          0          1   TLB shootdowns\n\
        ERR:          9\n MIS:          0\n";

    fn sample() -> Sample {
        Sample { cpus: [(0, Cpu::default()), (3, Cpu::default())].into(), ..Sample::default() }
    }

    #[test]
    fn interrupts_are_added_up_by_cpu() {
        let mut sample = sample();
        sample.add_interrupts(INTERRUPTS.as_bytes());
        assert_eq!((sample.cpus[&0].interrupts, sample.cpus[&0].calls), (Some(18), Some([15, 2, 0])));
        assert_eq!((sample.cpus[&3].interrupts, sample.cpus[&3].calls), (Some(35), Some([25, 3, 1])));
    }

    #[test]
    fn numbers_end_where_words_do() {
        for (text, expected) in [
            ("          0          7", Some((0, "          7"))),
            ("          0", Some((0, ""))),
            ("          0\nMIS:", Some((0, "\nMIS:"))),
            ("         10\nMIS:", Some((10, "\nMIS:"))),
            ("  \n 1", None),
            ("          01          7", Some((1, "          7"))),
            ("          0x", None),
            ("         10          7", Some((10, "          7"))),
            (" 18446744073709551615", Some((u64::MAX, ""))),
            (" 18446744073709551616", None),
            (" 5-edge", None),
            ("                 ", None),
            ("", None),
        ] {
            assert_eq!(number(text.as_bytes()), expected.map(|(number, rest)| (number, rest.as_bytes())), "{text:?}");
        }
        assert_eq!(
            counts(b"  1         2   IO-APIC   5-edge", 2),
            Some((vec![(0, 1), (1, 2)], &b"   IO-APIC   5-edge"[..]))
        );
        assert_eq!(counts(b"  1   IO-APIC", 2), None);
        assert_eq!(counts(b"  1\n 2: 3", 2), None, "a row ends with its line");
    }

    #[test]
    fn the_busiest_line_is_that_of_the_seats() {
        let later = INTERRUPTS.replace("1          7 ", "900      8 ").replace("20   Resch", "90   Resch");
        let named = |id| busiest(INTERRUPTS, &later, |cpu| cpu == id);
        assert_eq!(named(0), Some(("24 IO-APIC 5-edge ACPI:Ged".into(), 899)));
        assert_eq!(named(3), Some(("RES Rescheduling interrupts".into(), 70)));
        assert_eq!(busiest(INTERRUPTS, INTERRUPTS, |_| true), None);
    }

    #[test]
    fn softirqs_and_waits_belong_to_their_cpus() {
        let mut sample = sample();
        sample.add_softirqs(b"      CPU0   CPU3\n  HI:  1  2\n TIMER:  30  40\n");
        sample.add_waits(b"version 17\ntimestamp 1\ncpu3 0 0 0 0 0 0 111 222 333\ndomain0 3 0\n");
        // A line of no CPU, and one that is damaged.
        sample.add_waits(b"cpufreq 0 7 8\ncpu0 1 two 3\n");
        assert_eq!(
            (sample.softirqs.as_slice(), sample.cpus[&3].softirqs.as_slice()),
            (&["hi".to_owned(), "timer".into()][..], &[2, 40][..])
        );
        assert_eq!((sample.cpus[&3].waits, sample.cpus[&0].waits), (Some([222, 333]), None));
    }

    #[test]
    fn a_machine_of_1536_cpus_without_some_files_is_read() {
        let folder = std::env::temp_dir().join(format!("charz-per-cpu-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let cpus = 1536;
        let stat: String = (0..cpus).map(|id| format!("cpu{id} 1 2 3 4 5 6 7 8 0 0\n")).collect();
        fs::write(folder.join("stat"), format!("cpu  1 1 1 1 1 1 1 1 0 0\n{stat}ctxt 1\n")).unwrap();
        // Mostly zeros, as there.
        let counts: String = (0..cpus).map(|id| format!(" {:>10}", if id % 100 == 7 { id } else { 0 })).collect();
        let row = |name: &str| format!("{name}:{counts}   edge\n");
        let head: String = (0..cpus).map(|id| format!(" CPU{id}")).collect();
        let rows: String = (0..300).map(|irq| row(&irq.to_string())).collect();
        fs::write(folder.join("interrupts"), format!("{head}\n{rows}")).unwrap();
        let sample = read(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(sample.cpus.len(), cpus);
        for (id, cpu) in &sample.cpus {
            assert_eq!(cpu.interrupts, Some(if id % 100 == 7 { 300 * u64::from(*id) } else { 0 }), "CPU {id}");
        }
        assert_eq!(sample.missing.iter().map(|(column, _)| *column).collect::<Vec<_>>(), ["softirqs", "csw"]);
        assert!(read(&folder).is_err());
    }
}
