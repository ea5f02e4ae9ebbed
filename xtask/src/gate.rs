//! `bench-gate`: whether a change made anything slower, on a machine that is never quiet.
//!
//! Pure code is compared by the instructions that it takes, which no neighbour can move. What touches the machine is
//! compared by the clock: both revisions take turns on the same machine, and only a shift that beats its own noise counts.

mod build;
mod counts;
mod verdict;
mod wall;

use std::num::ParseIntError;

use crate::failure::{Failure, Outcome};
use crate::packages::{self, VALGRIND};
use crate::setup;
use build::Side;
use verdict::{Row, Verdict};

/// A planted slowdown has to be this large, in percent, for the self-test.
const PLANT: u32 = 20;

/// What was asked for.
#[derive(Debug, PartialEq)]
struct Request {
    /// The revision to compare with; none for the self-test.
    base: Option<String>,
    /// Rounds of the clock's comparison; more are taken when so few could not show anything.
    rounds: usize,
    /// A slowdown of the head to plant, in percent.
    plant: u32,
}

/// Compares, and fails on a slowdown.
pub fn start(arguments: &[String]) -> Outcome {
    let request = Request::parse(arguments)?;
    setup::quietly()?;
    packages::ensure(&[VALGRIND])?;
    let Some(revision) = &request.base else { return self_test(&build::head()?, request.rounds) };
    // The base first: a mistyped revision should not cost a build.
    let Some(base) = build::base(revision)? else {
        println!("{revision} has no benches; nothing to compare with");
        return Ok(());
    };
    let head = build::head()?;
    match compare(&base, &head, request.rounds, request.plant)?.iter().sum() {
        0 => Ok(()),
        1 => Err(Failure::found("one bench is slower than its base")),
        n => Err(Failure::found(format!("{n} benches are slower than their base"))),
    }
}

/// The gate against itself: unchanged code has to pass, the same code with a planted slowdown has to fail, by each of the
/// two ways to compare.
fn self_test(head: &Side, rounds: usize) -> Outcome {
    println!("unchanged code:");
    let unchanged: usize = compare(head, head, rounds, 0)?.iter().sum();
    println!("\nthe same code, slowed down by {PLANT} %:");
    let [counted, clocked] = compare(head, head, rounds, PLANT)?;
    println!(
        "\nslower: {unchanged} when unchanged; when slowed down {counted} by instructions, {clocked} by the clock"
    );
    match (unchanged, counted, clocked) {
        (1.., _, _) => Err(Failure::found("the gate takes unchanged code for slower")),
        (0, 1.., 1..) => Ok(()),
        _ => Err(Failure::found("the gate does not see a planted slowdown")),
    }
}

/// Prints the comparison of all benches and returns how many are slower by instructions, and by the clock.
fn compare(base: &Side, head: &Side, rounds: usize, plant: u32) -> Outcome<[usize; 2]> {
    let counted = counts::compare(base, head, plant)?;
    print(&counted);
    let clocked = wall::compare(base, head, rounds, plant)?;
    print(&clocked);
    Ok([counted, clocked].map(|rows| rows.iter().filter(|row| row.verdict == Verdict::Slower).count()))
}

fn print(rows: &[Row]) {
    let width = rows.iter().map(|row| row.bench.len()).max().unwrap_or(0);
    for Row { bench, verdict, evidence } in rows {
        println!("{:<12}  {bench:<width$}  {evidence}", verdict.word());
    }
}

impl Request {
    fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut request = Request { base: None, rounds: wall::ROUNDS, plant: 0 };
        let mut own = false;
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| Failure::usage(format!("{word} needs a value")));
            match word.as_str() {
                "--base" => request.base = Some(value()?.clone()),
                "--rounds" => request.rounds = number(word, value()?, 1, 1000)?,
                "--plant" => request.plant = number(word, value()?, 0, 1000)?,
                "--self-test" => own = true,
                _ => return Err(Failure::usage(format!("`bench-gate` does not know {word:?}"))),
            }
        }
        match (&request.base, own) {
            (Some(_), false) => Ok(request),
            (None, true) if request.plant == 0 => Ok(request),
            (None, true) => Err(Failure::usage("--self-test plants its own slowdown; leave --plant out")),
            _ => Err(Failure::usage("`bench-gate` takes either --base REV or --self-test")),
        }
    }
}

fn number<N>(option: &str, text: &str, least: N, most: N) -> Outcome<N>
where
    N: std::str::FromStr<Err = ParseIntError> + PartialOrd + std::fmt::Display,
{
    let refused = || Failure::usage(format!("{option} takes a number from {least} to {most}, not {text:?}"));
    text.parse().ok().filter(|n| (&least..=&most).contains(&n)).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn parsed(line: &str) -> Result<Request, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Request::parse(&words).map_err(|failure| failure.to_string())
    }

    #[test]
    fn requests() {
        let base = Some("main~2".to_owned());
        assert_eq!(parsed("--base main~2"), Ok(Request { base: base.clone(), rounds: wall::ROUNDS, plant: 0 }));
        assert_eq!(parsed("--rounds 30 --base main~2 --plant 20"), Ok(Request { base, rounds: 30, plant: 20 }));
        assert_eq!(parsed("--self-test --rounds 10"), Ok(Request { base: None, rounds: 10, plant: 0 }));
    }

    #[test]
    fn refused_requests() {
        for line in [
            "",
            "--base",
            "--base a --self-test",
            "--self-test --plant 20",
            "--base a --rounds 0",
            "--base a --rounds -1",
            "--base a --rounds 1e3",
            "--base a --rounds 1001",
            "--base a --fast",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
