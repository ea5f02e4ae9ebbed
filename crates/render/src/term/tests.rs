//! Pictures of a report with cells of every kind.

use textwrap::core::display_width;

use super::*;
use crate::formats::tests::{everything, without_colours, written};
use charz_analysis::figure::Role;
use charz_analysis::page::{Source, page};

fn whole(look: &TerminalStyle) -> String {
    let report = everything();
    written(|out| write(&page(&[Source { name: "all", report: &report }]), look, out))
}

/// The figures of one kind, each with its picture.
fn pictures(look: &TerminalStyle, is: fn(&Body) -> bool) -> Vec<(Figure, String)> {
    let report = everything();
    let page = page(&[Source { name: "all", report: &report }]);
    let drawn = |figure: &Figure| (figure.clone(), written(|out| picture(figure, &mut Pen::new(look, out))));
    let pictures: Vec<(Figure, String)> = page.figures().filter(|figure| is(&figure.body)).map(drawn).collect();
    assert!(!pictures.is_empty());
    pictures
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
            let text = whole(&TerminalStyle { columns, tables: columns, colour: false, unicode });
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
    for is in [(|body: &Body| matches!(body, Body::Lines(_))) as fn(&Body) -> bool, |body| {
        matches!(body, Body::MachineDiagram(_))
    }] {
        let plain = pictures(&TerminalStyle::PLAIN, is);
        for ((shown, plain), (_, coloured)) in plain.iter().zip(pictures(&COLOURED, is)) {
            assert_eq!(*plain, without_colours(&coloured), "{}", shown.id);
            assert!(!plain.contains('\u{1b}') && coloured.contains("\u{1b}["), "{}", shown.id);
        }
    }
}

#[test]
fn lines_are_told_apart_without_colours() {
    let (shown, text) = pictures(&TerminalStyle::PLAIN, |body| matches!(body, Body::Lines(_))).swap_remove(0);
    let Body::Lines(plot) = &shown.body else { unreachable!() };
    for (at, series) in plot.measured() {
        let (letter, _) = plot::mark(at);
        assert!(text.contains(&format!("{letter} {}", series.name)), "{text}");
    }
    let spots = || plot.series.iter().flat_map(|series| &series.points);
    let picture: Vec<&str> = text.lines().take_while(|line| !line.contains('└')).collect();
    assert!(
        spots().any(|spot| spot.state == State::Suspect) && picture.iter().any(|line| line.contains('~')),
        "{text}"
    );
    let axis = text.lines().find(|line| line.contains('└')).unwrap();
    assert!(spots().any(|spot| spot.state == State::Missing) && axis.contains('x'), "{text}");
    assert!(picture.iter().any(|line| line.contains('·')), "{text}");
}

/// A logarithmic axis is not stretched for it: it is at its end.
#[test]
fn a_noisy_number_beyond_the_axis_is_no_gap() {
    let (shown, _) = pictures(&TerminalStyle::PLAIN, |body| matches!(body, Body::Lines(_))).swap_remove(0);
    let Body::Lines(mut plot) = shown.body else { unreachable!() };
    plot.y.scale = charz_analysis::figure::Scale::Log10;
    let points = plot.series.iter_mut().map(|series| &mut series.points);
    points.for_each(|points| points.retain(|point| point.y.is_some()));
    let mut points = plot.series.iter_mut().flat_map(|series| &mut series.points);
    let noisy = points.find(|point| point.state == State::Suspect).unwrap();
    (noisy.y, noisy.spread) = (Some(1e15), None);
    let text = written(|out| plot::draw(&plot, &mut Pen::new(&TerminalStyle::PLAIN, out)));
    let axis = text.lines().find(|line| line.contains('└')).unwrap();
    assert!(!axis.contains('x'), "{text}");
    assert!(text.lines().nth(1).unwrap().contains('~'), "{text}");
}

#[test]
fn heat_has_numbers_where_they_have_room_and_shades_where_not() {
    let heat = |columns| {
        let look = TerminalStyle { columns, ..TerminalStyle::PLAIN };
        pictures(&look, |body| matches!(body, Body::Heatmap(_))).swap_remove(0)
    };
    let (shown, wide) = heat(100);
    let Body::Heatmap(square) = &shown.body else { unreachable!() };
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
fn what_is_not_drawn_has_its_numbers_and_their_doubt() {
    let all = pictures(&TerminalStyle::PLAIN, |body| matches!(body, Body::Dots(_) | Body::Joint(_)));
    for (shown, text) in &all {
        let table = match &shown.body {
            Body::Dots(plot) => listed(plot),
            _ => shown.table.clone().unwrap(),
        };
        for row in &table.rows {
            let line = text.lines().find(|line| row.data.iter().all(|datum| line.contains(&datum.text)));
            assert!(line.is_some(), "{row:?}: {text}");
        }
        match &shown.body {
            Body::Dots(plot) => {
                assert_eq!(table.rows.len(), plot.measured().map(|(_, series)| series.points.len()).sum::<usize>());
                let mut limited = plot.clone();
                limited.series.push(Series { role: Role::Bound, ..plot.series[0].clone() });
                assert_eq!(listed(&limited), table, "a limit is no result");
            }
            Body::Joint(joint) => {
                assert!(text.contains(&joint.summary()) && text.contains("noisy") == joint.is_doubtful, "{text}");
            }
            _ => {}
        }
    }
    // A title names kernels too.
    let row = |name: &str, number: &str| {
        let mut lines = all.iter().flat_map(|(_, text)| text.lines());
        assert!(lines.any(|line| line.starts_with(name) && line.contains(number)), "{name}");
    };
    row("clock-read", "21.0 ns~");
    row("spawn", "11.0 µs");
}
