//! Numbers of workers that follow from the machine: a document's thread counts, and their like here.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::place::Place;

/// A number of workers, or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub enum Count {
    /// This number.
    Fixed(u64),
    /// `times` of `what`, divided by `over`, and `more`; but at most `most`.
    Of { what: What, times: u64, over: u64, more: u64, most: Option<u64> },
    /// Each number of the T3-4 report's series (2ⁿ and 2ⁿ+2ⁿ⁻¹) between 1 and the strands of the machine.
    Between,
}

/// What is counted of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Its usable strands.
    Strands,
    /// Its cores.
    Cores,
    /// Its packages.
    Packages,
    /// The strands of one core.
    Core,
}

/// The documents went past their machines' strands; so many times as many are the most here.
pub(super) const MOST_TIMES: u64 = 2;

impl Count {
    /// The numbers on a machine, each at least 1.
    ///
    /// # Errors
    /// Why there is none, as a clause.
    pub fn on(&self, place: &Place) -> Result<Vec<u64>, String> {
        let strands = place.strands;
        let most = MOST_TIMES * strands.max(1);
        let number = match self {
            Count::Fixed(number) => *number,
            Count::Of { what, times, over, more, most } => {
                let whole = place.count(*what) * times;
                if whole < *over {
                    return Err(format!("{self} is less than one worker on {strands} strands"));
                }
                (whole / over + more).min(most.unwrap_or(u64::MAX))
            }
            Count::Between => {
                let powers = (0..63).map(|power| 1_u64 << power).take_while(|&power| power < strands);
                let mut series: Vec<u64> = powers.flat_map(|power| [power, power + power / 2]).collect();
                series.retain(|&workers| workers > 1 && workers < strands);
                series.dedup();
                return match series.is_empty() {
                    true => Err(format!("on {strands} strands there is no number of workers between 1 and all")),
                    false => Ok(series),
                };
            }
        };
        match number {
            0 => Err(format!("{self} is no worker on {strands} strands")),
            number if number > most => Err(format!("more workers than twice the {strands} strands of this machine")),
            number => Ok(vec![number]),
        }
    }

    /// The one number on a machine.
    ///
    /// # Errors
    /// Why there is none, as a clause.
    pub fn one_on(&self, place: &Place) -> Result<u64, String> {
        let numbers = self.on(place)?;
        numbers.first().copied().ok_or_else(|| format!("{self} is no worker here"))
    }

    /// Whether a machine of any size has it.
    pub fn is_relative(&self) -> bool {
        !matches!(self, Count::Fixed(_))
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Fixed(number) => write!(f, "{number}"),
            Count::Between => f.write_str("each number between 1 and all strands"),
            Count::Of { what, times, over, more, most } => {
                let what = match what {
                    What::Strands => "the strands",
                    What::Cores => "the cores",
                    What::Packages => "the packages",
                    What::Core => "the strands of a core",
                };
                match (times, over) {
                    (1, 1) => write!(f, "all {what}")?,
                    (1, 2) => write!(f, "half of {what}")?,
                    (1, 4) => write!(f, "a quarter of {what}")?,
                    (times, 1) => write!(f, "{times} times {what}")?,
                    (times, over) => write!(f, "{times}/{over} of {what}")?,
                }
                if *more > 0 {
                    write!(f, " and {more} more")?;
                }
                most.map_or(Ok(()), |most| write!(f, ", at most {most}"))
            }
        }
    }
}

/// As it stands in a file: a number, or a text such as `strands/2`, `3*strands/2`, `2*strands+1`, `strands<=16`, `between`.
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
            Written::Number(0) => Err("0 is no number of workers".into()),
            Written::Number(number) => Ok(Count::Fixed(number)),
            Written::Text(text) => text.parse(),
        }
    }
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "between" {
            return Ok(Count::Between);
        }
        let number = |text: &str| text.parse().ok().filter(|&n: &u64| n > 0).ok_or(format!("{text:?} is no number"));
        let (text, most) = match text.split_once("<=") {
            Some((text, most)) => (text, Some(number(most)?)),
            None => (text, None),
        };
        let (text, more) = match text.split_once('+') {
            Some((text, more)) => (text, number(more)?),
            None => (text, 0),
        };
        let (text, over) = match text.split_once('/') {
            Some((text, over)) => (text, number(over)?),
            None => (text, 1),
        };
        let (times, text) = match text.split_once('*') {
            Some((times, text)) => (number(times)?, text),
            None => (1, text),
        };
        let what = match text {
            "strands" => What::Strands,
            "cores" => What::Cores,
            "packages" => What::Packages,
            "core" => What::Core,
            _ => return Err(format!("{text:?} is nothing that a machine has so many of")),
        };
        Ok(Count::Of { what, times, over, more, most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(strands: u64, cores: u64) -> Place {
        Place { strands, cores, packages: 1, nodes: 1 }
    }

    #[track_caller]
    fn check(text: &str, place: &Place, expected: Result<&[u64], &str>) {
        let found = text.parse::<Count>().unwrap().on(place);
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
            (Err(found), Err(word)) => assert!(found.contains(word), "{text}: {found}"),
            (found, expected) => panic!("{text}: {found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn numbers_follow_from_the_machine() {
        let large = place(512, 64);
        check("strands", &large, Ok(&[512]));
        check("3*strands/2", &large, Ok(&[768]));
        check("strands+1", &large, Ok(&[513]));
        check("core", &large, Ok(&[8]));
        check("strands<=16", &large, Ok(&[16]));
        check("between", &place(8, 4), Ok(&[2, 3, 4, 6]));
        check("2*strands+1", &large, Err("more workers than twice the 512"));
        let small = place(2, 2);
        check("strands/4", &small, Err("less than one"));
        check("between", &small, Err("no number"));
        check("strands/2", &small, Ok(&[1]));
        check("core", &small, Ok(&[1]));
    }

    #[test]
    fn fixed_numbers_are_cut_to_twice_the_strands() {
        assert_eq!(Count::Fixed(4).on(&place(2, 2)), Ok(vec![4]));
        assert!(Count::Fixed(6).on(&place(2, 2)).unwrap_err().contains("twice the 2 strands"));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "threads", "strands/0", "x*strands", "strands+", "strands<=0", "-1"] {
            assert!(text.parse::<Count>().is_err(), "{text}");
        }
    }
}
