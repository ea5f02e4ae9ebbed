//! What the system counts for each CPU: `/proc/stat`, `/proc/interrupts`, `/proc/softirqs` and `/proc/schedstat`, each read and parsed in one
//! pass, so a sample of a machine takes time in proportion to its CPUs.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

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
    let mut file = |name: &'static str, columns: &'static str| match fs::read_to_string(proc.join(name)) {
        Ok(text) => Some(text),
        Err(error) => {
            sample.missing.push((columns, format!("/proc/{name}: {}", why(&error))));
            None
        }
    };
    let texts = [file("interrupts", "intr"), file("softirqs", "softirqs"), file("schedstat", "csw")];
    let [interrupts, softirqs, schedstat] = texts;
    if let Some(text) = interrupts {
        sample.add_interrupts(&text);
    }
    if let Some(text) = softirqs {
        sample.add_softirqs(&text);
    }
    if let Some(text) = schedstat {
        sample.add_waits(&text);
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

/// `           CPU0       CPU1`: the ids in the order of the columns.
fn heading(line: &str) -> Vec<u32> {
    line.split_whitespace().filter_map(|word| word.strip_prefix("CPU")?.parse().ok()).collect()
}

/// The ids of the columns, and the rows: their names, the counts of the CPUs, and what the rows are of.
fn rows<'a>(text: &'a str) -> (Vec<u32>, impl Iterator<Item = (&'a str, Vec<u64>, String)>) {
    let mut lines = text.lines();
    let ids = heading(lines.next().unwrap_or_default());
    let columns = ids.len();
    let row = move |line: &'a str| {
        let (name, rest) = line.split_once(':')?;
        // Errors have one number, of the whole machine.
        let (counts, about) = counts(rest, columns)?;
        Some((name.trim(), counts, about.split_ascii_whitespace().collect::<Vec<_>>().join(" ")))
    };
    (ids, lines.filter_map(row))
}

/// So many numbers, and what follows them.
fn counts(text: &str, columns: usize) -> Option<(Vec<u64>, &str)> {
    let mut left = text.as_bytes();
    let counts = (0..columns).map(|_| {
        let (count, behind) = number(left)?;
        left = behind;
        Some(count)
    });
    let counts = counts.collect::<Option<_>>()?;
    Some((counts, text.get(text.len() - left.len()..)?))
}

/// A number behind spaces, and what follows it. A large machine has half a million of them, mostly zeros in columns of eleven: those are
/// passed whole, and other spaces by eight.
fn number(mut text: &[u8]) -> Option<(u64, &[u8])> {
    if let Some((b"          0", rest @ ([b' ', ..] | []))) = text.split_first_chunk() {
        return Some((0, rest));
    }
    while let Some((b"        ", rest)) = text.split_first_chunk() {
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
            b' ' => break,
            _ => return None,
        }
        text = rest;
    }
    (digits > 0).then_some((number, text))
}

/// The line of `/proc/interrupts` or `/proc/softirqs` that rose most between two readings on these CPUs, by its own words, and by how much;
/// `None` where none rose.
pub fn busiest(before: &str, after: &str, is_one: impl Fn(u32) -> bool) -> Option<(String, u64)> {
    let sums = |text: &str| -> BTreeMap<String, (u64, String)> {
        let (ids, rows) = rows(text);
        let sum =
            |counts: Vec<u64>| ids.iter().zip(counts).filter(|(id, _)| is_one(**id)).map(|(_, count)| count).sum();
        rows.map(|(name, counts, about)| (name.to_owned(), (sum(counts), about))).collect()
    };
    let earlier = sums(before);
    let rises = sums(after).into_iter().map(|(name, (sum, about))| {
        let rise = sum.saturating_sub(earlier.get(&name).map_or(sum, |earlier| earlier.0));
        (format!("{name} {about}").trim_end().to_owned(), rise)
    });
    rises.filter(|(_, rise)| *rise > 0).max_by_key(|(_, rise)| *rise)
}

impl Sample {
    fn add_interrupts(&mut self, text: &str) {
        let (ids, rows) = rows(text);
        let mut sums = vec![(0_u64, [0_u64; 3]); ids.len()];
        for (_, counts, about) in rows {
            let kind = BETWEEN_CPUS.iter().position(|(_, names)| names.iter().any(|name| about.ends_with(name)));
            for (sum, count) in sums.iter_mut().zip(&counts) {
                // Shootdowns are among the calls of functions.
                if kind != Some(SHOOTDOWNS) {
                    sum.0 += count;
                }
                if let Some(kind) = kind {
                    sum.1[kind] += count;
                }
            }
        }
        for (id, (all, calls)) in ids.iter().zip(sums) {
            if let Some(cpu) = self.cpus.get_mut(id) {
                (cpu.interrupts, cpu.calls) = (Some(all), Some(calls));
            }
        }
    }

    fn add_softirqs(&mut self, text: &str) {
        let mut lines = text.lines();
        let ids = heading(lines.next().unwrap_or_default());
        for line in lines {
            let Some((name, counts)) = line.split_once(':') else { continue };
            self.softirqs.push(name.trim().to_ascii_lowercase());
            let mut left = counts.as_bytes();
            for id in &ids {
                let (count, behind) = number(left).unwrap_or_default();
                left = behind;
                if let Some(cpu) = self.cpus.get_mut(id) {
                    cpu.softirqs.push(count);
                }
            }
        }
    }

    /// Lines `cpu0 0 0 0 0 0 0 RAN WAITED TURNS` (kernel documentation, `scheduler/sched-stats`).
    fn add_waits(&mut self, text: &str) {
        for line in text.lines() {
            let Some((id, numbers)) = line.strip_prefix("cpu").and_then(|rest| rest.split_once(' ')) else { continue };
            let numbers: Vec<u64> = numbers.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
            if let (Some(cpu), [.., waited, turns]) =
                (id.parse().ok().and_then(|id| self.cpus.get_mut(&id)), &numbers[..])
            {
                cpu.waits = Some([*waited, *turns]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
        sample.add_interrupts(INTERRUPTS);
        assert_eq!((sample.cpus[&0].interrupts, sample.cpus[&0].calls), (Some(18), Some([15, 2, 0])));
        assert_eq!((sample.cpus[&3].interrupts, sample.cpus[&3].calls), (Some(35), Some([25, 3, 1])));
    }

    #[test]
    fn numbers_end_where_words_do() {
        for (text, expected) in [
            ("          0          7", Some((0, "          7"))),
            ("          0", Some((0, ""))),
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
        assert_eq!(counts("  1         2   IO-APIC   5-edge", 2), Some((vec![1, 2], "   IO-APIC   5-edge")));
        assert_eq!(counts("  1   IO-APIC", 2), None);
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
        sample.add_softirqs("      CPU0   CPU3\n  HI:  1  2\n TIMER:  30  40\n");
        sample.add_waits("version 17\ntimestamp 1\ncpu3 0 0 0 0 0 0 111 222 333\ndomain0 3 0\n");
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
        let row = |name: &str| format!("{name}:{}\n", " 3".repeat(cpus));
        let head: String = (0..cpus).map(|id| format!(" CPU{id}")).collect();
        let rows: String = (0..300).map(|irq| row(&irq.to_string())).collect();
        fs::write(folder.join("interrupts"), format!("{head}\n{rows}")).unwrap();
        let sample = read(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!((sample.cpus.len(), sample.cpus[&1535].interrupts), (cpus, Some(900)));
        assert_eq!(sample.missing.iter().map(|(column, _)| *column).collect::<Vec<_>>(), ["softirqs", "csw"]);
        assert!(read(&folder).is_err());
    }
}
