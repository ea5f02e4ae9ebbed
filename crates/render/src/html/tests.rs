use std::collections::BTreeSet;

use super::*;
use crate::formats::tests::{golden, spoiled};
use charz_analysis::figure::{Body, Datum, Figure, Heatmap, MachineDiagram, Order, Part, Quantity, State, Tile, What};
use charz_analysis::page;
use charz_analysis::page::{Difference, Section, Source};
use charz_data::report::Report;

/// Markup in every way, marks that turn what follows around, and what steers a terminal.
const HOSTILE: &str =
    "\"><script>alert(1)</script><img src=x onerror=alert(1)>'--></style>&lt;\u{202e}\u{2066}\u{1b}[2J\0\r\n\t";

/// A page with a machine and a square whose every text is the one given.
fn with_pictures(report: &Report, text: &str) -> Page {
    let mut page = page::page(&[Source { name: text, report }]);
    let part = |what, strand, parts| Part { what, label: text.into(), strand, usable: true, times: 1, parts };
    let core = |at: u32| part(What::Core, None, vec![part(What::Strand, Some(at), Vec::new())]);
    let orders =
        vec![Order { mapping: text.into(), seats: vec![1, 0] }, Order { mapping: text.into(), seats: Vec::new() }];
    let nest = Body::MachineDiagram(MachineDiagram { parts: vec![core(0), core(1)], orders });
    let tile = |value, state| Tile { value, state, reason: Some(0) };
    let heat = Body::Heatmap(Heatmap {
        row_label: text.into(),
        column_label: text.into(),
        rows: vec![text.into(); 2],
        columns: vec![text.into(); 2],
        borders: vec![(1, text.into())],
        tiles: vec![
            Tile::NOTHING,
            tile(Some(40.0), State::Suspect),
            tile(Some(41.0), State::Ok),
            tile(None, State::Missing),
        ],
        quantity: Quantity::Nanos,
        reasons: vec![text.into()],
        folded: 1,
    });
    let figure =
        |id: &str, body| Figure { id: id.into(), title: text.into(), about: vec![text.into()], body, table: None };
    let figures = vec![figure("nest-of-test", nest), figure("heat-of-test", heat)];
    let own = || text.to_owned();
    page.summary.push((0, own()));
    page.differences.push(Difference { label: "host", words: vec![own()] });
    page.left_out.push(own());
    page.verdicts.rows.push(vec![Datum::word(text); 6].into());
    page.sections.push(Section { id: "of-test", title: "Of the test", about: vec![text.into()], figures });
    page
}

fn written(page: &Page) -> String {
    let mut out = Vec::new();
    write(page, &TerminalStyle::PLAIN, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// An element's start: its name and its attributes. Independent of what wrote it: quotes are heard, nothing else is.
struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    fn get(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// The starts of all elements, without what stands in our own style and script.
fn tags(html: &str) -> Vec<Tag> {
    let html = html.replacen(policy::STYLE, "", 1).replacen(policy::SCRIPT, "", 1);
    let mut tags = Vec::new();
    let mut rest = html.as_str();
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let name: String =
            rest.chars().take_while(|mark| mark.is_ascii_alphanumeric() || "!/-".contains(*mark)).collect();
        rest = &rest[name.len()..];
        let mut attributes = Vec::new();
        while !rest.starts_with('>') {
            rest = rest.trim_start();
            let key: String = rest.chars().take_while(|mark| !" =>\n".contains(*mark)).collect();
            rest = &rest[key.len()..];
            let mut value = String::new();
            if let Some(quoted) = rest.strip_prefix("=\"") {
                let end = quoted.find('"').expect("a value ends");
                value = quoted[..end].to_owned();
                rest = &quoted[end + 1..];
            }
            assert!(!(key.is_empty() && value.is_empty() && !rest.starts_with('>')), "no tag: {name} {rest:.40}");
            attributes.push((key, value));
        }
        tags.push(Tag { name, attributes });
    }
    tags
}

#[track_caller]
fn is_inert(html: &str) {
    let all = tags(html);
    let count = |name: &str| all.iter().filter(|tag| tag.name.eq_ignore_ascii_case(name)).count();
    assert_eq!((count("script"), count("/script"), count("style"), count("/style")), (1, 1, 1, 1));
    for foreign in ["img", "iframe", "object", "embed", "form", "base", "foreignObject", "use", "!--"] {
        assert_eq!(count(foreign), 0, "{foreign}");
    }
    for tag in &all {
        for (key, value) in &tag.attributes {
            assert!(!key.starts_with("on") && key != "style" && key != "src", "{} {key}={value}", tag.name);
            if key.ends_with("href") {
                assert!(value.starts_with('#') || value.starts_with("data:"), "{} {key}={value}", tag.name);
            }
        }
    }
    let steers =
        |mark: &char| (mark.is_control() && *mark != '\n') || "\u{202e}\u{2066}\u{200f}\u{feff}".contains(*mark);
    assert_eq!(html.chars().find(steers), None);
}

#[test]
fn foreign_text_is_inert() {
    let report = spoiled(&golden(), HOSTILE);
    assert!(report.host.name.as_ref().is_some_and(|name| name.starts_with(HOSTILE)), "the report is hostile");
    assert!(report.cells[0].kernel.starts_with(HOSTILE));
    let one = written(&with_pictures(&report, HOSTILE));
    assert!(one.contains("alert(1)"), "it is shown");
    is_inert(&one);
    let sources = [Source { name: HOSTILE, report: &report }, Source { name: "b", report: &golden() }];
    is_inert(&written(&page::page(&sources)));
}

#[test]
fn a_long_text_does_not_make_a_long_page() {
    let report = spoiled(&golden(), &"<\u{202e}".repeat(20_000));
    let page = page::page(&[Source { name: "a", report: &report }]);
    let html = written(&Page { sections: Vec::new(), ..page });
    assert!(html.len() < 1_500_000, "{} bytes", html.len());
    is_inert(&html);
}

#[test]
fn what_is_referred_to_is_there_once() {
    let html = written(&with_pictures(&golden(), "word"));
    let all = tags(&html);
    let mut ids = BTreeSet::new();
    for id in all.iter().filter_map(|tag| tag.get("id")) {
        assert!(ids.insert(id), "{id} twice");
    }
    for tag in &all {
        let names = ["aria-labelledby", "aria-describedby", "for"].into_iter().filter_map(|key| tag.get(key));
        let links = tag.get("href").and_then(|link| link.strip_prefix('#'));
        for name in names.flat_map(str::split_whitespace).chain(links) {
            assert!(ids.contains(name), "{} refers to {name}", tag.name);
        }
    }
}

#[test]
fn headings_are_in_order() {
    let html = written(&with_pictures(&golden(), "word"));
    let level = |tag: &Tag| tag.name.strip_prefix('h').and_then(|level| level.parse::<u32>().ok());
    let levels: Vec<u32> = tags(&html).iter().filter_map(level).collect();
    assert_eq!(levels.first(), Some(&1));
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
}

#[test]
fn what_differs_is_marked() {
    let (one, mut other) = (golden(), golden());
    let page = |other: &Report| {
        written(&page::page(&[Source { name: "a", report: &one }, Source { name: "b", report: other }]))
    };
    assert_eq!(page(&other).matches("class=\"differs\"").count(), 0);
    other.host.kernel = Some("another system".into());
    assert_eq!(page(&other).matches("class=\"differs\"").count(), 1);
}

#[test]
fn every_row_of_a_table_is_written() {
    let page = page::page(&[Source { name: "a", report: &golden() }]);
    let tables: Vec<_> = page.figures().filter_map(|figure| figure.table.as_ref()).collect();
    let html = written(&page);
    let rows: usize = tables.iter().map(|table| table.rows.len()).sum();
    let passports = tables.iter().flat_map(|table| &table.rows).filter(|row| !row.passport.is_empty()).count();
    assert_eq!(html.matches("<td class=\"passport\"><details>").count(), passports);
    assert!(html.matches("<tr").count() >= rows);
}

#[test]
fn the_script_can_run_and_nothing_else() {
    let html = written(&page::page(&[Source { name: "a", report: &golden() }]));
    assert!(html.contains(&format!("<style>{}</style>", policy::STYLE)));
    assert!(html.contains(&format!("<script>{}</script>", policy::SCRIPT)));
    let all = tags(&html);
    let policy = all.iter().find(|tag| tag.get("http-equiv") == Some("Content-Security-Policy")).unwrap();
    let words = policy.get("content").unwrap();
    assert!(words.starts_with("default-src 'none';") && !words.contains("unsafe"), "{words}");
}
