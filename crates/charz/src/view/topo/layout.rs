//! Which strands lie on which core: a line per core of a small machine, a line per regular run of cores of a large one.
//!
//! Cores whose numbers and whose strands' ids go up in equal steps are one line, such as `core n: strands n, n+64  (n = 0-63)`.
//! Equal lines at equal distances become one again, with a second letter, as long as there are too many.

use std::fmt::Write as _;

use charz_data::cpulist;
use charz_topology::{Machine, Strand};

use super::psrinfo::collapsed;

/// The most strands of which each core has a line of its own.
const SPELLED: usize = 32;
/// The most lines before runs of different sockets are put together.
const LINES: usize = 20;
/// The letters of steps, the innermost first; more steps are not put together.
const LETTERS: [char; 4] = ['n', 'm', 'k', 'j'];

/// A core, or cores of the same form in equal steps.
#[derive(Clone, PartialEq)]
struct Run {
    core: u64,
    /// The strands of the first core in order of their slots, with their ALU groups where these are known.
    strands: Vec<(u64, u32)>,
    kind: Option<u32>,
    /// The first and the last socket.
    sockets: Option<(u32, u32)>,
    /// The innermost first.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, PartialEq)]
struct Step {
    count: u64,
    core: u64,
    id: u64,
}

/// The lines, without a line feed.
pub(super) fn lines(machine: &Machine) -> Vec<String> {
    let (cores, coreless): (Vec<_>, Vec<_>) =
        machine.strands.chunk_by(|a, b| a.core.is_some() && a.core == b.core).partition(|core| core[0].core.is_some());
    let mut runs: Vec<Run> = cores.into_iter().map(|strands| run(machine, strands)).collect();
    if machine.strands.len() > SPELLED {
        runs = fold(runs, 3, |a, b| a.sockets == b.sockets);
        let mut before = usize::MAX;
        while runs.len() > LINES && runs.len() < before {
            before = runs.len();
            runs = fold(runs, 2, |_, _| true);
        }
    }
    let sockets = machine.packages.len() > 1;
    let mut lines: Vec<String> = runs.iter().map(|run| line(run, sockets)).collect();
    if !coreless.is_empty() {
        let mut ids: Vec<u32> = coreless.iter().flat_map(|strands| strands.iter().map(|strand| strand.os_id)).collect();
        ids.sort_unstable();
        lines.push(format!("no core known: strands {}", cpulist::shown(&ids)));
    }
    lines
}

fn run(machine: &Machine, strands: &[Strand]) -> Run {
    let known = machine.alu.is_known();
    let first = &strands[0];
    Run {
        core: first.core.unwrap_or_default().into(),
        strands: strands.iter().map(|s| (s.os_id.into(), if known { s.alu } else { 0 })).collect(),
        kind: first.kind,
        sockets: first.package.map(|package| (package, package)),
        steps: Vec::new(),
    }
}

/// Runs that follow each other in equal steps as one, where there are at least so many.
fn fold(runs: Vec<Run>, least: usize, may: impl Fn(&Run, &Run) -> bool) -> Vec<Run> {
    let mut folded: Vec<Run> = Vec::new();
    let mut rest = runs.as_slice();
    while let [first, ..] = rest {
        let step = |pair: &[Run]| step(&pair[0], &pair[1]).filter(|_| may(&pair[0], &pair[1]));
        let wanted = rest.get(..2).and_then(step);
        let pairs = rest.windows(2).take_while(|pair| wanted.is_some() && step(pair) == wanted).count();
        let count = pairs + 1;
        match wanted {
            Some((core, id)) if count >= least => {
                folded.push(first.repeated(Step { count: count as u64, core, id }, &rest[count - 1]));
                rest = &rest[count..];
            }
            _ => {
                folded.push(first.clone());
                rest = &rest[1..];
            }
        }
    }
    folded
}

/// How far the second run's cores and strands lie behind those of the first, if all of them lie equally far.
fn step(a: &Run, b: &Run) -> Option<(u64, u64)> {
    let id = b.strands[0].0.checked_sub(a.strands[0].0)?;
    let alike = a.kind == b.kind && a.steps == b.steps && a.steps.len() < LETTERS.len();
    let moved = a.strands.iter().map(|(strand, alu)| (strand + id, *alu));
    (alike && moved.eq(b.strands.iter().copied())).then_some((b.core.checked_sub(a.core)?, id))
}

impl Run {
    fn repeated(&self, step: Step, last: &Run) -> Run {
        let mut run = self.clone();
        run.sockets = self.sockets.zip(last.sockets).map(|((first, _), (_, last))| (first, last));
        match run.steps.last_mut() {
            // It goes on where the first run ended.
            Some(inner) if (step.core, step.id) == (inner.core * inner.count, inner.id * inner.count) => {
                inner.count *= step.count;
            }
            _ => run.steps.push(step),
        }
        run
    }
}

fn line(run: &Run, sockets: bool) -> String {
    let mut text = match run.sockets.filter(|_| sockets) {
        Some((first, last)) if first == last => format!("socket {first}  "),
        Some((first, last)) => format!("sockets {first}-{last}  "),
        None => String::new(),
    };
    // With the cores' own numbers where that leaves no negative numbers, else counted from zero.
    let own = match run.steps[..] {
        [Step { core: 1, id, .. }] if run.strands.iter().all(|(strand, _)| *strand >= id * run.core) => run.core,
        _ => 0,
    };
    let cores: Vec<u64> = run.steps.iter().map(|step| step.core).collect();
    let ids: Vec<u64> = run.steps.iter().map(|step| step.id).collect();
    let shift = |base: u64, steps: &[u64]| base - own * steps.first().copied().unwrap_or_default();
    let noun = if run.strands.len() == 1 { "strand" } else { "strands" };
    let groups: Vec<String> = run
        .strands
        .chunk_by(|a, b| a.1 == b.1)
        .map(|group| strands(&group.iter().map(|(id, _)| shift(*id, &ids)).collect::<Vec<_>>(), &ids))
        .collect();
    let groups = match &groups[..] {
        [one] => one.clone(),
        several => several.iter().map(|group| format!("({group})")).collect::<Vec<_>>().join(" "),
    };
    let _ = write!(text, "core {}: {noun} {groups}", sum(shift(run.core, &cores), &cores));
    if !run.steps.is_empty() {
        let range = |(step, letter): (&Step, char)| format!("{letter} = {own}-{}", own + step.count - 1);
        let ranges: Vec<String> = run.steps.iter().zip(LETTERS).map(range).collect();
        let _ = write!(text, "  ({})", ranges.join(", "));
    }
    text
}

/// Ids on a core, as ranges where three or more follow each other.
fn strands(ids: &[u64], steps: &[u64]) -> String {
    if steps.is_empty() {
        return collapsed(&ids.iter().map(|id| u32::try_from(*id).unwrap_or(u32::MAX)).collect::<Vec<_>>());
    }
    let mut pieces = Vec::new();
    for run in ids.chunk_by(|a, b| a + 1 == *b) {
        match run {
            [first, _, .., last] => pieces.push(format!("{} to {}", sum(*first, steps), sum(*last, steps))),
            few => pieces.extend(few.iter().map(|id| sum(*id, steps))),
        }
    }
    pieces.join(", ")
}

/// `24m+4n+1`.
fn sum(base: u64, steps: &[u64]) -> String {
    let term = |(step, letter): (&u64, char)| match step {
        0 => None,
        1 => Some(letter.to_string()),
        step => Some(format!("{step}{letter}")),
    };
    let mut terms: Vec<String> = steps.iter().zip(LETTERS).filter_map(term).collect();
    terms.reverse();
    if base > 0 || terms.is_empty() {
        terms.push(base.to_string());
    }
    terms.join("+")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::tests::synthetic;
    use super::*;

    /// The value of `24m+4n+1`.
    fn value(sum: &str, letters: &BTreeMap<char, u64>) -> u64 {
        let term = |term: &str| match term.strip_suffix(|mark: char| mark.is_ascii_lowercase()) {
            None => term.parse::<u64>().unwrap(),
            Some(factor) => {
                let letter = letters[&term.chars().next_back().unwrap()];
                letter * if factor.is_empty() { 1 } else { factor.parse::<u64>().unwrap() }
            }
        };
        sum.split('+').map(term).sum()
    }

    /// The strands of each core as a reader finds them, in the order in which they stand there.
    fn read(line: &str) -> Vec<(Option<u64>, Vec<u64>)> {
        if let Some(ids) = line.strip_prefix("no core known: strands ") {
            return vec![(None, cpulist::parse(ids).unwrap().into_iter().map(u64::from).collect())];
        }
        let (head, rest) = line.split_once(": ").unwrap();
        let core = head.split_once("core ").unwrap().1;
        let list = rest.split_once(' ').unwrap().1;
        let (list, ranges) = match list.split_once("  (") {
            Some((list, ranges)) => (list, ranges.trim_end_matches(')')),
            None => (list, ""),
        };
        let mut all = vec![BTreeMap::new()];
        for range in ranges.split(", ").filter(|range| !range.is_empty()) {
            let (letter, range) = range.split_once(" = ").unwrap();
            let (first, last) = range.split_once('-').unwrap();
            let (first, last): (u64, u64) = (first.parse().unwrap(), last.parse().unwrap());
            let with = |letters: &BTreeMap<char, u64>, value| {
                let mut letters = letters.clone();
                letters.insert(letter.chars().next().unwrap(), value);
                letters
            };
            all = all
                .iter()
                .flat_map(|letters| (first..=last).map(|value| with(letters, value)).collect::<Vec<_>>())
                .collect();
        }
        let list = list.replace(['(', ')'], "");
        let pieces: Vec<&str> = if ranges.is_empty() {
            list.split(' ').collect()
        } else {
            list.split(", ").flat_map(|piece| in_groups(piece)).collect()
        };
        let strands = |letters: &BTreeMap<char, u64>| {
            let ids = pieces.iter().flat_map(|piece| {
                let ends = piece.split_once(" to ").or_else(|| piece.split_once('-')).unwrap_or((piece, piece));
                value(ends.0, letters)..=value(ends.1, letters)
            });
            (Some(value(core, letters)), ids.collect())
        };
        all.iter().map(strands).collect()
    }

    /// Groups of strands follow each other without a comma: `8n to 8n+3 8n+4 to 8n+7`.
    fn in_groups(piece: &str) -> Vec<&str> {
        let words: Vec<&str> = piece.split(' ').collect();
        let mut pieces = Vec::new();
        let mut from = 0;
        let start = |at: usize| words[..at].iter().map(|word| word.len() + 1).sum::<usize>();
        while from < words.len() {
            let to = if words.get(from + 1) == Some(&"to") { from + 3 } else { from + 1 };
            pieces.push(piece[start(from)..start(to) - 1].trim());
            from = to;
        }
        pieces
    }

    #[track_caller]
    fn check(machine: &Machine) {
        let mut expected: BTreeMap<Option<u64>, Vec<u64>> = BTreeMap::new();
        for strand in &machine.strands {
            expected.entry(strand.core.map(u64::from)).or_default().push(strand.os_id.into());
        }
        let mut found: BTreeMap<Option<u64>, Vec<u64>> = BTreeMap::new();
        let lines = lines(machine);
        for (core, strands) in lines.iter().flat_map(|line| read(line)) {
            found.entry(core).or_default().extend(strands);
        }
        for strands in found.values_mut().chain(expected.values_mut()) {
            strands.sort_unstable();
        }
        assert_eq!(found, expected, "{lines:#?}");
    }

    #[test]
    fn a_small_machine_has_a_line_per_core_and_a_large_one_per_run() {
        assert_eq!(lines(&synthetic("core:2 pu:2")), ["core 0: strands 0 1", "core 1: strands 2 3"]);
        let mut machine = synthetic("pack:2 core:64 pu:2");
        // As most systems count: first one strand of each core, then the others.
        for strand in &mut machine.strands {
            strand.os_id = strand.core.unwrap() + 128 * strand.slot;
        }
        assert_eq!(
            lines(&machine),
            ["socket 0  core n: strands n, n+128  (n = 0-63)", "socket 1  core n: strands n, n+128  (n = 64-127)"]
        );
        // Sockets in turn, and one core out of line.
        for strand in &mut machine.strands {
            strand.os_id = strand.package.unwrap() + 2 * (strand.core.unwrap() % 64) + 128 * strand.slot;
        }
        machine.strands[2].os_id = 1000;
        assert_eq!(
            lines(&machine),
            [
                "socket 0  core 0: strands 0 128",
                "socket 0  core 1: strands 1000 130",
                "socket 0  core n: strands 2n, 2n+128  (n = 2-63)",
                "socket 1  core n+64: strands 2n+1, 2n+129  (n = 0-63)"
            ]
        );
        check(&machine);
        let many = lines(&synthetic("pack:64 core:2 group:2 pu:4"));
        assert_eq!(many, ["sockets 0-63  core n: strands (8n to 8n+3) (8n+4 to 8n+7)  (n = 0-127)"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn the_layout_has_each_strand_once_under_its_core(
            packages in 1..24u32, cores in 1..6u32, groups in 1..3u32, strands in 1..5u32,
            factors in (1..4u32, 1..4u32), lost in prop::collection::vec(0..1000usize, 0..6),
            coreless in prop::bool::weighted(0.1), shuffled in prop::bool::weighted(0.2), seed in any::<u64>(),
        ) {
            let mut machine = synthetic(&format!("pack:{packages} core:{cores} group:{groups} pu:{strands}"));
            let total = machine.strands.len() as u32;
            // Numberings of systems: by slot, by socket in turn, with gaps; and any order.
            for (at, strand) in machine.strands.iter_mut().enumerate() {
                let (package, core, at) = (strand.package.unwrap(), strand.core.unwrap() % cores, at as u32);
                strand.os_id = match factors {
                    (1, gap) => at * gap,
                    (2, gap) => (strand.strand_in_core * packages * cores + core * packages + package) * gap,
                    (_, gap) => (strand.strand_in_core * packages * cores + package * cores + core) * gap + 7,
                };
                if shuffled {
                    // One to one below a prime that is larger than all machines here.
                    strand.os_id = ((u64::from(at) + 1) * (seed % 10_006 + 1) % 10_007) as u32;
                }
            }
            for at in lost {
                if machine.strands.len() > 1 {
                    machine.strands.remove(at % machine.strands.len());
                }
            }
            if coreless {
                let few = (seed % u64::from(total)) as usize;
                machine.strands.iter_mut().take(few).for_each(|strand| strand.core = None);
            }
            check(&machine);
        }
    }
}
