//! Laws of pictures.

use proptest::prelude::*;
use roxmltree::{Document, Node};

use super::{Place, WIDTH, samples, svg, width};
use crate::formats::tests::{hostile, written};
use charz_analysis::figure::{
    Axis, Bar, Body, DataPoint, Figure, Label, Plot, Quantity, ReferenceLine, Role, Scale, Series, State, Tile,
};

/// Numbers of attributes that place something are numbers, and lie where a picture may be.
fn check_places(document: &Document<'_>) {
    const PLACES: &[&str] = &["x", "y", "cx", "cy", "r", "width", "height", "d", "viewBox", "transform"];
    for node in document.descendants() {
        for attribute in node.attributes().filter(|attribute| PLACES.contains(&attribute.name())) {
            let value = attribute.value();
            assert!(!value.contains("NaN") && !value.contains("inf"), "{attribute:?}");
        }
    }
}

fn classes<'a>(document: &'a Document<'a>, class: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    let has =
        move |node: &Node<'_, '_>| node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class));
    document.descendants().filter(has)
}

fn drawn(figure: &Figure, place: Place) -> String {
    super::drawn(figure, place).0
}

fn svg_inline(figure: &Figure) -> String {
    drawn(figure, Place::Page)
}

/// Every picture of a figure is well-formed, says what it shows, and has places.
fn check(figure: &Figure) {
    for place in [Place::File, Place::Page, Place::Panel, Place::Phone] {
        let text = drawn(figure, place);
        let document = Document::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let root = document.root_element();
        assert_eq!(root.attribute("role"), Some("img"));
        for id in root.attribute("aria-labelledby").into_iter().flat_map(|ids| ids.split(' ')) {
            assert!(document.descendants().any(|node| node.attribute("id") == Some(id)), "{id} is not there");
        }
        check_places(&document);
    }
}

/// Level words begin and end within the picture.
#[track_caller]
fn check_words(figure: &Figure, place: Place) {
    let (text, wide) = super::drawn(figure, place);
    let document = Document::parse(&text).unwrap();
    let words =
        document.descendants().filter(|node| node.has_tag_name("text") && node.attribute("transform").is_none());
    for word in words {
        let number = |name: &str| word.attribute(name).unwrap().parse::<f64>().unwrap();
        let shown =
            word.children().filter_map(|node| node.is_text().then(|| node.text()).flatten()).collect::<String>();
        let (x, long) = (number("x"), width::of(&shown, number("font-size")));
        let [from, to] = match word.attribute("text-anchor") {
            Some("end") => [x - long, x],
            Some("middle") => [x - long / 2.0, x + long / 2.0],
            _ => [x, x + long],
        };
        assert!(
            from > -4.0 && to < wide + 4.0,
            "{shown:?} from {from} to {to} of {wide} on {place:?}: {}",
            figure.title
        );
    }
}

#[test]
fn every_kind_can_be_drawn() {
    for figure in samples::all() {
        check(&figure);
        [Place::Page, Place::Phone].into_iter().for_each(|place| check_words(&figure, place));
    }
}

#[test]
fn a_large_matrix_has_all_its_tiles() {
    let Body::Heatmap(map) = samples::heat("heat", 130).body else { unreachable!() };
    let measured = map.tiles.iter().filter(|tile| **tile != Tile::NOTHING).count();
    let text = svg_inline(&samples::heat("heat", 130));
    let document = Document::parse(&text).unwrap();
    let rows =
        document.descendants().find(|node| node.attribute("transform").is_some_and(|place| place.contains("scale")));
    let lines = rows.unwrap().children().filter_map(|path| path.attribute("d"));
    let lengths = lines.flat_map(|data| data.split('h').skip(1)).map(|rest| rest.split('M').next().unwrap());
    assert_eq!(lengths.map(|length| length.parse::<usize>().unwrap()).sum::<usize>(), measured);
}

#[test]
fn every_spot_is_there_once_and_says_its_note() {
    for mut figure in [samples::scaling(), samples::dots()] {
        let (Body::Lines(plot) | Body::Dots(plot)) = &mut figure.body else { continue };
        let measured = plot.series.iter_mut().filter(|series| series.role == Role::Measured);
        let mut spots: Vec<&mut DataPoint> = measured.flat_map(|series| &mut series.points).collect();
        spots.iter_mut().enumerate().for_each(|(at, spot)| spot.note = format!("{at} {}", spot.note));
        let mut expected: Vec<String> = spots.iter().map(|spot| spot.note.clone()).collect();
        let count = |state| spots.iter().filter(|spot| spot.state == state).count();
        let counts = [State::Ok, State::Suspect, State::Missing].map(count);
        let text = svg_inline(&figure);
        let document = Document::parse(&text).unwrap();
        let mut found: Vec<String> = classes(&document, "spot")
            .filter_map(|spot| spot.first_element_child()?.text())
            .map(String::from)
            .collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
        assert_eq!(["sound", "doubtful", "missing"].map(|class| classes(&document, class).count()), counts);
    }
}

/// A number is hollow where it is noisy, and what has no result lies outside of the numbers.
#[test]
fn doubt_is_a_marker_and_no_result_is_beside_the_axis() {
    for figure in samples::all() {
        let text = svg_inline(&figure);
        let document = Document::parse(&text).unwrap();
        let mut words = document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text());
        assert!(words.all(|word| !word.contains('?')), "{}", figure.id);
    }
    let text = svg_inline(&samples::scaling());
    let document = Document::parse(&text).unwrap();
    let y = |spot: Node<'_, '_>| spot.attribute("cy").unwrap().parse::<f64>().unwrap();
    let lowest =
        ["sound", "doubtful"].into_iter().flat_map(|class| classes(&document, class)).map(y).fold(0.0, f64::max);
    assert!(classes(&document, "missing").map(y).all(|gap| gap > lowest), "{lowest}");
    assert!(classes(&document, "missing").count() > 0);
}

/// An outlier that nothing supports does not make all other numbers a flat line.
#[test]
fn a_noisy_outlier_does_not_stretch_a_logarithmic_axis() {
    let mut figure = samples::scaling();
    let Body::Lines(plot) = &mut figure.body else { panic!("it has lines") };
    plot.y.scale = Scale::Log10;
    let sound = plot.shown_range();
    let noisy =
        plot.series.iter_mut().flat_map(|series| &mut series.points).find(|point| point.state == State::Suspect);
    let noisy = noisy.unwrap();
    (noisy.y, noisy.spread) = (Some(1e15), None);
    let [_, high] = plot.shown_range().unwrap();
    assert!(high <= sound.unwrap()[1], "{high}");
    check(&figure);
}

/// A row has one marker or two, and a reader misses each.
#[test]
fn a_marker_of_a_row_stays_within_the_picture() {
    let mut figure = samples::dots();
    let Body::Dots(plot) = &mut figure.body else { panic!("it has rows") };
    plot.y.scale = Scale::Log10;
    let mut points = plot.series.iter_mut().flat_map(|series| &mut series.points).filter(|point| point.y.is_some());
    let far = points.next().unwrap();
    (far.y, far.spread, far.state) = (far.y.map(|y| y * 1e6), None, State::Suspect);
    points.for_each(|point| point.state = State::Ok);
    let text = svg_inline(&figure);
    let document = Document::parse(&text).unwrap();
    let mut places = classes(&document, "spot").map(|spot| spot.attribute("cx").unwrap().parse::<f64>().unwrap());
    assert!(places.all(|x| (0.0..=WIDTH).contains(&x)), "{text}");
}

/// As many times for each ratio of times, in bins of one octave and of two.
#[test]
fn bars_are_as_high_however_wide_they_are() {
    let mut figure = samples::joint();
    let Body::Joint(joint) = &mut figure.body else { panic!("it has times") };
    joint.first = [([64.0, 128.0], 10), ([128.0, 512.0], 20)].map(|(x, count)| Bar { x, count }).into();
    let text = svg_inline(&figure);
    let document = Document::parse(&text).unwrap();
    let bars = classes(&document, "bars").find_map(|bars| bars.attribute("d")).unwrap();
    let heights: Vec<&str> = bars.split('v').skip(1).filter_map(|rest| rest.split('h').next()).collect();
    assert!(heights.len() == 2 && heights[0] == heights[1], "{bars}");
}

#[test]
fn every_number_of_threads_has_a_tick_and_a_line_its_name() {
    let mut figure = samples::scaling();
    let Body::Lines(plot) = &mut figure.body else { panic!("it has lines") };
    for series in plot.series.iter_mut() {
        series.points.iter_mut().filter(|point| point.x == 4.0).for_each(|point| point.x = 3.0);
    }
    let names: Vec<String> = plot.measured().map(|(_, series)| series.name.clone()).collect();
    let text = svg_inline(&figure);
    let document = Document::parse(&text).unwrap();
    let words: Vec<&str> =
        document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
    assert!(words.contains(&"3") && names.iter().all(|name| words.contains(&name.as_str())), "{words:?}");
    assert_eq!(words.iter().filter(|word| word.contains("GB/s")).count(), 1, "the unit is at the axis: {words:?}");
}

#[test]
fn a_long_title_has_room() {
    let title = "2 x Processor of a maker with a long name 9999 v9, 128 cores, 256 CPUs, 8 NUMA nodes, 512 GiB";
    let figure = Figure { title: title.into(), ..samples::machine("Core:2 PU:2") };
    let text = drawn(&figure, Place::File);
    assert!(
        Document::parse(&text)
            .unwrap()
            .descendants()
            .any(|node| node.has_tag_name("text") && node.text() == Some(title))
    );
}

#[test]
fn every_strand_is_there_once() {
    let text = svg_inline(&samples::machine("Package:2 Core:4 Group:2 PU:2"));
    let document = Document::parse(&text).unwrap();
    let mut found: Vec<u32> =
        document.descendants().filter_map(|node| node.attribute("data-strand")?.parse().ok()).collect();
    found.sort_unstable();
    assert_eq!(found, (0..32).collect::<Vec<_>>());
}

#[test]
fn a_usual_plot_is_small() {
    let text = written(|out| svg(&samples::scaling(), out));
    assert!(text.len() < 30_000, "{} bytes", text.len());
}

#[test]
fn foreign_text_is_inert() {
    const KNOWN: &[&str] = &[
        "svg", "title", "desc", "g", "path", "rect", "circle", "text", "clipPath", "pattern", "image", "line",
        "polyline", "polygon",
    ];
    for figure in samples::of_page(&hostile()) {
        check(&figure);
        let text = svg_inline(&figure);
        let document = Document::parse(&text).unwrap();
        for node in document.descendants().filter(Node::is_element) {
            assert!(KNOWN.contains(&node.tag_name().name()), "{node:?}");
            assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")), "{node:?}");
        }
        assert!(document.descendants().all(|node| !node.is_comment()));
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\0']));
    }
}

/// A number that a picture may have to draw: usual ones and extreme ones.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.5..1e10_f64,
        1 => prop::sample::select(vec![0.0, 1.0, -1.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, f64::INFINITY, f64::NAN]),
        1 => any::<f64>(),
    ]
}

fn spot() -> impl Strategy<Value = DataPoint> {
    let state = prop::sample::select(vec![State::Ok, State::Suspect, State::Missing]);
    (number(), prop::option::of(number()), prop::option::of([number(), number()]), state)
        .prop_map(|(x, y, spread, state)| DataPoint { spread, ..DataPoint::new(x, y, state, "a note".into()) })
}

fn axis() -> impl Strategy<Value = Axis> {
    let quantity = prop::sample::select(vec![
        Quantity::Count,
        Quantity::Bytes,
        Quantity::Nanos,
        Quantity::Share,
        Quantity::Plain,
        Quantity::Date,
        Quantity::Names(vec!["one".into(), "two".into()]),
        Quantity::Names(Vec::new()),
    ]);
    let scale = prop::sample::select(vec![Scale::Linear, Scale::Log2, Scale::Log10]);
    (quantity, scale).prop_map(|(quantity, scale)| Axis { label: "axis".into(), quantity, scale })
}

fn plot() -> impl Strategy<Value = Plot> {
    let role = prop::sample::select(vec![Role::Measured, Role::Ideal, Role::Bound]);
    let series = |(role, points)| Series { name: "series".into(), role, source: 0, points };
    let series = (role, prop::collection::vec(spot(), 0..6)).prop_map(series);
    let rule = [number(), number()].prop_map(|[from, to]| ReferenceLine { from, to, label: "rule".into() });
    let flag = (0..4_usize, number()).prop_map(|(series, x)| Label { series, x, label: "flag".into() });
    let lists =
        (prop::collection::vec(series, 0..4), prop::collection::vec(rule, 0..3), prop::collection::vec(flag, 0..3));
    (axis(), axis(), lists).prop_map(|(x, y, (series, rules, flags))| Plot {
        x,
        y,
        series,
        reference_lines: rules,
        flags,
        shared_x: None,
    })
}

#[test]
fn a_frame_keeps_its_width_with_any_labels() {
    for (quantity, scale) in [
        (Quantity::Nanos, Scale::Linear),
        (Quantity::Nanos, Scale::Log10),
        (Quantity::Plain, Scale::Log2),
        (Quantity::Names(vec!["name".repeat(500)]), Scale::Linear),
    ] {
        for mut figure in [samples::scaling(), samples::dots()] {
            let (Body::Lines(plot) | Body::Dots(plot)) = &mut figure.body else { continue };
            (plot.y.quantity, plot.y.scale) = (quantity.clone(), scale);
            plot.series[0].points[0].y = Some(f64::MAX);
            check(&figure);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_plot_is_too_odd(plot in plot(), rows: bool) {
        check(&samples::figure("odd", "odd", if rows { Body::Dots(plot) } else { Body::Lines(plot) }));
    }

    #[test]
    fn no_matrix_is_too_odd(
        (rows, columns) in (0..5_usize, 0..5_usize),
        values in prop::collection::vec(prop::option::of(number()), 0..25),
        borders in prop::collection::vec(0..9_usize, 0..3),
    ) {
        let mut figure = samples::heat("odd", 5);
        if let Body::Heatmap(map) = &mut figure.body {
            map.rows.truncate(rows);
            map.columns.truncate(columns);
            map.tiles.truncate(values.len());
            map.tiles.iter_mut().zip(values).for_each(|(tile, value)| tile.value = value);
            map.borders = borders.into_iter().map(|after| (after, "part".into())).collect();
        }
        check(&figure);
    }

    #[test]
    fn no_histogram_is_too_odd(mut joint in Just(samples::joint()), odd in prop::collection::vec(number(), 8)) {
        if let Body::Joint(joint) = &mut joint.body {
            joint.pairs.truncate(3);
            joint.pairs.iter_mut().for_each(|pair| (pair.x, pair.y) = ([odd[0], odd[1]], [odd[2], odd[3]]));
            joint.first.iter_mut().for_each(|bar| bar.x = [odd[4], odd[5]]);
            joint.first_bands.iter_mut().for_each(|band| (band.low_ns, band.high_ns, band.mode_ns) = (odd[6], odd[7], odd[0]));
        }
        check(&joint);
    }
}
