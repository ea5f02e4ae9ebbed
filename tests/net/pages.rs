//! Laws of every page, whatever it is of.

use std::collections::BTreeSet;

use charz_analysis::page::{Source, page};
use charz_data::at_once;
use charz_render::html;
use charz_render::look::TerminalStyle;
use roxmltree::Document;

use super::draw::{Drawn, drawn};
use super::groups::groups;
use super::shown::Place;

/// The smallest letters of a picture, in pixels.
const SMALLEST: f64 = 11.0;
/// The text of a page on a phone of 390 pixels, and the most that lines and bars need on a larger screen.
const PHONE: f64 = 358.0;
const SCREEN: f64 = 760.0;

/// What lies between two marks, with them, each time.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    let begins = text.match_indices(from).map(|(at, _)| &text[at..]);
    begins.map(|rest| &rest[..rest.find(to).expect("it ends") + to.len()]).collect()
}

fn title(html: &str) -> &str {
    between(html, "<title>", "</title>")[0]
}

/// Every picture has a name, words and letters that can be read, and fits a phone or says how it is moved there; no text is cut off.
fn check(name: &str, html: &str) {
    for word in ["no result to show", "text-overflow"] {
        assert!(!html.contains(word), "{name}: {word}");
    }
    for figure in between(html, "<figure ", "</figure>") {
        let pictures = between(figure, "<svg ", "</svg>");
        let of = &figure[..figure.len().min(100)];
        let mut widths = Vec::new();
        for picture in &pictures {
            let document = Document::parse(picture).unwrap_or_else(|error| panic!("{name}: {error}: {of}"));
            let root = document.root_element();
            let title = root.children().find(|node| node.has_tag_name("title")).and_then(|title| title.text());
            let label = root.attribute("aria-label").or(title).unwrap_or_default();
            assert!(!label.is_empty(), "{name}: a picture without a name: {of}");
            let words: Vec<_> = root.descendants().filter(|node| node.has_tag_name("text")).collect();
            assert!(!words.is_empty(), "{name}: a picture without words: {of}");
            for word in words {
                let size: f64 = word.attribute("font-size").unwrap().parse().unwrap();
                assert!(size >= SMALLEST, "{name}: {size} pixels: {:?} of {of}", word.text());
                // Colours of lines are too light for letters.
                let fill = word.attribute("fill").unwrap();
                assert!(!fill.starts_with("var(--s") || fill.starts_with("var(--soft"), "{name}: {fill} of {of}");
            }
            widths.push(root.attribute("width").unwrap().parse::<f64>().unwrap());
        }
        let has_hint = figure.contains("class=\"hint");
        match widths[..] {
            [wide, narrow] => assert!(wide <= SCREEN && narrow <= PHONE, "{name}: {widths:?}: {of}"),
            [only] => assert!(only <= PHONE || has_hint, "{name}: {only}: {of}"),
            _ => panic!("{name}: {} pictures: {of}", widths.len()),
        }
    }
}

#[test]
fn every_page_of_a_report_can_be_read() {
    at_once(&drawn(), |Drawn { name, report }| {
        let mut html = Vec::new();
        html::write(&page(&[Source { name, report }]), &TerminalStyle::PLAIN, &mut html).unwrap();
        check(name, &String::from_utf8(html).unwrap());
    });
}

/// Pages of other kinds too, and no two of them have one name in a browser's tabs.
#[test]
fn every_page_of_several_reports_can_be_read_and_has_a_name_of_its_own() {
    let all = groups();
    let drawn = at_once(&all, |group| {
        let place = Place::new();
        group.reports.iter().for_each(|(file, report)| place.put(file, report));
        let (files, name): (Vec<&str>, _) = (group.reports.iter().map(|(file, _)| file.as_str()).collect(), group.name);
        let mut lines =
            vec![format!("render {}", files[0]), format!("predict {} --mapping round-robin --threads 2", files[0])];
        match name.split('-').next().unwrap() {
            "compare" => lines.push("compare a.json b.json --allow-suspect".to_owned()),
            "machines" => lines.push(format!("compare --machines {}", files.join(" "))),
            "fleet" => lines.push("fleet show .".to_owned()),
            "replicate" => {
                lines.extend(["t3-4", "cmt", "tacc"].map(|document| format!("replicate {document} --from a.json")));
            }
            "history" => {
                place.shown(&group.lines[0]);
                lines.push("history plot --db h.db".to_owned());
            }
            _ => {}
        }
        let (mut titles, mut verbs) = (BTreeSet::new(), BTreeSet::new());
        for line in lines {
            let html = place.shown(&format!("{line} --format html"));
            // What has no number is neither predicted nor compared.
            if !html.contains("<html") {
                continue;
            }
            check(&format!("{name}: {line}"), &html);
            assert!(titles.insert(title(&html).to_owned()), "{name}: {line}: {}", title(&html));
            verbs.insert(line.split(' ').take(2).filter(|word| !word.contains('.')).collect::<String>());
        }
        verbs
    });
    let verbs: BTreeSet<String> = drawn.into_iter().flatten().collect();
    for verb in ["render", "predict", "compare", "compare--machines", "fleetshow", "replicatecmt", "historyplot"] {
        assert!(verbs.contains(verb), "no page of {verb}: {verbs:?}");
    }
}
