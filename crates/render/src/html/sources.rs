//! Where reports come from, side by side where there are several, and how to make another.

use maud::{Markup, html};

use super::foreign::{Foreign, Sentence};
use charz_analysis::page::{About, Fact, Page};

/// The machine, the system, the program, and what was asked of it.
pub(super) fn environment(page: &Page) -> Markup {
    let several = page.sources.len() > 1;
    html! {
        section #environment aria-labelledby="environment-heading" {
            h2 #environment-heading { "Where the numbers come from" }
            @if several { p { "What differs between the reports is set in bold, with a mark (≠) beside its name." } }
            (facts("The machine, the system and the program", &page.sources, |source| &source.environment))
            (facts("What was asked", &page.sources, |source| &source.plan))
            @for source in page.sources.iter().filter(|source| !source.disturbances.is_empty()) {
                h3 { "What was disturbing when it was begun" @if several { ": " (Foreign(&source.name)) } }
                ul { @for what in &source.disturbances { li { (Sentence(what)) } } }
            }
        }
    }
}

/// A table with a column for each report. Labels come in the order of the first report that has them.
fn facts(title: &str, sources: &[About], of: fn(&About) -> &Vec<Fact>) -> Markup {
    let mut labels: Vec<&'static str> = Vec::new();
    for fact in sources.iter().flat_map(of) {
        if !labels.contains(&fact.label) {
            labels.push(fact.label);
        }
    }
    let words = |source, label| of(source).iter().find(|fact| fact.label == label).map_or("-", |fact| &fact.words);
    let differs = |label| sources.windows(2).any(|pair| words(&pair[0], label) != words(&pair[1], label));
    html! {
        h3 { (title) }
        div.scroll tabindex="0" role="region" aria-label=(title) {
            table.facts {
                @if sources.len() > 1 {
                    thead { tr { th scope="col" { "fact" } @for source in sources { th scope="col" { (Foreign(&source.name)) } } } }
                }
                tbody {
                    @for label in labels {
                        @let differs = differs(label);
                        tr.differs[differs] {
                            th scope="row" { (label) @if differs { span.mark title="differs" { " ≠" } span.unseen { " (differs)" } } }
                            @for source in sources { td { (Foreign(words(source, label))) } }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn again(page: &Page) -> Markup {
    html! {
        section #again aria-labelledby="again-heading" {
            h2 #again-heading { "Measure it again" }
            @for source in &page.sources {
                @if page.sources.len() > 1 { h3 { (Foreign(&source.name)) } }
                pre tabindex="0" { code { (Foreign(&source.command)) } }
            }
            p { "All numbers are in the report itself, a JSON file; this page shows them, and changes nothing: " code { "charz render REPORT --format html" } "." }
        }
    }
}
