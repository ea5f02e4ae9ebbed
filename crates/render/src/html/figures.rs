//! Sections, and the figures in them.

use std::collections::HashMap;

use maud::{Markup, PreEscaped, html};

use super::foreign::{Account, Foreign, Sentence};
use super::{orders, points};
use crate::picture;
use charz_analysis::figure::{Body, Figure, Heatmap};
use charz_analysis::page::Section;

pub(super) fn section(section: &Section) -> Markup {
    let title = format!("s-{}-heading", section.id);
    html! {
        section.chapter id=(format!("s-{}", section.id)) aria-labelledby=(title) {
            h2 id=(title) { (section.title) }
            @if !section.about.is_empty() { p.about { (sentences(&section.about)) } }
            @if let Some(table) = &section.table { (points::listed(table, section.title)) }
            @for run in section.figures.chunk_by(|one, other| is_lines(one) && is_lines(other)) {
                @if run.len() > 1 {
                    div.panels { @for one in run { (figure(one, own_title(one, run), true)) } }
                } @else {
                    (figure(&run[0], &run[0].title, false))
                }
            }
        }
    }
}

/// One figure under a title, as a panel beside others or by itself.
pub(super) fn figure(figure: &Figure, title: &str, is_panel: bool) -> Markup {
    let (id, heading) = (format!("f-{}", figure.id), format!("f-{}-heading", figure.id));
    html! {
        figure.(kind(&figure.body)) id=(id) aria-labelledby=(heading) {
            h3 id=(heading) { (Foreign(title)) " " a.self href=(format!("#{id}")) aria-label="link to this figure" { "#" } }
            @if !figure.about.is_empty() && !is_panel { p.about { (sentences(&figure.about)) } }
            @if let Body::MachineDiagram(nest) = &figure.body { (orders::player(nest, &figure.id)) }
            div.plot { (PreEscaped(if is_panel { picture::svg_panel(figure) } else { picture::svg_inline(figure) })) }
            @if let Body::Heatmap(heat) = &figure.body { (notes(heat)) }
            figcaption {
                details.words { summary { "Description" } p { (Account(&figure.alternative())) } }
                @if let Body::MachineDiagram(nest) = &figure.body { (orders::lists(nest, &figure.id)) }
                @if let Some(table) = &figure.table { (points::table(table, &figure.title)) }
            }
        }
    }
}

fn is_lines(figure: &Figure) -> bool {
    matches!(figure.body, Body::Lines(_))
}

/// The part of a title that is not the same in all panels: `mem-read` of `mem-read: throughput vs threads`.
fn own_title<'a>(figure: &'a Figure, panels: &[Figure]) -> &'a str {
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

fn sentences(all: &[String]) -> Markup {
    html! { @for (at, sentence) in all.iter().enumerate() { @if at > 0 { " " } (Sentence(sentence)) } }
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
