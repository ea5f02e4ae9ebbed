//! Code that touches nothing but memory of its own, for counting its instructions: `--list` names the cases, `--case NAME`
//! runs one, anything else runs them all.
//!
//! A counter of instructions such as callgrind looks only at what happens inside [`counted`], so building the inputs
//! does not count. `cargo xtask bench-gate` does so for two revisions.
#![allow(clippy::print_stdout, reason = "the list of cases is this program's output")]

#[allow(dead_code, reason = "each bench uses its part")]
mod fixtures;
#[allow(dead_code, reason = "each bench uses its part")]
mod machines;

use std::hint::black_box;

use charz_analysis::compare::{Options, compare};
use charz_analysis::page::{Source, page};
use charz_data::report::Report;
use charz_render::{html, look::TerminalStyle};
use charz_stats::Sample;
use charz_topology::{MAPPERS, Mapping, place};

/// How often [`counted`] runs a case: a planted slowdown of 20 % is one time more.
const TIMES: u32 = 5;

/// Something to count; building it does not count, calling it does.
type Body = Box<dyn FnMut()>;

/// A case: its name, and how to build it.
struct Case {
    name: String,
    build: Box<dyn Fn() -> Body>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let cases = cases();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--list", ..] => cases.iter().for_each(|case| println!("{}", case.name)),
        ["--case", name, ..] => {
            let case = cases.iter().find(|case| case.name == *name).expect("the case is listed");
            let percent: u32 = std::env::var("CHARZ_BENCH_PLANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
            counted(&mut *(case.build)(), TIMES * (100 + percent) / 100);
        }
        _ => cases.iter().for_each(|case| counted(&mut *(case.build)(), 1)),
    }
}

/// The only function whose instructions count, with all that it calls.
#[inline(never)]
fn counted(body: &mut dyn FnMut(), times: u32) {
    for _ in 0..times {
        body();
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for strands in [512, 4096] {
        for card in MAPPERS.iter().filter(|card| card.parameter.is_none()) {
            cases.push(case(format!("order-{}-{strands}", card.name), move || {
                let machine = machines::machine(strands);
                let mapping: Mapping = card.name.parse().expect("the table's own name");
                Box::new(move || keep(mapping.order(&machine)))
            }));
        }
    }
    cases.push(case("place", || {
        let order = "dumb"
            .parse::<Mapping>()
            .and_then(|mapping| mapping.order(&machines::machine(4096)))
            .expect("it has strands");
        Box::new(move || keep(place(&order, 10_000)))
    }));
    cases.push(case("report-write", || {
        let report = fixtures::report(16);
        Box::new(move || keep(serde_json::to_vec(&report).expect("a report can be written")))
    }));
    cases.push(case("report-read", || {
        let text = serde_json::to_vec(&fixtures::report(16)).expect("a report can be written");
        Box::new(move || keep(serde_json::from_slice::<Report>(&text).expect("it is a report")))
    }));
    cases.push(case("page", || {
        let report = fixtures::report(16);
        Box::new(move || {
            let mut out = Vec::new();
            html::write(&page(&[Source { name: "a", report: &report }]), &TerminalStyle::PLAIN, &mut out)
                .expect("memory takes it");
            keep(out);
        })
    }));
    cases.push(case("compare", || {
        let report = fixtures::report(16);
        Box::new(move || keep(compare(&report, &report, &Options::default()).expect("they are of one plan")))
    }));
    cases.push(case("statistics", || {
        let values: Vec<f64> = (0..1000).map(|n| f64::from(n * 7919 % 1009)).collect();
        Box::new(move || {
            let sample = Sample::new(values.clone()).expect("the values are numbers");
            keep((sample.median(), sample.spread()));
        })
    }));
    cases
}

fn case(name: impl Into<String>, build: impl Fn() -> Body + 'static) -> Case {
    Case { name: name.into(), build: Box::new(build) }
}

/// Makes sure that a result is computed, and drops it.
fn keep<T>(result: T) {
    black_box(result);
}
