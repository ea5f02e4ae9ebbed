//! The first screen: the main numbers as tiles, how good they are, what to type, and the machine beside them.

use maud::{Markup, html};

use super::figures;
use super::foreign::{Account, Foreign, Sentence};
use super::top;
use charz_analysis::answer::{Answer, Auto, Costs, Level, NONE, Reading, Row, quota_note, times_text};
use charz_analysis::figure::{self, Body, Figure};
use charz_analysis::page::{Page, Section, VERSUS};
use charz_data::escape::counted;
use charz_data::{Arrange, units};
use charz_estimate::Strength;
use charz_words::caveat;

/// The most tiles, and the most steps under them.
const TILES: usize = 4;
const STEPS: usize = 4;
/// The most rows of a table.
const MOST: usize = 24;

pub(super) fn section(page: &Page) -> Markup {
    html! {
        section #summary aria-labelledby="summary-heading" {
            h2 #summary-heading { "Summary" }
            @if let Some((first, others)) = page.summary.split_first() {
                p.answer { strong { (Sentence(first)) } }
                @for figure in versus(page) { (figures::figure(figure, &figure.title, false)) }
                @if !others.is_empty() { ul { @for sentence in others { li { (Sentence(sentence)) } } } }
            }
            @match page.answers.as_slice() {
                [answer] => (only(page, answer)),
                [] => {}
                _ => (reports(page)),
            }
            (top::differences(page))
            @for sentence in &page.left_out { p.about { (Sentence(sentence)) } }
        }
    }
}

/// The answer of the only report, and its machine.
fn only(page: &Page, answer: &Answer) -> Markup {
    html! {
        p.machine-line { (Foreign(&answer.machine)) " · " (Foreign(&answer.when)) }
        @if let Some(why) = &answer.incomplete { p.warning { strong { "Incomplete: " } (Sentence(why)) } }
        div.hero {
            div.main {
                (tiles(answer))
                @if let Some(note) = quota_note(&answer.rows) { p { (note) } }
                (quality(answer))
                @for what in answer.failed.iter().take(STEPS) { p.warning { strong { "Failed: " } (Sentence(what)) } }
                @if let Some(what) = &answer.counters { p { strong { "Counters: " } (Sentence(what)) } }
                @if let Some(what) = &answer.energy { p { strong { "Energy: " } (Sentence(what)) } }
                (steps(answer))
            }
            @if let Some(figure) = machine(page) { div.aside { (figures::figure(figure, &figure.title, false)) } }
        }
        (details(answer))
    }
}

/// Several reports in a row each: what they are of, and how good their numbers are.
fn reports(page: &Page) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Reports" {
            table.facts {
                thead { tr { @for name in ["report", "machine", "measured", "data quality"] { th scope="col" { (name) } } } }
                tbody {
                    @for (answer, source) in page.answers.iter().zip(&page.sources) {
                        tr {
                            th scope="row" { (Foreign(&source.name)) }
                            td { (Foreign(&answer.machine)) }
                            td {
                                (Foreign(&answer.when))
                                @if let Some(why) = &answer.incomplete { "; incomplete: " (Foreign(why)) }
                            }
                            td { (answer.quality.level.name()) ", " (Foreign(&answer.quality.text())) }
                        }
                    }
                }
            }
        }
    }
}

/// The drawing of the only machine, which the first screen has in place of its section.
fn machine(page: &Page) -> Option<&Figure> {
    let only = |section: &&Section| section.figures.len() == 1 && page.sources.len() == 1;
    let is_machine = |section: &&Section| section.figures.iter().any(|one| matches!(one.body, Body::MachineDiagram(_)));
    page.sections.iter().find(is_machine).filter(only).map(|section| &section.figures[0])
}

/// How several reports compare, which belongs to the answer.
fn versus(page: &Page) -> impl Iterator<Item = &Figure> {
    page.sections.iter().filter(|section| section.id == VERSUS).flat_map(|section| &section.figures)
}

/// Whether a section is on the first screen already.
pub(super) fn has(page: &Page, section: &Section) -> bool {
    let is_own = |figure: &Figure| section.figures.iter().any(|own| own.id == figure.id);
    section.id == VERSUS || (page.answers.len() == 1 && machine(page).is_some_and(is_own))
}

/// The rows that a reader asks for first; where there are fewer, what single operations cost.
fn tiles(answer: &Answer) -> Markup {
    let costs = TILES.saturating_sub(answer.rows.len());
    let levels = costs.saturating_sub(answer.costs.len());
    let mut rows: Vec<&Row> = answer.rows.iter().collect();
    rows.arrange_by_key(|row| row.asked);
    html! {
        div.tiles-of-rows {
            @for row in rows.into_iter().take(TILES) { (tile(row)) }
            @for cost in answer.costs.iter().take(costs) { (cost_tile(cost)) }
            @for level in answer.levels.rows.iter().take(levels) { (level_tile(level, &answer.levels.heading)) }
        }
    }
}

fn tile(row: &Row) -> Markup {
    html! {
        div.tile {
            h3 { (Foreign(&row.name())) }
            p.value { (value(&row.best)) }
            p {
                (counted(row.best.threads as usize, "thread"))
                @if let Some((times, all)) = row.scaling().zip(row.all.as_ref()) {
                    "; " (all.threads) " do " (times_text(times)) (row.scaling_doubt()) "× one"
                }
            }
            @if row.best_mapping != NONE { p { "Mapping: " (Foreign(&row.best_mapping)) } }
            @match row.auto {
                Auto::NotMeasured => {}
                Auto::Other { strength: Strength::NotComparable, caveats } => p { "Unpinned " (caveat::not_comparable(caveats)) }
                _ => p { "Unpinned costs " (row.auto_costs()) }
            }
            @for gap in row.gaps.iter().flatten() { p { "No number: " (Foreign(gap)) } }
        }
    }
}

fn cost_tile(costs: &Costs) -> Markup {
    html! {
        div.tile {
            h3 { (Foreign(&costs.title())) }
            @if let Some((_, reading)) = costs.kernels.first() {
                p.value { (value(reading)) }
                @if let Some(place) = &costs.place { p { (Foreign(place)) } }
                p { "Fastest: " (Foreign(&costs.joined(&costs.fastest))) }
            }
            @if let Some((_, reading)) = costs.kernels.last().filter(|_| !costs.slowest.is_empty()) {
                p { "Slowest: " (Foreign(&costs.joined(&costs.slowest))) " " (reading.text()) }
            }
        }
    }
}

/// A cache or memory: its latency, and what else is known of it.
fn level_tile(level: &figure::Row, heading: &[String]) -> Markup {
    /// The place of the latency among the columns.
    const LATENCY: usize = 2;
    let known = |at: &usize| level.data.get(*at).is_some_and(|datum| datum.text != NONE);
    html! {
        div.tile {
            h3 { (Foreign(&level.data[0].text)) " " (heading[LATENCY]) }
            p.value { strong { (Foreign(&level.data[LATENCY].text)) } }
            @for at in (1..level.data.len()).filter(|at| *at != LATENCY).filter(known) {
                p { (heading[at]) ": " (Foreign(&level.data[at].text)) }
            }
        }
    }
}

fn value(reading: &Reading) -> Markup {
    html! {
        strong.noisy[reading.is_noisy] { (reading.text()) }
        @if let Some(half) = reading.half_width() { " " span.soft { "±" (units::percent(half)) } }
    }
}

/// One badge, which leads to all that is known of it.
fn quality(answer: &Answer) -> Markup {
    let quality = &answer.quality;
    html! {
        p.badge.(class(quality.level)) {
            a href="#quality" { "Data quality: " (quality.level.name()) } ", " (Foreign(&quality.text()))
            @if let Some(fix) = &quality.fix { ". Fix: " (Foreign(fix)) }
        }
    }
}

fn class(level: Level) -> &'static str {
    match level {
        Level::Good => "good",
        Level::Fair => "fair",
        Level::Noisy | Level::Empty => "poor",
    }
}

/// Caches and memory, locks under contention, and what single operations cost, where they were measured.
fn details(answer: &Answer) -> Markup {
    html! {
        @for table in [&answer.levels, &answer.contended, &answer.without] {
            @if !table.rows.is_empty() {
                div.scroll tabindex="0" role="region" aria-label=(table.heading[0]) {
                    table {
                        thead { tr { @for name in &table.heading { th scope="col" { (name) } } } }
                        tbody {
                            @for row in table.rows.iter().take(MOST) {
                                tr { @for datum in &row.data { td { (Foreign(&datum.text)) } } }
                            }
                        }
                    }
                }
            }
        }
        @if !answer.costs.is_empty() {
            dl.costs {
                @for costs in answer.costs.iter().take(MOST) {
                    dt { (Foreign(&costs.title())) }
                    dd {
                        @if let Some(place) = &costs.place { (Foreign(place)) ": " }
                        @for (at, (name, reading)) in costs.kernels.iter().enumerate() {
                            @if at > 0 { " · " } (Foreign(costs.short(name))) " " (reading.text())
                        }
                    }
                }
            }
        }
    }
}

/// What to do, each with the line that does it.
fn steps(answer: &Answer) -> Markup {
    html! {
        @if !answer.advice.is_empty() {
            ul.steps {
                @for advice in answer.advice.iter().take(STEPS) {
                    li {
                        (Sentence(&advice.text))
                        @if let Some(line) = &advice.launch {
                            div.launch {
                                pre tabindex="0" { code { (Account(line)) } }
                                button.copy type="button" data-scripted hidden { "Copy" }
                            }
                        }
                    }
                }
            }
        }
    }
}
