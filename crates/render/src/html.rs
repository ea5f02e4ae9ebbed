//! One file for a browser that needs nothing else: no network, no other file, and without its script nothing is missing but
//! convenience.
//!
//! All text from a report is written through [`Foreign`], markup by maud, which escapes. The page has the digests of its own
//! style and script, so a browser runs nothing else even if something slipped through.

mod blocks;
mod figures;
mod foreign;
mod orders;
mod policy;
mod table;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::look::TerminalStyle;
use super::outline::{self, Block};
use charz_analysis::page::Page;
use charz_data::escape::counted;
use foreign::Foreign;

pub fn write(page: &Page, _: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(document(page).0.as_bytes())
}

fn document(page: &Page) -> Markup {
    let blocks = outline::page(page);
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
                meta property="og:title" content=(Foreign(&name(page)));
                // A browser that finds no icon asks for one.
                link rel="icon" href=(ICON);
                title { (Foreign(&name(page))) " · charz" }
                style { (PreEscaped(policy::STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the contents" }
                (header(page))
                nav.contents aria-label="Contents" {
                    ol {
                        @for block in &blocks {
                            @if let Block::Section(title, _) = block { li { a href={ "#" (blocks::id(title)) } { (title) } } }
                        }
                    }
                }
                main #main tabindex="-1" { (blocks::all(&blocks)) }
                script { (PreEscaped(policy::SCRIPT)) }
            }
        }
    }
}

/// Bars of growing height.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
    %3Cpath d='M1 15V9h3v6zM6 15V5h4v10zM12 15V1h3v14z' fill='%230072b2'/%3E%3C/svg%3E";

/// The most reports that the header names.
const MOST_NAMED: usize = 6;

/// What the page shows, where it comes from, and the switch of colours.
fn header(page: &Page) -> Markup {
    let (named, others) = page.sources.split_at(page.sources.len().min(MOST_NAMED));
    html! {
        header.top {
            div {
                p.maker { "charz" }
                h1 { (Foreign(&page.title)) }
                @for source in named {
                    p.begun { @if page.sources.len() > 1 { strong { (Foreign(&source.name)) } ": " } (Foreign(&source.started)) }
                }
                @if !others.is_empty() { p.begun { "and " (counted(others.len(), "other report")) } }
            }
            div.switches data-scripted hidden { button #theme type="button" { "Dark colours" } }
        }
    }
}

/// What the page is called among others: what it shows, and when that was measured, from the first report to the last.
fn name(page: &Page) -> String {
    let mut parts = vec![page.title.as_str()];
    let ends = [page.sources.first(), page.sources.last()].into_iter().flatten();
    let mut ends: Vec<&str> = ends.map(|source| source.started.as_str()).collect();
    ends.dedup();
    let when = ends.join(" to ");
    parts.extend(Some(when.as_str()).filter(|when| !when.is_empty()));
    parts.join(" · ")
}
