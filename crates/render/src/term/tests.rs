//! Texts of a report with cells of every kind.

use textwrap::core::display_width;

use super::*;
use crate::formats::tests::{everything, without_colours, written};
use charz_analysis::page::{Source, page};

fn answered(look: &TerminalStyle) -> String {
    written(|out| answer(&everything(), look, out))
}

#[test]
fn every_line_fits_the_terminal() {
    let report = everything();
    let page = page(&[Source { name: "all", report: &report }]);
    let launches = page.answers.iter().flat_map(|answer| &answer.advice).filter_map(|advice| advice.launch.as_ref());
    let pasted: Vec<String> = launches.map(|launch| format!("    {launch}")).collect();
    for columns in [40, 57, 80, 120, 300] {
        for unicode in [true, false] {
            let text = answered(&TerminalStyle { columns, tables: columns, colour: false, unicode });
            let long = text.lines().find(|line| display_width(line) > columns && !pasted.iter().any(|one| one == line));
            assert_eq!(long, None, "{columns} columns");
        }
    }
}

#[test]
fn a_line_to_paste_is_one_line() {
    let launch = format!("taskset -c {} PROGRAM", "0,2,4,6,8,".repeat(200));
    for (columns, what) in [(80, "short"), (240, &*"of many words ".repeat(12))] {
        let look = TerminalStyle { columns, ..TerminalStyle::PLAIN };
        let launch = if columns > 80 { "charz exec --mapping round-robin --threads 4 -- PROGRAM" } else { &launch };
        let step = Block::Step(what.to_owned(), Some(launch.to_owned()));
        let text = written(|out| text(&[step], &look, out));
        assert!(text.lines().any(|line| line.ends_with(launch)), "{text}");
    }
}

#[test]
fn words_begin_after_their_label() {
    let line = Block::Line("barrier, as delivered".to_owned(), vec!["sense 227 ns".to_owned()]);
    let text = written(|out| text(&[line], &TerminalStyle::PLAIN, out));
    assert_eq!(text, "barrier, as delivered  sense 227 ns\n");
}

#[test]
fn colours_change_no_sign() {
    let (plain, coloured) =
        (answered(&TerminalStyle::PLAIN), answered(&TerminalStyle { colour: true, ..TerminalStyle::PLAIN }));
    assert_eq!(plain, without_colours(&coloured));
    assert!(!plain.contains('\u{1b}') && coloured.contains("\u{1b}["), "{coloured}");
}

#[test]
fn a_square_is_a_table_where_it_has_room() {
    let report = everything();
    let page = page(&[Source { name: "all", report: &report }]);
    let mut figures = page.figures();
    let Some(Figure { body: Body::Heatmap(heat), .. }) = figures.find(|own| matches!(own.body, Body::Heatmap(_)))
    else {
        panic!("there are pairs");
    };
    let shown = |heat: &Heatmap, columns| {
        written(|out| square(heat, &mut Pen::new(&TerminalStyle { columns, ..TerminalStyle::PLAIN }, out)))
    };
    let text = shown(heat, 100);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[1][..3], ["0", "-", "41"]);
    assert!(
        rows.iter().flatten().any(|word| word.ends_with('~')) && rows.iter().flatten().any(|word| *word == "x"),
        "{text}"
    );
    assert!(shown(heat, 40).starts_with("8 by 8 values have no room"), "{}", shown(heat, 40));
}
