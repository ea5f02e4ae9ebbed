//! Sections, and the figures in them.

use maud::{Markup, PreEscaped, html};

use super::foreign::{Account, Foreign, Sentence};
use super::{heat, orders, points};
use crate::picture;
use charz_analysis::figure::{Body, Figure};
use charz_analysis::page::Section;

pub(super) fn section(section: &Section) -> Markup {
    let title = format!("s-{}-heading", section.id);
    html! {
        section.chapter id=(format!("s-{}", section.id)) aria-labelledby=(title) {
            h2 id=(title) { (section.title) }
            @if !section.about.is_empty() { p.about { (sentences(&section.about)) } }
            @for one in &section.figures { (figure(one, one.title == section.title)) }
        }
    }
}

/// One of them. Where its section says its title already, it is for those who go by headings only.
fn figure(figure: &Figure, is_titled: bool) -> Markup {
    let (id, title) = (format!("f-{}", figure.id), format!("f-{}-heading", figure.id));
    html! {
        figure.(kind(&figure.body)) id=(id) aria-labelledby=(title) {
            h3.unseen[is_titled] id=(title) { (Foreign(&figure.title)) " " a.self href=(format!("#{id}")) aria-label="link to this figure" { "#" } }
            @if !figure.about.is_empty() { p.about { (sentences(&figure.about)) } }
            @if let Body::Nest(nest) = &figure.body { (orders::player(nest, &figure.id)) }
            div.plot { (PreEscaped(picture::svg_inline(figure))) }
            @if let Body::Heat(heat) = &figure.body { (heat::notes(heat)) }
            figcaption {
                details.words { summary { "In words" } p { (Account(&figure.alternative())) } }
                @if let Body::Nest(nest) = &figure.body { (orders::lists(nest, &figure.id)) }
                @if let Some(table) = &figure.table { (points::table(table, &figure.title)) }
            }
        }
    }
}

/// What the style and the script tell apart.
fn kind(body: &Body) -> &'static str {
    match body {
        Body::Lines(_) => "lines",
        Body::Dots(_) => "dots",
        Body::Heat(_) => "heat",
        Body::Joint(_) => "joint",
        Body::Nest(_) => "nest",
    }
}

fn sentences(all: &[String]) -> Markup {
    html! { @for (at, sentence) in all.iter().enumerate() { @if at > 0 { " " } (Sentence(sentence)) } }
}
