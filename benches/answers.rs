//! What is concluded and drawn, for counting its instructions.

mod cases;
mod fixtures;

use cases::{Case, case, keep};
use charz_analysis::compare::{Options, compare};
use charz_analysis::page::{Source, page};
use charz_render::{html, look::TerminalStyle};

fn main() {
    cases::run(&cases());
}

fn cases() -> Vec<Case> {
    vec![
        case("page", || {
            let report = fixtures::report(16);
            Box::new(move || {
                let mut out = Vec::new();
                html::write(&page(&[Source { name: "a", report: &report }]), &TerminalStyle::PLAIN, &mut out)
                    .expect("memory takes it");
                keep(out);
            })
        }),
        case("compare", || {
            let report = fixtures::report(16);
            Box::new(move || keep(compare(&report, &report, &Options::default()).expect("they are of one plan")))
        }),
    ]
}
