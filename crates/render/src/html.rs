//! One file for a browser that needs nothing else: no network, no other file, and without its script nothing is missing but
//! convenience.
//!
//! All text from a report is written through [`Foreign`], markup by maud, which escapes. The page has the digests of its own
//! style and script, so a browser runs nothing else even if something slipped through.

mod figures;
mod foreign;
mod hero;
mod orders;
mod points;
mod policy;
mod quality;
mod sources;
#[cfg(test)]
mod tests;
mod top;

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};

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
                meta property="og:title" content=(Foreign(&top::name(page)));
                // A browser that finds no icon asks for one.
                link rel="icon" href=(ICON);
                title { (Foreign(&top::name(page))) " · charz" }
                style { (PreEscaped(policy::STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the contents" }
                (top::header(page))
                (contents(page))
                main #main tabindex="-1" {
                    (hero::section(page))
                    (top::verdicts(page))
                    (top::findings(page))
                    @for section in page.sections.iter().filter(|section| !hero::has(page, section)) { (figures::section(section)) }
                    @if !page.answers.is_empty() { (quality::section(page)) }
                    @if !page.sources.is_empty() {
                        (sources::environment(page))
                        (sources::again(page))
                    }
                }
                script { (PreEscaped(policy::SCRIPT)) }
            }
        }
    }
}

/// Bars of growing height.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
    %3Cpath d='M1 15V9h3v6zM6 15V5h4v10zM12 15V1h3v14z' fill='%230072b2'/%3E%3C/svg%3E";

/// The parts of the page, in its order.
fn contents(page: &Page) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            ol {
                (entry("summary", "Summary"))
                @if !page.verdicts.rows.is_empty() { (entry("verdicts", "Best placement")) }
                @if !page.findings.is_empty() { (entry("findings", "Findings")) }
                @if let Some(first) = page.sections.iter().find(|section| !hero::has(page, section)) { (entry(&format!("s-{}", first.id), if page.answers.is_empty() { first.title } else { "Charts" })) }
                @if !page.answers.is_empty() { (entry("quality", "Data quality")) }
                @if !page.sources.is_empty() {
                    (entry("environment", "System & method"))
                    (entry("again", "Reproduce"))
                }
            }
        }
    }
}

fn entry(id: &str, words: &str) -> Markup {
    html! { li { a href=(format!("#{id}")) { (words) } } }
}
