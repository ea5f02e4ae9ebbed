use std::collections::BTreeSet;

use super::*;
use crate::formats::tests::{EVIL, everything, golden, hostile, spoiled};
use charz_analysis::page::{self, Source};
use charz_data::report::Report;

/// A page of one report, with figures of every kind.
fn page_of(report: &Report) -> Page {
    page::page(&[Source { name: EVIL, report }])
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
    let report = hostile();
    let one = written(&page_of(&report));
    assert!(one.contains("alert(1)"), "it is shown");
    is_inert(&one);
    let sources = [Source { name: EVIL, report: &report }, Source { name: "b", report: &golden() }];
    is_inert(&written(&page::page(&sources)));
}

#[test]
fn a_long_text_does_not_make_a_long_page() {
    let report = spoiled(&golden(), &"<\u{202e}".repeat(20_000));
    let html = written(&Page { sections: Vec::new(), ..page_of(&report) });
    assert!(html.len() < 1_500_000, "{} bytes", html.len());
    is_inert(&html);
}

#[test]
fn what_is_referred_to_is_there_once() {
    let html = written(&page_of(&everything()));
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
    let html = written(&page_of(&everything()));
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
    let page = page_of(&golden());
    let tables: Vec<_> = page.figures().filter_map(|figure| figure.table.as_ref()).collect();
    let html = written(&page);
    let rows: usize = tables.iter().map(|table| table.rows.len()).sum();
    let passports = tables.iter().flat_map(|table| &table.rows).filter(|row| !row.passport.is_empty()).count();
    assert_eq!(html.matches("<td class=\"passport\"><details>").count(), passports);
    assert!(html.matches("<tr").count() >= rows);
}

#[test]
fn the_script_can_run_and_nothing_else() {
    let html = written(&page_of(&golden()));
    assert!(html.contains(&format!("<style>{}</style>", policy::STYLE)));
    assert!(html.contains(&format!("<script>{}</script>", policy::SCRIPT)));
    let all = tags(&html);
    let policy = all.iter().find(|tag| tag.get("http-equiv") == Some("Content-Security-Policy")).unwrap();
    let words = policy.get("content").unwrap();
    assert!(words.starts_with("default-src 'none';") && !words.contains("unsafe"), "{words}");
}
