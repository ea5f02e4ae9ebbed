//! One file for a browser that needs nothing else: no network, no other file, and without its script nothing is missing but
//! convenience.
//!
//! All text from a report is written through [`Foreign`], markup by maud, which escapes. The page has the digests of its own
//! style and script, so a browser runs nothing else even if something slipped through.

mod doubts;
mod figures;
mod foreign;
mod orders;
mod points;
mod policy;
mod sources;
#[cfg(test)]
mod tests;
mod top;

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

use super::look::TerminalStyle;
use charz_analysis::page::Page;
use foreign::Foreign;

pub fn write(page: &Page, _: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(document(page).0.as_bytes())
}

fn document(page: &Page) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy::POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta name="generator" content=(concat!("charz ", env!("CARGO_PKG_VERSION")));
                // A browser that finds no icon asks for one.
                link rel="icon" href="data:,";
                title { (Foreign(&page.title)) " · charz" }
                style { (PreEscaped(policy::STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the contents" }
                (top::header(page))
                div.columns {
                    (contents(page))
                    main #main tabindex="-1" {
                        (top::summary(page))
                        (top::verdicts(page))
                        (top::findings(page))
                        (doubts::section(page))
                        @for section in &page.sections { (figures::section(section)) }
                        (sources::environment(page))
                        (sources::again(page))
                    }
                }
                script { (PreEscaped(policy::SCRIPT)) }
            }
        }
    }
}

/// What is on the page, in its order.
fn contents(page: &Page) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            details open {
                summary { "Contents" }
                ol {
                    (entry("summary", &"In short"))
                    @if !page.verdicts.rows.is_empty() { (entry("verdicts", &"The best mappings")) }
                    @if !page.findings.is_empty() { (entry("findings", &"Findings")) }
                    @if !page.doubts.is_empty() { (entry("doubts", &"What to doubt")) }
                    @for section in &page.sections {
                        li {
                            a href=(format!("#s-{}", section.id)) { (section.title) }
                            @if section.figures.len() > 1 {
                                ol {
                                    @for figure in &section.figures {
                                        (entry(&format!("f-{}", figure.id), &Foreign(&figure.title)))
                                    }
                                }
                            }
                        }
                    }
                    (entry("environment", &"Where the numbers come from"))
                    (entry("again", &"Measure it again"))
                }
            }
        }
    }
}

fn entry(id: &str, words: &dyn Render) -> Markup {
    html! { li { a href=(format!("#{id}")) { (words) } } }
}
