//! Worker counts of a document, and their counterparts on a machine of another size.

use std::str::FromStr;

use serde::Deserialize;

use super::cell::Target;
use super::why::Why;

/// A worker count as a document's file has it: a number, `strands`, `core` (the strands of the first core), `strands/2`, `3*strands/2`,
/// `2*strands+1`, `strands<=16`, the same of `cores`, or `between`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub(super) enum Count {
    Fixed(u64),
    /// `times` the strands or the cores divided by `over`, plus `more`, at most `max`.
    Parts {
        of_cores: bool,
        times: u64,
        over: u64,
        more: u64,
        max: Option<u64>,
    },
    Core,
    /// Each number of the T3-4 report's series (2ⁿ and 2ⁿ+2ⁿ⁻¹) between 1 and the strands of the machine.
    Between,
}

impl Count {
    /// The numbers on a machine.
    pub(super) fn numbers(&self, target: &Target) -> Result<Vec<u64>, Why<'static>> {
        let cpus = target.strands;
        let number = match *self {
            Count::Fixed(number) => number,
            Count::Core => target.core,
            Count::Parts { of_cores, times, over, more, max } => {
                let parts = if of_cores { target.cores } else { cpus };
                if parts * times < over {
                    return Err(Why::LessThanOne { times, over, parts, of_cores });
                }
                (parts * times / over + more).min(max.unwrap_or(u64::MAX))
            }
            Count::Between => {
                let powers = (0..63).map(|power| 1_u64 << power).take_while(|&power| power < cpus);
                let mut series: Vec<u64> = powers.flat_map(|power| [power, power + power / 2]).collect();
                series.retain(|&workers| workers > 1 && workers < cpus);
                series.dedup();
                return if series.is_empty() { Err(Why::NoneBetween { cpus }) } else { Ok(series) };
            }
        };
        match self.fixed() {
            _ if number == 0 => Err(Why::NoCpu),
            Some(fixed) if fixed > target.max_workers() => Err(Why::TooManyThreads { cpus }),
            _ => Ok(vec![number]),
        }
    }

    /// The number on a machine, of several the first.
    pub(super) fn number(&self, target: &Target) -> Result<u64, Why<'static>> {
        self.numbers(target).map(|numbers| numbers[0])
    }

    /// The number if it is the same on each machine.
    pub(super) fn fixed(&self) -> Option<u64> {
        match self {
            Count::Fixed(number) => Some(*number),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(u64),
    Text(String),
}

impl TryFrom<Written> for Count {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        match written {
            Written::Number(0) => Err("0 threads".into()),
            Written::Number(number) => Ok(Count::Fixed(number)),
            Written::Text(text) => text.parse(),
        }
    }
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |digits: &str| {
            digits.parse().ok().filter(|&n: &u64| n > 0).ok_or_else(|| format!("{text:?} is not a thread count"))
        };
        // The number behind a sign, if the sign is there.
        let split = |rest: &mut &str, sign: &str| {
            let Some((before, behind)) = rest.split_once(sign) else { return Ok(None) };
            *rest = before;
            number(behind).map(Some)
        };
        let mut rest = text;
        let max = split(&mut rest, "<=")?;
        let more = split(&mut rest, "+")?.unwrap_or(0);
        let over = split(&mut rest, "/")?.unwrap_or(1);
        let (times, unit) = match rest.split_once('*') {
            Some((times, unit)) => (number(times)?, unit),
            None => (1, rest),
        };
        match (unit, text) {
            ("strands" | "cores", _) => Ok(Count::Parts { of_cores: unit == "cores", times, over, more, max }),
            (_, "core") => Ok(Count::Core),
            (_, "between") => Ok(Count::Between),
            _ => Err(format!("{text:?} is not a thread count")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernels;

    #[track_caller]
    fn check(text: &str, [strands, cores]: [u64; 2], expected: Option<&[u64]>) {
        let target = Target { strands, cores, core: strands / cores, ..Target::flat(1, Kernels::ANY) };
        let found = text.parse::<Count>().unwrap().numbers(&target).ok();
        assert_eq!(found.as_deref(), expected, "{text} on {strands}");
    }

    #[test]
    fn numbers_follow_from_the_machine() {
        check("strands", [512, 64], Some(&[512]));
        check("3*strands/2", [512, 64], Some(&[768]));
        check("strands+1", [512, 64], Some(&[513]));
        check("core", [512, 64], Some(&[8]));
        check("strands<=16", [512, 64], Some(&[16]));
        check("2*strands+1", [16, 16], Some(&[33]));
        check("between", [8, 4], Some(&[2, 3, 4, 6]));
        check("between", [2, 2], None);
        check("strands/4", [2, 2], None);
        check("strands/2", [2, 2], Some(&[1]));
        check("core", [2, 2], Some(&[1]));
        check("cores/2", [16, 8], Some(&[4]));
        check("2*cores", [16, 8], Some(&[16]));
        check("cores/4", [8, 2], None);
    }

    /// Cores of two kinds, or some of whose strands are not usable.
    #[test]
    fn a_core_is_the_first_one() {
        let mut machine = charz_estimate::fixtures::report("Core:4 PU:2").machine;
        machine
            .strands
            .iter_mut()
            .filter(|strand| [3, 5, 7].contains(&strand.os_id))
            .for_each(|strand| strand.usable = false);
        let target = Target::new(&machine, Kernels::ANY);
        assert_eq!((target.strands, Count::Core.numbers(&target)), (5, Ok(vec![2])));
    }

    #[test]
    fn malformed_counts_are_refused() {
        for text in ["", "threads", "strands/0", "x*strands", "strands+", "strands<=0", "-1", "core/2", "2*between"] {
            assert!(text.parse::<Count>().is_err(), "{text}");
        }
    }
}
