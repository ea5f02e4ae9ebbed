//! `peers`: how charz compares with the programs that people use for the same thing.
//!
//! Both take turns on the same machine, so disturbances affect both equally, and each pair of turns gives one ratio.

mod program;
mod rows;

use std::process::Command;

use charz_stats::Sample;
use xtask::packages::{self, CC, LIKWID, LSCPU};
use xtask::{Failure, Outcome, arguments, process, setup, workspace};

use program::Programs;
use rows::Row;

/// The default number of pairs of turns.
const PAIRS: usize = 15;

/// Runs the rows whose names start with one of those given, or all, and prints the table.
pub fn start(words: &[String]) -> Outcome {
    let (names, pairs) = arguments::names_and_number("peers", "--pairs", 1..=1000, words)?;
    let rows = rows::all();
    let chosen: Vec<&Row> = rows.iter().filter(|row| is_chosen(row, &names)).collect();
    if let Some(unknown) = names.iter().find(|name| !rows.iter().any(|row| row.name.starts_with(name.as_str()))) {
        let known = rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>().join(", ");
        return Err(Failure::usage(format!("no row starts with {unknown:?}; the rows are {known}")));
    }
    setup::quietly()?;
    let likwid = chosen.iter().any(|row| row.ours.is_likwid() || row.peer.is_likwid());
    if likwid {
        packages::ensure(&[LIKWID])?;
    }
    packages::ensure(&[LSCPU, CC])?;
    let programs = build()?;
    let width = chosen.iter().map(|row| row.name.len()).max().unwrap_or(0);
    println!(
        "{:<width$}  {:>9}  {:>9}  unit     {:>6}  {:>6}  pairs  target       compared",
        "row", "ours", "peer", "ratio", "spread"
    );
    let mut missed = 0;
    for row in chosen {
        match compare(row, &programs, pairs.unwrap_or(PAIRS)) {
            Ok(result) => {
                println!("{:<width$}  {}", row.name, result.line(row));
                missed += usize::from(!result.is_met(row));
            }
            // A peer that cannot run here is no reason to lose the other rows.
            Err(failure) => println!("{:<width$}  not compared: {failure}", row.name),
        }
    }
    println!(
        "spread is the distance between the quartiles of the ratios; larger rates are better, and so are larger ratios\n\
         compared: which of the rates of a turn counts, of ours with the peer's; the best exceeds the mean by some percent"
    );
    if missed == 0 { Ok(()) } else { Err(Failure::found(format!("targets missed: {missed}"))) }
}

fn is_chosen(row: &Row, names: &[String]) -> bool {
    names.is_empty() || names.iter().any(|name| row.name.starts_with(name.as_str()))
}

fn build() -> Outcome<Programs> {
    let examples = ["build", "--release", "--package", "charz-kernels", "--example", "kernel", "--example", "bare"];
    process::run(workspace::cargo().args(examples))?;
    let folder = workspace::built("release").join("examples");
    let compile = |name: &str| {
        let (program, source) = (folder.join(name), workspace::root().join(format!("xtask/bench/src/peers/{name}.c")));
        process::run(Command::new("cc").args(["-O2", "-pthread", "-o"]).arg(program).arg(source))
    };
    compile("probe")?;
    compile("memory")?;
    Ok(Programs { charz: workspace::build_charz()?, folder })
}

/// The median of a program's values, of which there is at least one.
fn median(values: &[f64]) -> f64 {
    Sample::new(values.to_vec()).map_or(f64::NAN, |sample| sample.median())
}

/// What the turns of a row gave: rates, ours and the peer's, pair by pair.
struct Comparison {
    ours: Vec<f64>,
    peer: Vec<f64>,
}

fn compare(row: &Row, programs: &Programs, pairs: usize) -> Outcome<Comparison> {
    let mut result = Comparison { ours: Vec::new(), peer: Vec::new() };
    for pair in 0..pairs {
        // Every other pair starts with the peer, so neither side gains from going first.
        if pair % 2 == 0 {
            result.ours.push(programs.rate(&row.ours)?);
            result.peer.push(programs.rate(&row.peer)?);
        } else {
            result.peer.push(programs.rate(&row.peer)?);
            result.ours.push(programs.rate(&row.ours)?);
        }
    }
    Ok(result)
}

impl Comparison {
    fn ratios(&self) -> Vec<f64> {
        self.ours.iter().zip(&self.peer).map(|(ours, peer)| ours / peer).collect()
    }

    fn is_met(&self, row: &Row) -> bool {
        median(&self.ratios()) >= row.target
    }

    fn line(&self, row: &Row) -> String {
        let ratios = self.ratios();
        format!(
            "{:>9.3}  {:>9.3}  {:<7}  {:>6.3}  {:>6.3}  {:>5}  {:.2} {:<6}  {} with {}",
            median(&self.ours),
            median(&self.peer),
            row.unit,
            median(&ratios),
            Sample::new(ratios.clone()).map_or(0.0, |ratios| ratios.quartile_range()),
            ratios.len(),
            row.target,
            if self.is_met(row) { "met" } else { "MISSED" },
            row.ours.estimator(),
            row.peer.estimator()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_that_of_a_pair() {
        // The second pair met a slow phase, which says nothing about either program.
        let result = Comparison { ours: vec![12.0, 6.0, 12.0], peer: vec![10.0, 5.0, 10.0] };
        let row = |target| Row { target, ..rows::all().swap_remove(0) };
        assert!(result.ratios().iter().all(|ratio| (ratio - 1.2).abs() < 1e-12));
        assert!(result.is_met(&row(1.19)) && !result.is_met(&row(1.21)));
        // A mean over passes on both sides: likwid-bench has no other.
        let line = |name: &str| result.line(rows::all().iter().find(|row| row.name == name).unwrap());
        assert!(line("mem-read-1-4k").ends_with("mean of 20 with mean of 20"), "{}", line("mem-read-1-4k"));
        assert!(line("mem-read-2-4k").ends_with("median of 20 with mean of 20"), "{}", line("mem-read-2-4k"));
    }

    #[test]
    fn names_of_rows_are_unique() {
        let rows = rows::all();
        for (at, row) in rows.iter().enumerate() {
            assert!(rows[..at].iter().all(|other| other.name != row.name), "{} twice", row.name);
        }
    }
}
