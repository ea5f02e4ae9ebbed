//! Numbers of workers, as a user writes them.

use std::collections::BTreeSet;
use std::str::FromStr;

use charz_topology::Machine;

use super::PlanError;
use crate::limits::Limits;

/// `auto`, or a list such as `1,2,4-8,16-64:16`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Threads {
    /// 2ⁿ, and 2ⁿ+2ⁿ⁻¹ between them, up to the strands or as many times the strands as is asked for, and the borders of the machine:
    /// fewer where the budget is too small for so many.
    Auto,
    /// The smallest useful set: one worker, and one a strand.
    Quick,
    /// Ascending, without repeats, none of them 0.
    List(Vec<usize>),
}

/// The most numbers that a list may have: far more than any machine has knees.
const MOST_NUMBERS: usize = 4096;

const EXAMPLE: &str = "example: --threads 1,2,4-8,16-64:16, or --threads auto";

impl Threads {
    /// The largest number, where they are listed.
    pub fn most(&self) -> Option<usize> {
        if let Threads::List(list) = self { list.last().copied() } else { None }
    }

    /// The numbers for a machine, at least one series of them: the first that the budget allows is to be taken. `times` as many workers
    /// as usable strands are the most that [`Auto`](Threads::Auto) takes.
    pub fn resolve(&self, machine: &Machine, times: usize, limits: &Limits) -> Result<Vec<Vec<usize>>, PlanError> {
        let cap = limits.threads.at_most;
        match self {
            Threads::Auto => {
                let borders = borders(machine);
                let mut all: Vec<_> = STEPS.iter().map(|step| series(&borders, times, *step)).collect();
                all.dedup();
                Ok(all)
            }
            Threads::Quick => {
                let mut few = vec![1, machine.usable_strands().count()];
                few.dedup();
                Ok(vec![few])
            }
            Threads::List(list) => match list.iter().find(|&&workers| workers > cap) {
                None => Ok(vec![list.clone()]),
                Some(&workers) => {
                    let because = limits.threads.because.clone();
                    Err(PlanError::Threads { workers, at_most: cap, because })
                }
            },
        }
    }
}

/// How far apart automatic numbers of workers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The source document's (SPARC T3-4 report, section 3.3): powers of two, and halfway between them.
    Halves,
    /// Powers of this number.
    Powers(usize),
}

/// From the closest to none but the borders.
const STEPS: [Step; 5] = [Step::Halves, Step::Powers(2), Step::Powers(4), Step::Powers(8), Step::Powers(usize::MAX)];

/// Where more workers begin to share something else, ascending: one worker, the usable strands of a core, the cores and the strands of a
/// package, the cores of the fastest kind, those of it and the next, all cores, all strands. Where cores or packages differ, those of the
/// first count.
fn borders(machine: &Machine) -> Vec<usize> {
    let strands = || machine.usable_strands();
    let cores = |package: Option<u32>| {
        let of_it = strands().filter(|strand| package.is_none() || strand.package == package);
        of_it.filter_map(|strand| strand.core).collect::<BTreeSet<_>>().len()
    };
    let first = strands().next();
    let package = first.and_then(|first| first.package);
    let of_core =
        strands().filter(|strand| first.is_some_and(|first| strand.core.is_some() && strand.core == first.core));
    let of_package = strands().filter(|strand| package.is_some() && strand.package == package);
    let counts = [1, of_core.count(), cores(package), of_package.count(), cores(None), strands().count()];
    let ranks = strands().map(|strand| machine.speed_rank(strand)).collect::<BTreeSet<_>>();
    let at_least = |rank: u32| {
        let fast = strands().filter(|strand| machine.speed_rank(strand) >= rank);
        fast.filter_map(|strand| strand.core).collect::<BTreeSet<_>>().len()
    };
    counts
        .into_iter()
        .chain(ranks.into_iter().map(at_least))
        .filter(|count| *count > 0)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

fn series(borders: &[usize], times: usize, step: Step) -> Vec<usize> {
    let most = times.saturating_mul(borders.last().copied().unwrap_or(1));
    let base = if let Step::Powers(base) = step { base } else { 2 };
    let powers =
        std::iter::successors(Some(1_usize), |power| power.checked_mul(base)).take_while(|power| *power <= most);
    let halves = |power: usize| (step == Step::Halves).then_some(power + power / 2);
    let steps = powers.flat_map(|power| std::iter::once(power).chain(halves(power)));
    let series: BTreeSet<usize> = steps.chain(borders.iter().copied()).chain([most]).collect();
    series.into_iter().filter(|workers| *workers <= most).collect()
}

impl FromStr for Threads {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Threads::read(text).map(|(threads, _)| threads)
    }
}

impl Threads {
    /// Parses the value of `--threads`; also returns the smallest number that is listed more than once, if there is one.
    pub fn read(text: &str) -> Result<(Self, Option<usize>), String> {
        if text == "auto" {
            return Ok((Threads::Auto, None));
        }
        let mut list = Vec::new();
        for item in text.split(',') {
            list.extend(range(item).map_err(|reason| format!("--threads: {reason}; {EXAMPLE}"))?);
            if list.len() > MOST_NUMBERS {
                return Err(format!("--threads: more than {MOST_NUMBERS} numbers of threads; {EXAMPLE}"));
            }
        }
        list.sort_unstable();
        let repeated = list.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        list.dedup();
        Ok((Threads::List(list), repeated))
    }
}

/// `n`, `a-b` or `a-b:step`.
fn range(item: &str) -> Result<Vec<usize>, String> {
    let (bounds, step) = match item.split_once(':') {
        Some((_, "0")) => return Err(format!("the step of {item:?} is 0; the least is 1")),
        Some((bounds, step)) => (bounds, Some(number(step)?)),
        None => (item, None),
    };
    let Some((first, last)) = bounds.split_once('-').filter(|(first, _)| !first.is_empty()) else {
        return match step {
            None => Ok(vec![number(bounds)?]),
            Some(_) => Err(format!("the step in {item:?} has no range before it")),
        };
    };
    if last.is_empty() {
        return Err(format!("the range {item:?} has no end"));
    }
    let (first, last) = (number(first)?, number(last)?);
    if first > last {
        return Err(format!("the range {item:?} runs backwards"));
    }
    let step = step.unwrap_or(1);
    if (last - first) / step >= MOST_NUMBERS {
        return Err(format!("the range {item:?} has more than {MOST_NUMBERS} numbers"));
    }
    Ok((first..=last).step_by(step).collect())
}

fn number(text: &str) -> Result<usize, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(0) => Err("0 is not a number of threads; the least is 1".into()),
        Ok(number) if digits => Ok(number),
        _ if digits => Err(format!("{text:?} is too large a number")),
        _ => Err(format!("{text:?} is not a whole number")),
    }
}

#[cfg(test)]
mod tests {
    use charz_topology::{Kind, Source, discover};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[usize]) {
        assert_eq!(text.parse(), Ok(Threads::List(expected.to_vec())));
    }

    #[test]
    fn lists_and_ranges() {
        check("3", &[3]);
        check("1,2,4-8", &[1, 2, 4, 5, 6, 7, 8]);
        check("16-64:16", &[16, 32, 48, 64]);
        check("8,1,8,2", &[1, 2, 8]);
        assert_eq!("auto".parse(), Ok(Threads::Auto));
    }

    fn machine(synthetic: &str) -> Machine {
        discover(&Source::Synthetic(synthetic.into())).unwrap()
    }

    fn all(synthetic: &str, times: usize) -> Vec<Vec<usize>> {
        Threads::Auto.resolve(&machine(synthetic), times, &Limits::unlimited()).unwrap()
    }

    #[test]
    fn the_closest_series_is_the_reports() {
        let t3_4 = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024];
        let of_t3_4 = |times| all("Package:4 Core:16 Group:2 PU:4", times).remove(0);
        assert_eq!(of_t3_4(2), t3_4);
        assert_eq!(of_t3_4(1), t3_4[..18]);
        let of = |strands: usize, times| all(&format!("Core:{strands} PU:1"), times).remove(0);
        assert_eq!([of(2, 1), of(2, 2)], [vec![1, 2], vec![1, 2, 3, 4]]);
        assert_eq!([of(1, 1), of(1, 2)], [vec![1], vec![1, 2]]);
        // Ten strands: the knee is no member of the series, and is measured all the same.
        assert_eq!(of(10, 1), [1, 2, 3, 4, 6, 8, 10]);
        assert_eq!(of(10, 2), [1, 2, 3, 4, 6, 8, 10, 12, 16, 20]);
    }

    #[test]
    fn every_series_has_the_borders_of_the_machine() {
        let borders = [1, 2, 24, 48, 96, 192];
        let all = all("Package:4 Core:24 PU:2", 1);
        for (series, closer) in all.iter().skip(1).zip(&all) {
            assert!(series.len() < closer.len(), "{series:?}");
        }
        assert!(all.iter().all(|series| borders.iter().all(|border| series.contains(border))), "{all:?}");
        assert_eq!(all.last().unwrap(), &borders);
        // Five fast cores of two strands, nine slow ones of one.
        let mut hybrid = machine("Core:14 PU:2");
        let kind = |rank| Kind { speed_rank: Some(rank), how_known: String::new(), infos: Vec::new(), strands: 14 };
        hybrid.kinds = [0, 1].map(kind).into();
        for strand in &mut hybrid.strands {
            strand.kind = strand.core.map(|core| u32::from(core < 5));
            strand.usable = strand.slot == 0 || strand.kind == Some(1);
        }
        let series = Threads::Auto.resolve(&hybrid, 1, &Limits::unlimited()).unwrap();
        assert_eq!(series.last().unwrap(), &[1, 2, 5, 14, 19]);
        // A machine of which nothing is known but its strands.
        assert_eq!(self::all("PU:7", 1).last().unwrap(), &[1, 7]);
    }

    #[test]
    fn a_cap_is_named_with_its_reason() {
        let mut limits = Limits::unlimited();
        limits.threads.at_most = 100;
        limits.threads.because = "pids.max is 120".into();
        let machine = machine("Core:64 PU:1");
        let error = "50,101".parse::<Threads>().unwrap().resolve(&machine, 1, &limits).unwrap_err().to_string();
        assert!(error.contains("101") && error.contains("100") && error.contains("pids.max is 120"), "{error}");
        assert!(limits.obstacle(101, 0, charz_kernels::PageKind::Small).unwrap().contains("pids.max is 120"));
        assert_eq!(limits.obstacle(100, 0, charz_kernels::PageKind::Small), None);
        assert_eq!(
            Threads::Auto.resolve(&machine, 2, &limits).unwrap()[0].last(),
            Some(&128),
            "reported, not left out"
        );
        assert_eq!(Threads::Quick.resolve(&machine, 1, &limits).unwrap(), [[1, 64]]);
        assert_eq!(Threads::Quick.resolve(&self::machine("PU:1"), 1, &limits).unwrap(), [[1]]);
    }
}
