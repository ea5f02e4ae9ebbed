//! Numbers of workers, as a user writes them.

use std::str::FromStr;

use crate::exit::Error;
use crate::limits::Limits;

/// `auto`, or a list such as `1,2,4-8,16-64:16`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Threads {
    /// 2ⁿ and 2ⁿ+2ⁿ⁻¹ up to the strands, or as many times the strands as is asked for, and the number of strands itself.
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
    /// The numbers for a machine of which `strands` strands are usable. `times` as many workers as strands are the most that
    /// [`Auto`](Threads::Auto) takes.
    pub fn resolve(&self, strands: usize, times: usize, limits: &Limits) -> Result<Vec<usize>, Error> {
        let cap = limits.threads.at_most;
        match self {
            Threads::Auto => Ok(series(strands, times)),
            Threads::Quick => {
                let mut few = vec![1, strands];
                few.dedup();
                Ok(few)
            }
            Threads::List(list) => match list.iter().find(|&&workers| workers > cap) {
                None => Ok(list.clone()),
                Some(workers) => Err(Error::bad_input(format!(
                    "--threads: {workers} workers are more than the {cap} that are safe here ({}); ask for fewer",
                    limits.threads.because
                ))),
            },
        }
    }
}

/// The source document's thread counts (SPARC T3-4 report, section 3.3), and the strand count, where the knee is.
fn series(strands: usize, times: usize) -> Vec<usize> {
    let most = times.saturating_mul(strands.max(1));
    let powers = (0..usize::BITS - 1).map(|n| 1 << n).take_while(|&power| power <= most);
    let mut series: Vec<_> = powers.flat_map(|power| [power, power + power / 2]).collect();
    series.push(strands);
    series.retain(|&workers| (1..=most).contains(&workers));
    series.sort_unstable();
    series.dedup();
    series
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
                return Err(format!("--threads: more than {MOST_NUMBERS} numbers of workers; {EXAMPLE}"));
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
        Ok(0) => Err("0 is not a number of workers; the least is 1".into()),
        Ok(number) if digits => Ok(number),
        _ if digits => Err(format!("{text:?} is too large a number")),
        _ => Err(format!("{text:?} is not a whole number")),
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn the_series_is_the_reports() {
        let t3_4 = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024];
        assert_eq!(series(512, 2), t3_4);
        assert_eq!(series(512, 1), t3_4[..18]);
        assert_eq!([series(2, 1), series(2, 2)], [vec![1, 2], vec![1, 2, 3, 4]]);
        assert_eq!([series(1, 1), series(1, 2)], [vec![1], vec![1, 2]]);
        // Ten strands: the knee is no member of the series, and is measured all the same.
        assert_eq!(series(10, 1), [1, 2, 3, 4, 6, 8, 10]);
        assert_eq!(series(10, 2), [1, 2, 3, 4, 6, 8, 10, 12, 16]);
    }

    #[test]
    fn a_cap_is_named_with_its_reason() {
        let mut limits = Limits::unlimited();
        limits.threads.at_most = 100;
        limits.threads.because = "pids.max is 120".into();
        let error = "50,101".parse::<Threads>().unwrap().resolve(64, 1, &limits).unwrap_err().to_string();
        assert!(error.contains("101") && error.contains("100") && error.contains("pids.max is 120"), "{error}");
        assert!(limits.obstacle(101, 0, charz_kernels::PageKind::Small).unwrap().contains("pids.max is 120"));
        assert_eq!(limits.obstacle(100, 0, charz_kernels::PageKind::Small), None);
        assert_eq!(Threads::Auto.resolve(64, 2, &limits).unwrap().last(), Some(&128), "reported, not left out");
        assert_eq!(Threads::Quick.resolve(64, 1, &limits).unwrap(), [1, 64]);
        assert_eq!(Threads::Quick.resolve(1, 1, &limits).unwrap(), [1]);
    }
}
