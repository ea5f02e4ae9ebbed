//! Figures with what is said of them.

use std::collections::HashMap;

use maud::{Markup, PreEscaped, html};

use super::foreign::Foreign;
use super::{orders, table};
use crate::outline::stopped;
use crate::picture::{PHONE, Place, drawn};
use charz_analysis::figure::{Body, Figure, Heatmap};
use charz_data::escape::counted;

/// Figures beside each other, as panels where they are several.
pub(super) fn all(figures: &[&Figure]) -> Markup {
    html! {
        @if let [only] = figures {
            (figure(only, &only.title, false))
        } @else {
            div.panels { @for one in figures { (figure(one, own_title(one, figures), true)) } }
        }
    }
}

/// One figure under a title, as a panel beside others or by itself.
fn figure(figure: &Figure, title: &str, is_panel: bool) -> Markup {
    let (id, heading) = (format!("f-{}", figure.id), format!("f-{}-heading", figure.id));
    html! {
        figure.(kind(&figure.body)) id=(id) aria-labelledby=(heading) {
            h3 id=(heading) { (Foreign(title)) " " a.self href=(format!("#{id}")) aria-label="link to this figure" { "#" } }
            @if !figure.about.is_empty() && !is_panel {
                p.about { @for (at, sentence) in figure.about.iter().enumerate() { @if at > 0 { " " } (Foreign(&stopped(sentence))) } }
            }
            @if let Body::MachineDiagram(nest) = &figure.body { (orders::player(nest, &figure.id)) }
            (pictures(figure, is_panel))
            @if let Body::Heatmap(heat) = &figure.body { (notes(heat)) }
            figcaption {
                @if let Body::MachineDiagram(nest) = &figure.body { (orders::lists(nest, &figure.id)) }
                @if let Some(table) = &figure.table {
                    details.points {
                        summary { "Data table: " (counted(table.rows.len(), "row")) }
                        (table::data(table, &figure.title))
                    }
                }
            }
        }
    }
}

/// The picture. One of lines or bars is there a second time for narrow screens, which show that; others are moved sideways there.
fn pictures(figure: &Figure, is_panel: bool) -> Markup {
    let (picture, width) = drawn(figure, if is_panel { Place::Panel } else { Place::Page });
    let plot = |picture: String| html! { div.plot { (PreEscaped(picture)) } };
    html! {
        @if matches!(figure.body, Body::Lines(_) | Body::Dots(_)) {
            div.wide { (plot(picture)) }
            div.narrow { (plot(drawn(figure, Place::Phone).0)) }
        } @else {
            @if width > PHONE { p.hint.far[width > PAGE] { "Scroll the picture sideways to see all of it." } }
            (plot(picture))
        }
    }
}

/// How wide the text of a page is at most, in pixels.
const PAGE: f64 = 1136.0;

/// The part of a title that is not the same in all panels: `mem-read` of `mem-read: throughput vs threads`.
fn own_title<'a>(figure: &'a Figure, panels: &[&Figure]) -> &'a str {
    let Some((first, rest)) = figure.title.split_once(": ") else { return &figure.title };
    let differ = panels.iter().any(|panel| !panel.title.starts_with(first));
    if differ { first } else { rest }
}

/// The class by which the style and the script distinguish figures.
fn kind(body: &Body) -> &'static str {
    match body {
        Body::Lines(_) => "lines",
        Body::Dots(_) => "dots",
        Body::Heatmap(_) => "heat",
        Body::Joint(_) => "joint",
        Body::MachineDiagram(_) => "nest",
    }
}

/// What the script says of a tile: its value as people read it, for each of them.
fn notes(heat: &Heatmap) -> Markup {
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
fn dictionary(heat: &Heatmap) -> (Vec<String>, String) {
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
