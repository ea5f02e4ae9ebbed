//! A figure as a picture: SVG for pages and papers, PNG for slides.
//!
//! Pictures use no CSS. Those within a page name their colours as variables with a fallback (`--ink`, `--soft`, `--grid`, `--paper`, `--s1` to
//! `--s8` for series, `--nest0` to `--nest4` for the parts of a machine), so the page can change them at night.

mod colour;
mod dots;
mod ends;
mod frame;
mod heat;
mod joint;
mod layout;
mod legend;
mod lines;
mod nest;
mod pen;
#[cfg(feature = "png")]
mod raster;
#[cfg(test)]
mod samples;
mod series;
mod shapes;
#[cfg(test)]
mod tests;
mod width;

use std::io::{self, Write};

use self::colour::Paint;
use self::pen::{Pen, TextStyle};
use charz_analysis::figure;
use charz_analysis::figure::{Body, Figure};
use charz_data::escape::plain;

/// How wide a picture is in its own units, unless a machine needs more.
const WIDTH: f64 = 760.0;

/// How wide one of several plots beside each other is.
const PANEL: f64 = 480.0;

/// How high a picture may be in its own units.
const TALLEST: f64 = 20_000.0;

/// Typefaces in their order; the first travels with the program.
const TYPEFACES: &str = "Ubuntu, system-ui, sans-serif";

/// The picture within a page: as wide as its place, without a heading, colours as variables.
pub fn svg_inline(figure: &Figure) -> String {
    drawn(figure, true)
}

/// The same for lines that are beside others.
pub fn svg_panel(figure: &Figure) -> String {
    drawn_wide(figure, true, PANEL)
}

pub fn svg(figure: &Figure, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", drawn(figure, false))
}

/// Writes it as PNG, or fails in a build without the feature `png`.
pub fn png(figure: &Figure, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&raster::png(&drawn(figure, false))?)
}

/// Without the feature, which needs some forty packages.
#[cfg(not(feature = "png"))]
mod raster {
    pub(super) fn png(_svg: &str) -> std::io::Result<Vec<u8>> {
        Err(std::io::Error::new(
            std::io::ErrorKind::Unsupported,
            "--format png: this charz was built without it; build with `--features png`, or use --format svg",
        ))
    }
}

/// Within a page, or alone: then with a heading and a ground.
fn drawn(figure: &Figure, is_inline: bool) -> String {
    drawn_wide(figure, is_inline, WIDTH)
}

/// The same, lines as wide as this.
fn drawn_wide(figure: &Figure, is_inline: bool, wide: f64) -> String {
    // Pages refer to it, and the id in the figure may have other characters.
    let id = figure::id(&figure.id);
    let mut body = Pen::new(is_inline);
    let top = if is_inline { 4.0 } else { HEADING };
    // Each draws below a height, and gives the height at which it ends.
    let [width, height] = match &figure.body {
        Body::Lines(plot) => [wide, lines::draw(plot, &id, wide, top, &mut body)],
        Body::Dots(plot) => [WIDTH, dots::draw(plot, top, &mut body)],
        Body::Heatmap(map) => [WIDTH, heat::draw(map, &id, top, &mut body)],
        Body::Joint(joint) => [WIDTH, joint::draw(joint, top, &mut body)],
        Body::MachineDiagram(machine) => nest::draw(machine, top, &mut body),
    };
    if !is_inline {
        heading(&figure.title, width, &mut body);
    }
    let height = height.min(TALLEST);
    let body = body.finish();
    let mut pen = Pen::new(is_inline);
    let (title, about) = (format!("{id}-title"), format!("{id}-about"));
    let root = pen.tag("svg").word("xmlns", "http://www.w3.org/2000/svg").word("class", "picture");
    let root = root.word("viewBox", &format!("0 0 {} {}", pen::number(width), pen::number(height)));
    let root = match is_inline {
        true => root.word("width", "100%"),
        false => root.number("width", width).number("height", height),
    };
    let root = root.word("role", "img").word("aria-labelledby", &format!("{title} {about}"));
    root.word("font-family", TYPEFACES).children(|pen| {
        pen.tag("title").word("id", &title).text(&figure.title);
        pen.tag("desc").word("id", &about).text(&figure.alternative());
        if !is_inline {
            pen.tag("rect").word("width", "100%").word("height", "100%").paint("fill", Paint::Paper).empty();
        }
        pen.paste(&body);
    });
    pen.finish()
}

/// The room above a picture that is not within a page.
const HEADING: f64 = 38.0;

/// Writes the title there, smaller where it is long.
fn heading(title: &str, wide: f64, pen: &mut Pen) {
    const SIZES: [f64; 2] = [11.0, 16.0];
    let room = wide - 24.0;
    let size = (SIZES[1] * room / width::of(&plain(title), SIZES[1]).max(1.0)).clamp(SIZES[0], SIZES[1]);
    pen.text(title, TextStyle { room, ..TextStyle::at(12.0, 24.0, size) });
}
