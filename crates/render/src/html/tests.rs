use std::collections::BTreeSet;

use roxmltree::{Document, Node};

use super::*;
use crate::formats::tests::{self, EVIL, everything, golden, hostile, spoiled};
use charz_analysis::page::{self, Source};
use charz_data::report::Report;

/// A page of one report, with figures of every kind.
fn page_of(report: &Report) -> Page {
    page::page(&[Source { name: EVIL, report }])
}

fn written(page: &Page) -> String {
    tests::written(|out| write(page, &TerminalStyle::PLAIN, out))
}

/// The page for a reader of XML, which is not what wrote it, without our own style and script.
fn as_xml(html: &str) -> String {
    let mut xml =
        html.replacen(policy::STYLE, "", 1).replacen(policy::SCRIPT, "", 1).replacen("<!DOCTYPE html>", "", 1);
    for flag in ["hidden", "open", "data-scripted"] {
        xml = xml.replace(&format!(" {flag}"), &format!(" {flag}=\"\""));
    }
    // HTML never closes these.
    for void in ["<meta ", "<link ", "<input "] {
        let closed = xml.split(void).enumerate();
        let closed = closed.map(|(at, rest)| if at > 0 { rest.replacen('>', "/>", 1) } else { rest.to_owned() });
        xml = closed.collect::<Vec<_>>().join(void);
    }
    xml
}

#[track_caller]
fn is_inert(html: &str) {
    let xml = as_xml(html);
    let document = Document::parse(&xml).unwrap();
    let count =
        |name: &str| document.descendants().filter(|node| node.tag_name().name().eq_ignore_ascii_case(name)).count();
    assert_eq!((count("script"), count("style")), (1, 1));
    for foreign in ["img", "iframe", "object", "embed", "form", "base", "foreignObject", "use"] {
        assert_eq!(count(foreign), 0, "{foreign}");
    }
    assert!(!document.descendants().any(|node| node.is_comment()));
    for attribute in document.descendants().flat_map(|node| node.attributes()) {
        let (key, value) = (attribute.name(), attribute.value());
        assert!(!key.starts_with("on") && key != "style" && key != "src", "{key}={value}");
        assert!(!key.ends_with("href") || value.starts_with('#') || value.starts_with("data:"), "{key}={value}");
    }
    let steers =
        |mark: &char| (mark.is_control() && *mark != '\n') || "\u{202e}\u{2066}\u{200f}\u{feff}".contains(*mark);
    assert_eq!(html.chars().find(steers), None);
}

/// However many reports there are, the answer is on the first screen.
#[test]
fn the_header_of_many_reports_is_short() {
    let report = golden();
    let names: Vec<String> = (0..50).map(|at| format!("node{at}")).collect();
    let sources: Vec<Source<'_>> = names.iter().map(|name| Source { name, report: &report }).collect();
    let html = written(&page::page(&sources[..]));
    let xml = as_xml(&html);
    let document = Document::parse(&xml).unwrap();
    let named = document.descendants().filter(|node| node.attribute("class") == Some("begun"));
    assert!(named.count() <= 8);
    let answer = document.descendants().find(|node| node.attribute("id") == Some("s-summary")).unwrap();
    let text: String = answer.descendants().filter_map(|node| node.text()).collect();
    assert!(text.contains("0 of 49") && text.contains("node0"), "{text}");
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
    let xml = as_xml(&html);
    let document = Document::parse(&xml).unwrap();
    let mut ids = BTreeSet::new();
    for id in document.descendants().filter_map(|node| node.attribute("id")) {
        assert!(ids.insert(id), "{id} twice");
    }
    for node in document.descendants() {
        let names = ["aria-labelledby", "aria-describedby", "for"].into_iter().filter_map(|key| node.attribute(key));
        let links = node.attribute("href").and_then(|link| link.strip_prefix('#'));
        for name in names.flat_map(str::split_whitespace).chain(links) {
            assert!(ids.contains(name), "{node:?} refers to {name}");
        }
    }
}

#[test]
fn headings_are_in_order() {
    let html = written(&page_of(&everything()));
    let xml = as_xml(&html);
    let document = Document::parse(&xml).unwrap();
    let names = document.descendants().filter_map(|node| node.tag_name().name().strip_prefix('h'));
    let levels: Vec<u32> = names.filter_map(|level| level.parse().ok()).collect();
    assert_eq!(levels.first(), Some(&1));
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
}

#[test]
fn every_row_of_a_table_is_written() {
    let page = page_of(&golden());
    let of_sections = page.sections.iter().filter_map(|section| section.table.as_ref());
    let tables: Vec<_> = page.figures().filter_map(|figure| figure.table.as_ref()).chain(of_sections).collect();
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
    let xml = as_xml(&html);
    let document = Document::parse(&xml).unwrap();
    let is_policy = |node: &Node<'_, '_>| node.attribute("http-equiv") == Some("Content-Security-Policy");
    let policy = document.descendants().find(is_policy).unwrap();
    let words = policy.attribute("content").unwrap();
    assert!(words.starts_with("default-src 'none';") && !words.contains("unsafe"), "{words}");
}

/// Each run is a place among the others, and the words of a point are there once.
#[test]
fn a_point_has_its_runs_and_its_words_once() {
    let mut report = everything();
    let own = report.cells.iter_mut().find(|cell| cell.invocations.len() > 1).unwrap();
    own.invocations.iter_mut().zip([1.0, 2.0, 3.0]).for_each(|(run, value)| run.value = Some(value * 1e9));
    let html = written(&page_of(&report));
    assert!(html.contains("data-runs=\"0 "), "the slowest is at the left end");
    assert!(!html.contains("data-note="), "the script takes them from the titles");
}

/// A page of 118 kernels that synchronise, each with a number for one thread and for two under two mappings, opens at once.
#[test]
fn a_page_of_many_kernels_is_small() {
    use charz_data::report::Unit;
    use charz_data::report::fixtures::{cell, report};
    let cells = (0..118).flat_map(|kernel| {
        let one = move |workers, mapping| {
            let unit = if kernel % 2 == 0 { Unit::OpsPerSecond } else { Unit::NanosecondsPerOp };
            cell(&format!("kind{}-{kernel}", kernel % 9), workers, unit, f64::from(kernel + 1) * 10.0).under(mapping)
        };
        [one(1, "round-robin").suspect(), one(2, "round-robin"), one(2, "auto").suspect()]
    });
    let mut report = report(cells.collect());
    report.cards.iter_mut().for_each(|card| card.family = charz_data::card::Family::Sync);
    let html = written(&page_of(&report));
    // Lines and bars are there twice, also as a phone shows them.
    assert!(html.len() < 750_000, "{} bytes", html.len());
}
