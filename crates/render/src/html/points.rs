//! The points behind a figure, as a table that the script sorts.

use maud::{Markup, html};

use super::foreign::Foreign;
use charz_analysis::figure::{Row, State, Table};

pub(super) fn table(table: &Table, title: &str) -> Markup {
    html! {
        details.points {
            summary { "Data table: " (table.rows.len()) @if table.rows.len() == 1 { " row" } @else { " rows" } }
            (listed(table, title))
        }
    }
}

/// The same in full view.
pub(super) fn listed(table: &Table, title: &str) -> Markup {
    let has_passports = table.rows.iter().any(|row| !row.passport.is_empty());
    html! {
        @if table.left_out > 0 {
            p.left-out { (table.left_out) " more rows are in the report, and left out here to keep the page readable." }
        }
        div.scroll tabindex="0" role="region" aria-label="Data table" {
            table.sortable {
                caption.unseen { "Data of " (Foreign(title)) }
                thead {
                    tr {
                        @for (at, name) in table.heading.iter().enumerate() {
                            th.n[is_number(table, at)] scope="col" { (Foreign(name)) }
                        }
                        @if has_passports { th.passport scope="col" { "evidence" } }
                    }
                }
                tbody { @for row in &table.rows { (line(row, has_passports)) } }
            }
        }
    }
}

/// Whether a column has more numbers than words: it is then right-aligned and sorted by number.
fn is_number(table: &Table, column: usize) -> bool {
    let numbers = table.rows.iter().filter(|row| row.data.get(column).is_some_and(|datum| datum.number.is_some()));
    2 * numbers.count() > table.rows.len()
}

fn line(row: &Row, has_passports: bool) -> Markup {
    html! {
        tr class=[class(row.state)] {
            @for datum in &row.data {
                td class=[datum.number.map(|_| "n")] data-n=[datum.number.filter(|number| number.is_finite())] { (Foreign(&datum.text)) }
            }
            @if has_passports {
                td.passport {
                    @if !row.passport.is_empty() {
                        details {
                            summary { "show" span.unseen { " evidence" } }
                            dl { @for (label, words) in &row.passport { dt { (Foreign(label)) } dd { (Foreign(words)) } } }
                        }
                    }
                }
            }
        }
    }
}

fn class(state: State) -> Option<&'static str> {
    match state {
        State::Ok => None,
        State::Suspect => Some("doubtful"),
        State::Missing => Some("missing"),
    }
}
