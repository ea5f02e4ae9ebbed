//! The top of a page: what it is about, its main results, and what follows.

use maud::{Markup, html};

use super::foreign::{Foreign, Sentence};
use charz_analysis::page::{About, Page};
use charz_data::escape::counted;
use charz_data::report::{Finding, FindingKind};

/// How many findings of a kind are open; the others are folded.
const OPEN: usize = 6;
/// The most reports that the header names.
const MOST_NAMED: usize = 6;

/// The title, where it comes from, and the switch of colours.
pub(super) fn header(page: &Page) -> Markup {
    html! {
        header.top {
            div {
                p.maker { "charz" }
                h1 { (Foreign(&page.title)) }
                @let (named, others) = page.sources.split_at(page.sources.len().min(MOST_NAMED));
                @for source in named { p.begun { (origin(source, page.sources.len() > 1)) } }
                @if !others.is_empty() { p.begun { "and " (counted(others.len(), "other report")) } }
            }
            div.switches data-scripted hidden {
                button #theme type="button" { "Dark colours" }
            }
        }
    }
}

/// What the page is called in a list of pages: host, processor, date.
pub(super) fn name(page: &Page) -> String {
    let only = page.sources.first().filter(|_| page.sources.len() == 1);
    let parts =
        [only.and_then(|source| source.host.as_deref()), Some(&page.title), only.map(|source| source.started.as_str())];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn origin(source: &About, named: bool) -> Markup {
    html! {
        @if named { strong { (Foreign(&source.name)) } ": " }
        @if let Some(host) = &source.host { (Foreign(host)) " · " }
        (Foreign(&source.started))
    }
}

/// The differences between reports, which come before their numbers.
pub(super) fn differences(page: &Page) -> Markup {
    html! {
        @if !page.differences.is_empty() {
            h3 #differences-heading { "Differences between the reports" }
            div.scroll tabindex="0" role="region" aria-labelledby="differences-heading" {
                table.facts {
                    thead { tr { th scope="col" { "fact" } @for source in &page.sources { th scope="col" { (Foreign(&source.name)) } } } }
                    tbody {
                        @for difference in &page.differences {
                            tr { th scope="row" { (difference.label) } @for words in &difference.words { td { (Foreign(words)) } } }
                        }
                    }
                }
            }
        }
    }
}

/// What comes out at each kernel: the best mapping, what leaving threads to the system costs, where it saturates.
pub(super) fn verdicts(page: &Page) -> Markup {
    let table = &page.verdicts;
    html! {
        @if !table.rows.is_empty() {
            section #verdicts aria-labelledby="verdicts-heading" {
                h2 #verdicts-heading { "Best placement" }
                p.about { "The best mapping and number of threads per kernel, the number of threads at which it saturates, and what " code { "auto" } " (placement by the operating system) costs at the same number. Mappings joined by = differ by at most 2%; those joined by \"or\" do not differ significantly." }
                div.scroll tabindex="0" role="region" aria-labelledby="verdicts-heading" {
                    table.verdicts {
                        thead { tr { @for name in &table.heading { th scope="col" { (name) } } } }
                        tbody {
                            @for row in &table.rows {
                                tr {
                                    @for (at, datum) in row.data.iter().enumerate() {
                                        @if at == 0 { th scope="row" { (Foreign(&datum.text)) } }
                                        @else { td.n[datum.number.is_some()] data-label=(table.heading[at]) { (Foreign(&datum.text)) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn findings(page: &Page) -> Markup {
    let mut kinds: Vec<(FindingKind, Vec<&(usize, Finding)>)> = Vec::new();
    for found in &page.findings {
        match kinds.iter_mut().find(|(kind, _)| *kind == found.1.kind) {
            Some((_, all)) => all.push(found),
            None => kinds.push((found.1.kind, vec![found])),
        }
    }
    html! {
        @if !page.findings.is_empty() {
            section #findings aria-labelledby="findings-heading" {
                h2 #findings-heading { "Findings" }
                @for (kind, all) in &kinds {
                    h3 { (heading(*kind)) }
                    ul.findings { @for found in all.iter().take(OPEN) { (finding(page, found)) } }
                    @if all.len() > OPEN {
                        details {
                            summary { (all.len() - OPEN) " more" }
                            ul.findings { @for found in &all[OPEN..] { (finding(page, found)) } }
                        }
                    }
                }
            }
        }
    }
}

fn finding(page: &Page, (at, finding): &(usize, Finding)) -> Markup {
    let source = page.sources.get(*at).filter(|_| page.sources.len() > 1);
    html! {
        li {
            @if let Some(source) = source { span.source { (Foreign(&source.name)) } " " }
            (Sentence(&finding.text))
        }
    }
}

fn heading(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Best => "Best of each kernel",
        FindingKind::Cliff => "Slow operations",
        FindingKind::Collapse => "More threads, less throughput",
        FindingKind::Fastest => "Fastest of its kind",
        FindingKind::Advice => "Advice",
        FindingKind::Latency => "Latencies",
        FindingKind::Products => "Products of matrices",
        FindingKind::Efficiency => "Words per cycle",
        FindingKind::Scaling => "What scales badly, and why",
        FindingKind::Spread => "Where the system put the threads",
    }
}
