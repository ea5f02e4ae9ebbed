//! Pictures of numbers, before anything decides how they look.
//!
//! A figure knows what its axes count, what each point is and whether it is doubtful. It knows nothing of reports, colours, pixels or
//! characters of a terminal: pages fill these types, and renderers read them.
//!
//! Names and notes are foreign text, as the report has them: renderers escape them.

mod axis;
mod heat;
mod joint;
mod nest;
mod plot;
mod quantity;
mod table;

pub use axis::{Axis, Scale, Span, Tick, take_unit};
pub use heat::{Heatmap, Tile};
pub use joint::{Bar, JointPlot, Pair};
pub use nest::{Level, MachineDiagram, Order, Part, What};
pub use plot::{DataPoint, Label, Plot, ReferenceLine, Role, Series, State};
pub use quantity::Quantity;
pub use table::{Datum, Row, Table};

/// A picture with everything that is said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name among the figures of a page: lower-case letters, digits and hyphens only, for any report.
    pub id: String,
    /// What it shows, e.g. `mem-read: throughput against workers`.
    pub title: String,
    /// What to see in it, a sentence each; the first words of its text alternative.
    pub about: Vec<String>,
    pub body: Body,
    /// Every point behind it; `None` where the picture says it all.
    pub table: Option<Table>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Lines(Plot),
    /// A row of dots for each name: the names are those of the x axis ([`Quantity::Names`]), and a point's `x` is its row, from 0.
    /// Drawn with the names beneath each other and the values to the right.
    Dots(Plot),
    Heatmap(Heatmap),
    Joint(JointPlot),
    /// The parts of a machine inside each other, and the orders in which mappings fill it.
    MachineDiagram(MachineDiagram),
}

impl Figure {
    /// Whether there is a number to draw, or a machine.
    pub fn has_results(&self) -> bool {
        match &self.body {
            Body::Lines(plot) | Body::Dots(plot) => {
                plot.measured().any(|(_, series)| series.numbers().next().is_some())
            }
            Body::Heatmap(heat) => heat.range().is_some(),
            Body::Joint(joint) => !joint.first.is_empty(),
            Body::MachineDiagram(_) => true,
        }
    }

    /// Whether it is a chart of one bar.
    pub fn is_lone(&self) -> bool {
        match &self.body {
            Body::Dots(plot) => plot.measured().flat_map(|(_, series)| series.numbers()).count() == 1,
            _ => false,
        }
    }

    /// The text alternative of the picture: what it shows, what to see in it, and its ranges.
    pub fn alternative(&self) -> String {
        let mut words = vec![format!("{}.", self.title)];
        words.extend(self.about.iter().map(|sentence| format!("{}.", sentence.trim_end_matches('.'))));
        words.push(match &self.body {
            Body::Lines(plot) | Body::Dots(plot) => plot.in_words(),
            Body::Heatmap(heat) => heat.in_words(),
            Body::Joint(joint) => joint.in_words(),
            Body::MachineDiagram(nest) => nest.in_words(),
        });
        words.retain(|sentence| !sentence.is_empty());
        words.join(" ")
    }
}

/// The min and the max of the finite numbers; `None` without any.
pub fn range(numbers: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    numbers
        .filter(|number| number.is_finite())
        .map(|number| [number; 2])
        .reduce(|[low, high], [number, _]| [low.min(number), high.max(number)])
}

/// A name for [`Figure::id`] out of any text.
pub fn id(text: &str) -> String {
    let mut id = String::with_capacity(text.len().min(LONGEST_ID));
    for mark in text.chars().map(|mark| mark.to_ascii_lowercase()) {
        match mark {
            'a'..='z' | '0'..='9' => id.push(mark),
            _ if id.ends_with('-') || id.is_empty() => {}
            _ => id.push('-'),
        }
        if id.len() >= LONGEST_ID {
            break;
        }
    }
    id.trim_end_matches('-').to_owned()
}

/// Enough for every name that the program itself makes.
const LONGEST_ID: usize = 80;

#[cfg(test)]
mod tests {
    use super::id;

    #[test]
    fn an_id_of_any_text_is_harmless() {
        assert_eq!(id("chase-random 48 KiB · 4k"), "chase-random-48-kib-4k");
        assert_eq!(id("<script>\u{202e}\"'"), "script");
        assert_eq!(id("../../etc/passwd"), "etc-passwd");
        assert!(id(&"a".repeat(1000)).len() <= 80);
    }
}
