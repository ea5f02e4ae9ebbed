//! What the script says of a tile: its value as people read it, for each of them.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};

use super::foreign::Foreign;
use crate::figure::{Heat, State};

/// The words that tiles have, each once, and which of them each tile has: two bytes a tile, the lower first.
pub(super) fn notes(heat: &Heat) -> Markup {
    let (words, places) = dictionary(heat);
    html! {
        div.tiles hidden data-rows=(heat.rows.len()) data-columns=(heat.columns.len())
            data-row=(Foreign(&heat.row_label)) data-column=(Foreign(&heat.column_label)) data-tiles=(STANDARD.encode(places)) {
            ol { @for name in &heat.rows { li { (Foreign(name)) } } }
            ol { @for name in &heat.columns { li { (Foreign(name)) } } }
            ol { @for word in &words { li { (Foreign(word)) } } }
        }
    }
}

/// Three digits of a number are not many words, however many tiles there are. Where a report brings more reasons than two bytes
/// can tell apart, those beyond are told by the table only.
fn dictionary(heat: &Heat) -> (Vec<String>, Vec<u8>) {
    let mut known: BTreeMap<String, u16> = BTreeMap::new();
    let mut words: Vec<String> = Vec::new();
    let mut places = Vec::with_capacity(2 * heat.tiles.len());
    for row in 0..heat.rows.len() {
        for column in 0..heat.columns.len() {
            let word = word(heat, row, column);
            let place = known.get(&word).copied().unwrap_or_else(|| {
                let Ok(place) = u16::try_from(words.len()) else { return u16::MAX };
                known.insert(word.clone(), place);
                words.push(word);
                place
            });
            places.extend(place.to_le_bytes());
        }
    }
    (words, places)
}

fn word(heat: &Heat, row: usize, column: usize) -> String {
    let tile = heat.at(row, column);
    let doubt = if tile.state == State::Doubtful { " ?" } else { "" };
    let value = tile.value.map_or("no number".to_owned(), |value| format!("{}{doubt}", heat.quantity.shown(value)));
    let reason = tile.reason.and_then(|reason| heat.reasons.get(reason as usize));
    reason.map_or(value.clone(), |reason| format!("{value}; {reason}"))
}
