//! How much a page may hold. The page of any report is generated quickly and is small enough for a browser.

use super::Page;
use crate::figure::{Body, Figure, Plot, Quantity};
use charz_data::escape::shortened;
use charz_data::units;

const MOST_FIGURES: usize = 300;
const MOST_ROWS: usize = 8000;
const MOST_FINDINGS: usize = 400;
const MOST_DOUBTS: usize = 200;

/// Characters of a name, of a sentence, and of a sentence that says what follows.
const LONGEST_NAME: usize = 240;
const LONGEST_SENTENCE: usize = 1500;
const LONGEST_FINDING: usize = 4000;
const MOST_SENTENCES: usize = 24;

/// Leaves out what is too much, and says so.
pub(super) fn bound(page: &mut Page) {
    cap(&mut page.findings, MOST_FINDINGS, "findings", &mut page.left_out);
    cap(&mut page.doubts, MOST_DOUBTS, "kinds of doubts", &mut page.left_out);
    let all: usize = page.sections.iter().map(|section| section.figures.len()).sum();
    if all > MOST_FIGURES {
        page.left_out.push(left_out(all - MOST_FIGURES, "figures"));
        limit_figures(page);
    }
    rows(page);
    words(page);
}

fn cap<T>(all: &mut Vec<T>, most: usize, what: &str, said: &mut Vec<String>) {
    if all.len() > most {
        said.push(left_out(all.len() - most, what));
        all.truncate(most);
    }
}

fn left_out(count: usize, what: &str) -> String {
    let count = units::count(count as u64);
    format!("{count} {what} are left out, so the page stays small; charz render REPORT --format table has them")
}

fn words(page: &mut Page) {
    shorten(&mut page.title, LONGEST_NAME);
    page.answers.iter_mut().for_each(|answer| answer.bound([LONGEST_NAME, LONGEST_SENTENCE]));
    page.findings.iter_mut().for_each(|(_, finding)| shorten(&mut finding.text, LONGEST_FINDING));
    for (_, doubt) in &mut page.doubts {
        shorten(&mut doubt.reason, LONGEST_SENTENCE);
        shorten(&mut doubt.cell, LONGEST_NAME);
    }
    page.sections.iter_mut().flat_map(|section| &mut section.figures).for_each(figure);
}

fn figure(figure: &mut Figure) {
    shorten(&mut figure.title, LONGEST_NAME);
    figure.about.truncate(MOST_SENTENCES);
    figure.about.iter_mut().for_each(|sentence| shorten(sentence, LONGEST_FINDING));
    match &mut figure.body {
        Body::Lines(drawn) | Body::Dots(drawn) => plot(drawn),
        Body::MachineDiagram(nest) => {
            nest.orders.iter_mut().for_each(|order| shorten(&mut order.mapping, LONGEST_NAME))
        }
        Body::Heatmap(_) | Body::Joint(_) => {}
    }
}

fn plot(plot: &mut Plot) {
    plot.series.iter_mut().for_each(|series| shorten(&mut series.name, LONGEST_NAME));
    plot.reference_lines.iter_mut().for_each(|rule| shorten(&mut rule.label, LONGEST_NAME));
    if let Quantity::Names(names) = &mut plot.x.quantity {
        names.iter_mut().for_each(|name| shorten(name, LONGEST_NAME));
    }
}

fn shorten(words: &mut String, longest: usize) {
    if words.len() > longest {
        *words = shortened(words, longest as f64, |_| 1.0);
    }
}

/// Of each section as many figures as the others leave room for: small sections stay whole.
fn limit_figures(page: &mut Page) {
    let share = share(page.sections.iter().map(|section| section.figures.len()).collect(), MOST_FIGURES);
    page.sections.iter_mut().for_each(|section| section.figures.truncate(share.max(1)));
}

fn rows(page: &mut Page) {
    let tables = page.sections.iter().flat_map(|section| &section.figures).filter_map(|figure| figure.table.as_ref());
    let share = share(tables.map(|table| table.rows.len()).collect(), MOST_ROWS);
    let figures = page.sections.iter_mut().flat_map(|section| &mut section.figures);
    for table in figures.filter_map(|figure| figure.table.as_mut()) {
        table.left_out += table.rows.len().saturating_sub(share);
        table.rows.truncate(share);
    }
}

/// The limit for each length at which the sum is at most `most`; shorter lengths are kept.
fn share(mut lengths: Vec<usize>, most: usize) -> usize {
    if lengths.iter().sum::<usize>() <= most {
        return usize::MAX;
    }
    lengths.sort_unstable();
    let mut room = most;
    for (done, length) in lengths.iter().enumerate() {
        let share = room / (lengths.len() - done);
        if *length > share {
            return share;
        }
        room -= length;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn the_small_stay_whole_and_the_large_share_what_is_left() {
        assert_eq!(share(vec![1, 2, 3], 6), usize::MAX);
        assert_eq!(share(vec![100, 2, 100, 8], 50), 20);
        assert_eq!(share(vec![10; 20], 10), 0);
        assert_eq!(share(Vec::new(), 10), usize::MAX);
    }
}
