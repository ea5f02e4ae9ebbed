//! What is suspect, invalid or missing, and why.

use maud::{Markup, html};

use super::foreign::{Foreign, Sentence};
use charz_analysis::page::{Doubt, Page};

pub(super) fn section(page: &Page) -> Markup {
    let several = page.sources.len() > 1;
    html! {
        @if !page.doubts.is_empty() {
            section #doubts aria-labelledby="doubts-heading" {
                h2 #doubts-heading { "What to doubt" }
                p { "What speaks against numbers on this page, the weightiest first. " code { "charz explain CODE" } " tells what a code means and what helps." }
                div.scroll tabindex="0" role="region" aria-labelledby="doubts-heading" {
                    table.doubts {
                        thead {
                            tr {
                                @if several { th scope="col" { "report" } }
                                th scope="col" { "weight" }
                                th scope="col" { "code" }
                                th.n scope="col" { "cells" }
                                th scope="col" { "what was found" }
                            }
                        }
                        tbody {
                            @for (at, doubt) in &page.doubts {
                                tr {
                                    @if several { td { @if let Some(source) = page.sources.get(*at) { (Foreign(&source.name)) } } }
                                    td { span.weight.(doubt.weight()) { (doubt.weight()) } }
                                    td { @match &doubt.code { Some(code) => code { (Foreign(code)) }, None => "-" } }
                                    td.n { (doubt.count) }
                                    td.why { (why(doubt)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn why(doubt: &Doubt) -> Markup {
    html! {
        (Foreign(&doubt.cell)) ": " (Sentence(&doubt.reason))
        @if doubt.cells.len() > 1 {
            details {
                summary { "its cells" }
                ul.cells {
                    @for cell in &doubt.cells { li { (Foreign(cell)) } }
                    @if doubt.count > doubt.cells.len() { li { "and " (doubt.count - doubt.cells.len()) " more" } }
                }
            }
        }
    }
}
