//! `bench-gate`: whether a change made anything slower, on a machine that is never quiet.
//!
//! Pure code is compared by the instructions that it takes, which no neighbour can move; `--quick` compares nothing else.
//! What touches the machine is compared by the clock: both revisions take turns, and only a shift beyond noise counts.

mod base;
mod counts;
mod programs;
mod wall;

use xtask::arguments::number;
use xtask::failure::{Failure, Outcome};
use xtask::packages::{self, VALGRIND};

use base::Base;
use programs::{Build, Side};

/// A planted slowdown has to be this large, in percent, for the self-test.
const PLANT: u32 = 10;

/// What can be said of one bench.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    /// Beyond threshold and noise: this fails the gate.
    Slower,
    Faster,
    Same,
    /// Too noisy for a verdict: this does not fail the gate.
    Inconclusive,
    /// Only in the head.
    New,
    /// Only in the base.
    Gone,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Slower => "SLOWER",
            Verdict::Faster => "faster",
            Verdict::Same => "same",
            Verdict::Inconclusive => "inconclusive",
            Verdict::New => "new",
            Verdict::Gone => "gone",
        }
    }
}

/// The line of one bench.
#[derive(Debug)]
struct Row {
    bench: String,
    verdict: Verdict,
    evidence: String,
}

impl Row {
    /// The row of a bench that only one side has.
    fn unmatched(bench: String, verdict: Verdict) -> Self {
        Row { bench, verdict, evidence: String::new() }
    }
}

/// Compares, and fails on a slowdown.
pub fn start(arguments: &[String]) -> Outcome {
    let request = Request::parse(arguments)?;
    packages::ensure(&[VALGRIND])?;
    if request.own {
        return self_test(&programs::head(Build::Full)?, request.rounds);
    }
    let base = match base::choose(request.base.as_deref())? {
        Ok(Base { id, why }) => {
            println!("base: {} ({why})", &id[..12]);
            id
        }
        Err(why) => return not_gated(&why),
    };
    let rows = if request.quick {
        match counts::quick(&base)? {
            Ok(rows) => rows,
            Err(why) => return not_gated(&why),
        }
    } else {
        // The base first: one that does not build should not cost a build of the head.
        let counts_alike = base::counts_alike(&base);
        let Some(base) = programs::base(&base, Build::Full)? else { return not_gated("the base has no benches") };
        let head = programs::head(Build::Full)?;
        let mut rows = if counts_alike {
            counts::compare(&base, &head, request.plant)?
        } else {
            println!("instructions are not compared: {}", counts::OTHERWISE);
            Vec::new()
        };
        rows.extend(wall::compare(&base, &head, request.rounds, request.plant)?);
        rows
    };
    match slower(&rows) {
        0 => Ok(()),
        n => Err(Failure::found(format!(
            "slower than the base: {n} of {} benches; `Slower: CASE REASON` at the end of a commit message accepts what is counted",
            rows.len()
        ))),
    }
}

/// Nothing to compare with is no failure, but must not look like a comparison.
fn not_gated(why: &str) -> Outcome {
    println!("NOT GATED: {why}");
    Ok(())
}

/// The gate against itself: unchanged code has to pass, the same code with a planted slowdown has to fail: pure code and kernels by
/// their instructions, the harness by the clock.
fn self_test(head: &Side, rounds: usize) -> Outcome {
    let compare = |plant| Ok([counts::compare(head, head, plant)?, wall::compare(head, head, rounds, plant)?]);
    println!("unchanged code:");
    let unchanged: usize = compare(0)?.iter().map(|rows| slower(rows)).sum();
    println!("\nthe same code, slowed down by {PLANT} %:");
    let [counted, clocked] = compare(PLANT)?;
    let (by_count, by_clock) = (slower(&counted), slower(&clocked));
    println!(
        "\nslower: {unchanged} when unchanged; when slowed down {by_count} of {} by instructions, {by_clock} of {} by the clock",
        counted.len(),
        clocked.len()
    );
    if unchanged > 0 {
        return Err(Failure::found("the gate takes unchanged code for slower"));
    }
    let harness = clocked.iter().any(|row| row.bench.starts_with("noop/") && row.verdict == Verdict::Slower);
    match by_count == counted.len() && harness {
        true => Ok(()),
        false => Err(Failure::found(
            "the gate does not see a planted slowdown of everything that is counted, and of the harness",
        )),
    }
}

/// Prints the rows; returns how many are slower.
fn slower(rows: &[Row]) -> usize {
    let width = rows.iter().map(|row| row.bench.len()).max().unwrap_or(0);
    for Row { bench, verdict, evidence } in rows {
        println!("{}", format!("{:<12}  {bench:<width$}  {evidence}", verdict.word()).trim_end());
    }
    rows.iter().filter(|row| row.verdict == Verdict::Slower).count()
}

/// What was asked for.
#[derive(Debug, PartialEq)]
struct Request {
    base: Option<String>,
    own: bool,
    quick: bool,
    /// Rounds of the clock's comparison; more are taken when so few could not show anything.
    rounds: usize,
    /// A slowdown of the head to plant, in percent.
    plant: u32,
}

impl Request {
    fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut request = Request { base: None, own: false, quick: false, rounds: wall::ROUNDS, plant: 0 };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| Failure::usage(format!("{word} needs a value")));
            match word.as_str() {
                "--base" => request.base = Some(value()?.clone()),
                "--rounds" => request.rounds = number(word, value()?, &(1..=1000))?,
                "--plant" => request.plant = number(word, value()?, &(0..=1000))?,
                "--self-test" => request.own = true,
                "--quick" => request.quick = true,
                _ => return Err(Failure::usage(format!("`bench-gate` does not know {word:?}"))),
            }
        }
        let alone = request.base.is_none() && request.plant == 0 && !request.quick;
        if request.own && !alone {
            return Err(Failure::usage("--self-test takes --rounds only"));
        }
        if request.quick && request.plant != 0 {
            return Err(Failure::usage("--quick plants nothing; leave --plant out"));
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Request, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Request::parse(&words).map_err(|failure| failure.to_string())
    }

    #[test]
    fn requests() {
        let usual = || Request { base: None, own: false, quick: false, rounds: wall::ROUNDS, plant: 0 };
        assert_eq!(parsed(""), Ok(usual()));
        assert_eq!(
            parsed("--quick --base main~2"),
            Ok(Request { base: Some("main~2".into()), quick: true, ..usual() })
        );
        assert_eq!(parsed("--rounds 30 --plant 20"), Ok(Request { rounds: 30, plant: 20, ..usual() }));
        assert_eq!(parsed("--self-test --rounds 10"), Ok(Request { own: true, rounds: 10, ..usual() }));
        for line in [
            "--base",
            "--base a --self-test",
            "--self-test --plant 20",
            "--rounds 0",
            "--rounds 1e3",
            "--quick --plant 5",
            "--fast",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
