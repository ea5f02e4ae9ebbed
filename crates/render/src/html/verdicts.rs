//! What comes out at each kernel: the best mapping, what leaving threads to the system costs, where it saturates.

use maud::{Markup, html};

use super::foreign::Foreign;
use charz_analysis::page::{Page, Verdict};

/// A row for each kernel and point.
pub(super) fn section(page: &Page) -> Markup {
    let several = page.sources.len() > 1;
    html! {
        @if !page.verdicts.is_empty() {
            section #verdicts aria-labelledby="verdicts-heading" {
            h2 #verdicts-heading { "The best mappings" }
            p.about { "With which mapping and how many workers each kernel did best, from how many workers on more of them give nothing more, and what it comes to with as many workers to leave threads to the system." }
            div.scroll tabindex="0" role="region" aria-labelledby="verdicts-heading" {
                table.verdicts {
                    thead {
                        tr {
                            @if several { th scope="col" { "report" } }
                            th scope="col" { "kernel" }
                            th scope="col" { "best mapping" }
                            th.n scope="col" { "workers" }
                            th.n scope="col" { "best" }
                            th scope="col" { "saturates at" }
                            th scope="col" { "left to the system" }
                        }
                    }
                    tbody {
                        @for (at, verdict) in &page.verdicts {
                            tr {
                                @if several { td { @if let Some(source) = page.sources.get(*at) { (Foreign(&source.name)) } } }
                                (cells(verdict))
                            }
                        }
                    }
                }
            }
            }
        }
    }
}

fn cells(verdict: &Verdict) -> Markup {
    html! {
        th scope="row" { (Foreign(&verdict.kernel)) }
        td {
            (Foreign(&verdict.mapping)) @if verdict.doubtful { " ?" }
            @if !verdict.alike.is_empty() {
                span.alike { "; as good: " @for (at, other) in verdict.alike.iter().enumerate() { @if at > 0 { ", " } (Foreign(other)) } }
            }
        }
        td.n { (verdict.workers) }
        td.n { (Foreign(&verdict.best)) }
        td { @match &verdict.saturates { Some(words) => (Foreign(words)), None => "-" } }
        td { (Foreign(&verdict.auto)) }
    }
}
