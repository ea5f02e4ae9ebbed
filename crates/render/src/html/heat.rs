//! What the script says of a tile: its value as people read it, for each of them.

use std::collections::HashMap;

use maud::{Markup, html};

use super::foreign::Foreign;
use charz_analysis::figure::Heat;

/// The words that tiles have, each once, and the index of each tile's among them.
pub(super) fn notes(heat: &Heat) -> Markup {
    let (words, places) = dictionary(heat);
    html! {
        div.tiles hidden data-rows=(heat.rows.len()) data-columns=(heat.columns.len())
            data-row=(Foreign(&heat.row_label)) data-column=(Foreign(&heat.column_label)) data-tiles=(places) {
            ol { @for name in &heat.rows { li { (Foreign(name)) } } }
            ol { @for name in &heat.columns { li { (Foreign(name)) } } }
            ol { @for word in &words { li { (Foreign(word)) } } }
        }
    }
}

/// Three digits of a number are not many words, however many tiles there are.
fn dictionary(heat: &Heat) -> (Vec<String>, String) {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut words: Vec<String> = Vec::new();
    let mut places = Vec::with_capacity(heat.tiles.len());
    for row in 0..heat.rows.len() {
        for column in 0..heat.columns.len() {
            let place = *known.entry(heat.value(row, column)).or_insert_with_key(|word| {
                words.push(word.clone());
                words.len() - 1
            });
            places.push(place.to_string());
        }
    }
    (words, places.join(" "))
}
