//! A figure as a picture: SVG for pages and papers, PNG for slides.
//!
//! Pictures use no CSS, but for the class `halo` of letters over lines within a page. Those within a page name their colours as variables
//! with a fallback (`--ink`, `--soft`, `--grid`, `--paper`, `--s1` to `--s8` for series, `--nest0` to `--nest4` for the parts of a machine),
//! so the page can change them at night.

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

/// How wide a picture is in its own units, which are pixels where a screen has room for them, unless a machine needs more.
const WIDTH: f64 = 760.0;

/// How wide one of several plots beside each other is.
const PANEL: f64 = 480.0;

/// The width of a phone's screen without the margins of a page. A wider picture scrolls there.
pub(crate) const PHONE: f64 = 358.0;

/// Where a picture is shown: that decides how wide it is, whose colours it has, and whether its points can be pointed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A file of its own, with a heading and a ground.
    File,
    /// In a page, as wide as the text.
    Page,
    /// In a page, beside others.
    Panel,
    /// In a page, for screens that are narrow. The same points can be pointed at in the wide picture, and are in the table.
    Phone,
}

impl Place {
    fn width(self) -> f64 {
        match self {
            Place::File | Place::Page => WIDTH,
            Place::Panel => PANEL,
            Place::Phone => PHONE,
        }
    }
}

/// How high a picture may be in its own units.
const TALLEST: f64 = 20_000.0;

/// Typefaces in their order; the first travels with the program.
const TYPEFACES: &str = "Ubuntu, system-ui, sans-serif";

pub fn svg(figure: &Figure, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", drawn(figure, Place::File).0)
}

/// Writes it as PNG, or fails in a build without the feature `png`.
pub fn png(figure: &Figure, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&raster::png(&drawn(figure, Place::File).0)?)
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

/// The picture of a place, and its width in units. Within a page colours are variables.
pub(crate) fn drawn(figure: &Figure, place: Place) -> (String, f64) {
    let (is_file, is_phone) = (place == Place::File, place == Place::Phone);
    // Pages refer to it, and the id in the figure may have other characters.
    let id = figure::id(&figure.id);
    let own = if is_phone { format!("{id}-phone") } else { id.clone() };
    let mut body = Pen::new(place);
    let top = if is_file { HEADING } else { 4.0 };
    let wide = place.width();
    // Each draws below a height, and gives the height at which it ends.
    let [width, height] = match &figure.body {
        Body::Lines(plot) => [wide, lines::draw(plot, &own, top, &mut body)],
        Body::Dots(plot) => [wide, dots::draw(plot, top, &mut body)],
        Body::Heatmap(map) => heat::draw(map, &own, top, &mut body),
        Body::Joint(joint) => [WIDTH, joint::draw(joint, top, &mut body)],
        Body::MachineDiagram(machine) => nest::draw(machine, top, &mut body),
    };
    if is_file {
        heading(&figure.title, width, &mut body);
    }
    let height = height.min(TALLEST);
    let body = body.finish();
    let mut pen = Pen::new(place);
    let (title, about) = (format!("{id}-title"), format!("{id}-about"));
    let root = pen.tag("svg").word("xmlns", "http://www.w3.org/2000/svg").word("class", "picture");
    let root = root.word("viewBox", &format!("0 0 {} {}", pen::number(width), pen::number(height)));
    let root = root.number("width", width);
    let root = if is_file { root.number("height", height) } else { root };
    let root = root.word("role", "img").word("font-family", TYPEFACES);
    // Only one of the two of a page is shown, and the words are there once.
    let root = match is_phone {
        true => root.word("aria-label", &figure.title).word("aria-describedby", &about),
        false => root.word("aria-labelledby", &format!("{title} {about}")),
    };
    root.children(|pen| {
        if !is_phone {
            pen.tag("title").word("id", &title).text(&figure.title);
            pen.tag("desc").word("id", &about).text(&figure.alternative());
        }
        if is_file {
            pen.tag("rect").word("width", "100%").word("height", "100%").paint("fill", Paint::Paper).empty();
        }
        pen.paste(&body);
    });
    (pen.finish(), width)
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
