//! Texts of a report with cells of every kind.

use textwrap::core::display_width;

use super::*;
use crate::formats::tests::{everything, without_colours, written};
use charz_analysis::figure::Role;
use charz_analysis::page::{Source, page};

fn answered(look: &TerminalStyle) -> String {
    written(|out| answer(&everything(), look, out))
}

/// The figures of one kind, each with its numbers.
fn shown(look: &TerminalStyle, is: fn(&Body) -> bool) -> Vec<(Figure, String)> {
    let report = everything();
    let page = page(&[Source { name: "all", report: &report }]);
    let drawn = |figure: &Figure| (figure.clone(), written(|out| numbers(figure, &mut Pen::new(look, out))));
    let all: Vec<(Figure, String)> = page.figures().filter(|figure| is(&figure.body)).map(drawn).collect();
    assert!(!all.is_empty());
    all
}

const COLOURED: TerminalStyle = TerminalStyle { colour: true, ..TerminalStyle::PLAIN };

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
    let (plain, coloured) = (answered(&TerminalStyle::PLAIN), answered(&COLOURED));
    assert_eq!(plain, without_colours(&coloured));
    assert!(!plain.contains('\u{1b}') && coloured.contains("\u{1b}["), "{coloured}");
}

#[test]
fn heat_has_numbers_where_they_have_room_and_shades_where_not() {
    let heat = |columns| {
        let look = TerminalStyle { columns, ..TerminalStyle::PLAIN };
        shown(&look, |body| matches!(body, Body::Heatmap(_))).swap_remove(0)
    };
    let (figure, wide) = heat(100);
    let Body::Heatmap(square) = &figure.body else { unreachable!() };
    let sound = square.tiles.iter().find(|tile| tile.state == State::Ok).unwrap();
    assert!(wide.contains(&format!(" {:.0}", sound.value.unwrap())), "{wide}");
    assert!(wide.contains("~ noisy") && wide.contains("x no number"), "{wide}");
    let mut small = square.clone();
    small.quantity = Quantity::Value(charz_data::report::Unit::OpsPerSecond);
    small.tiles.iter_mut().for_each(|tile| tile.value = tile.value.map(|_| 12e6));
    let rates = written(|out| heat::draw(&small, &mut Pen::new(&TerminalStyle::PLAIN, out)));
    assert!(rates.contains("0.0120"), "{rates}");
    let mut large = square.clone();
    large.rows = (0..60).map(|at| format!("strand {at}")).collect();
    large.columns.clone_from(&large.rows);
    large.tiles = (0..3600).map(|at| charz_analysis::figure::Tile { value: Some(f64::from(at)), ..*sound }).collect();
    large.tiles[61].state = State::Suspect;
    let within = |columns| {
        let look = TerminalStyle { columns, ..TerminalStyle::PLAIN };
        written(|out| heat::draw(&large, &mut Pen::new(&look, out)))
    };
    for columns in [100, 72] {
        let text = within(columns);
        assert!(text.contains("██ ") && text.contains('░') && text.contains(" to "), "{text}");
        assert_eq!(text.matches('~').count(), 2, "the tile and what its sign is: {text}");
        assert!(text.lines().all(|line| display_width(line) <= columns), "{text}");
    }
    assert!(within(50).contains("60 by 60 values have no room"));
}

#[test]
fn dots_have_their_numbers_and_their_doubt() {
    let all = shown(&TerminalStyle::PLAIN, |body| matches!(body, Body::Dots(_)));
    for (figure, text) in &all {
        let Body::Dots(plot) = &figure.body else { unreachable!() };
        let table = listed(plot);
        for row in &table.rows {
            let line = text.lines().find(|line| row.data.iter().all(|datum| line.contains(&datum.text)));
            assert!(line.is_some(), "{row:?}: {text}");
        }
        assert_eq!(table.rows.len(), plot.measured().map(|(_, series)| series.points.len()).sum::<usize>());
        let mut limited = plot.clone();
        limited.series.push(Series { role: Role::Bound, ..plot.series[0].clone() });
        assert_eq!(listed(&limited), table, "a limit is no result");
    }
    // A title names kernels too.
    let row = |name: &str, number: &str| {
        let mut lines = all.iter().flat_map(|(_, text)| text.lines());
        assert!(lines.any(|line| line.starts_with(name) && line.contains(number)), "{name}");
    };
    row("clock-read", "21.0 ns~");
    row("spawn", "11.0 µs");
}
