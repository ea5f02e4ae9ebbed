//! Tables that the script sorts.

use maud::{Markup, html};

use super::foreign::Foreign;
use charz_analysis::figure::{Datum, Row, State, Table};

/// A table whose columns with more numbers than words are right-aligned.
pub(super) fn data(table: &Table, title: &str) -> Markup {
    let has_number = |row: &&Row, column: usize| row.data.get(column).is_some_and(|datum| datum.number.is_some());
    let is_number = |column| 2 * table.rows.iter().filter(|row| has_number(row, column)).count() > table.rows.len();
    grid(table, &is_number, title)
}

/// A table with these columns right-aligned.
pub(super) fn grid(table: &Table, is_number: &dyn Fn(usize) -> bool, title: &str) -> Markup {
    let has_passports = table.rows.iter().any(|row| !row.passport.is_empty());
    html! {
        @if table.left_out > 0 {
            p.about { (table.left_out) " more rows are in the report, and left out here to keep the page readable." }
        }
        div.scroll tabindex="0" role="region" aria-label="Data table" {
            table.sortable {
                caption.unseen { "Data of " (Foreign(title)) }
                thead {
                    tr {
                        @for (at, name) in table.heading.iter().enumerate() { th class=[is_number(at).then_some("n")] scope="col" { (Foreign(name)) } }
                        @if has_passports { th.passport scope="col" { "evidence" } }
                    }
                }
                tbody { @for row in &table.rows { (line(row, is_number, has_passports)) } }
            }
        }
    }
}

/// How much room words need: a browser breaks them at every hyphen.
fn long(datum: &Datum) -> Option<&'static str> {
    match datum.text.chars().count() {
        0..=12 => None,
        13..=40 => Some("words"),
        _ => Some("sentence"),
    }
}

fn line(row: &Row, is_number: &dyn Fn(usize) -> bool, has_passports: bool) -> Markup {
    let class = match row.state {
        State::Ok => None,
        State::Suspect => Some("doubtful"),
        State::Missing => Some("missing"),
    };
    html! {
        tr class=[class] {
            @for (at, datum) in row.data.iter().enumerate() {
                @let number = datum.number.filter(|number| number.is_finite());
                @if at == 0 && !is_number(0) { th class=[long(datum)] scope="row" data-n=[number] { (Foreign(&datum.text)) } }
                @else { td class=[is_number(at).then_some("n").or(long(datum))] data-n=[number] { (Foreign(&datum.text)) } }
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
