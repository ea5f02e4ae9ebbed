//! Code that touches nothing but memory of its own, for counting its instructions: what each change passes. To build what concludes and
//! draws takes as long again, so `answers` is counted in the full gate.

mod cases;
mod fixtures;
mod machines;

use cases::{Case, case, keep};
use charz_data::report::Report;
use charz_stats::Sample;
use charz_topology::{MAPPERS, Mapping, place};

fn main() {
    cases::run(&cases());
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
    cases.push(case("statistics", || {
        let values: Vec<f64> = (0..1000).map(|n| f64::from(n * 7919 % 1009)).collect();
        Box::new(move || {
            let sample = Sample::new(values.clone()).expect("the values are numbers");
            keep((sample.median(), sample.spread()));
        })
    }));
    cases
}
