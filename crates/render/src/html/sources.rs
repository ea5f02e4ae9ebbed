//! Where reports come from, side by side where there are several, and how to make another.

use maud::{Markup, html};

use super::foreign::{Foreign, Sentence};
use charz_analysis::page::{About, Fact, Page};

/// The machine, the system, the program, and what was asked of it.
pub(super) fn environment(page: &Page) -> Markup {
    let several = page.sources.len() > 1;
    html! {
        section #environment aria-labelledby="environment-heading" {
            h2 #environment-heading { "System & method" }
            @if several { p { "Facts that differ between the reports are bold, and marked ≠." } }
            (facts("System", &page.sources, |source| &source.environment))
            (facts("Method", &page.sources, |source| &source.plan))
            @for source in page.sources.iter().filter(|source| !source.disturbances.is_empty()) {
                h3 { "Disturbances at the start" @if several { ": " (Foreign(&source.name)) } }
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
            h2 #again-heading { "Reproduce" }
            @for source in &page.sources {
                @if page.sources.len() > 1 { h3 { (Foreign(&source.name)) } }
                pre tabindex="0" { code { (Foreign(&source.command)) } }
            }
            p { "The report, a JSON file, holds every number; this page only shows them: " code { "charz render REPORT --format html" } "." }
        }
    }
}
