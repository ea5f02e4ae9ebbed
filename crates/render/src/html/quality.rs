//! How good the numbers are: how many configurations are ok, are noisy or have no result, and why.

use maud::{Markup, html};

use super::foreign::{Foreign, Sentence};
use charz_analysis::answer::Quality;
use charz_analysis::page::{Doubt, Page};
use charz_data::checks;

/// What each state is called and drawn with.
const STATES: [(&str, &str); 3] = [("ok", "var(--s3)"), ("noisy", "var(--s5)"), ("no result", "var(--edge)")];

pub(super) fn section(page: &Page) -> Markup {
    html! {
        section #quality aria-labelledby="quality-heading" {
            h2 #quality-heading { "Data quality" }
            @for (at, (source, answer)) in page.sources.iter().zip(&page.answers).enumerate() {
                @if page.sources.len() > 1 { h3 { (Foreign(&source.name)) } }
                p { (Sentence(&answer.quality.text())) }
                (bar(&answer.quality))
                (causes(page, at))
            }
        }
    }
}

/// One bar over all configurations.
fn bar(quality: &Quality) -> Markup {
    let results = [quality.reliable, quality.noisy, quality.missing];
    let all = results.iter().sum::<usize>().max(1) as f64;
    let share = |count: usize| format!("{:.2}", count as f64 / all * 100.0);
    let before = |at: usize| results[..at].iter().sum::<usize>();
    html! {
        svg.quality viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label=(Foreign(&quality.text())) {
            @for (at, (_, paint)) in STATES.iter().enumerate() {
                rect x=(share(before(at))) y="0" width=(share(results[at])) height="4" fill=(paint) {}
            }
        }
        p.states {
            @for ((name, paint), count) in STATES.iter().zip(results) {
                span {
                    svg viewBox="0 0 10 10" aria-hidden="true" { rect width="10" height="10" rx="2" fill=(paint) {} }
                    " " (count) " " (name)
                }
            }
        }
    }
}

/// What was found, the weightiest first; what it was found in is folded.
fn causes(page: &Page, at: usize) -> Markup {
    let own: Vec<&Doubt> = page.doubts.iter().filter(|(of, _)| *of == at).map(|(_, doubt)| doubt).collect();
    let quality = &page.answers[at].quality;
    let all = (quality.results + quality.skipped).max(1);
    html! {
        @if !own.is_empty() {
            details.causes {
                summary { "Causes: " (own.len()) }
                p.about { code { "charz explain CODE" } " describes a warning and what helps." }
                div.scroll tabindex="0" role="region" aria-label="Causes" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "warning" }
                                th scope="col" { "effect" }
                                th.n scope="col" { "configurations" }
                                th scope="col" { "first case" }
                            }
                        }
                        tbody {
                            @for doubt in own {
                                tr {
                                    th scope="row" { (name(doubt)) }
                                    td { span.weight.(doubt.weight()) { (doubt.weight()) } }
                                    td.n { (doubt.count) " (" (doubt.count * 100 / all) "%)" }
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

fn name(doubt: &Doubt) -> Markup {
    html! {
        @match &doubt.code {
            Some(code) => { code { (Foreign(code)) } @if let Some(check) = checks::find(code) { " " (check.title) } }
            None => "no result",
        }
    }
}

fn why(doubt: &Doubt) -> Markup {
    html! {
        (Foreign(&doubt.cell)) ": " (Sentence(&doubt.reason))
        @if doubt.cells.len() > 1 {
            details {
                summary { "all" }
                ul.cells {
                    @for cell in &doubt.cells { li { (Foreign(cell)) } }
                    @if doubt.count > doubt.cells.len() { li { "and " (doubt.count - doubt.cells.len()) " more" } }
                }
            }
        }
    }
}
