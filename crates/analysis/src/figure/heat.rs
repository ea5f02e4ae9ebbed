//! A value for each pair of things.

use super::{Quantity, Scale, Span, State, range};
use charz_data::units;

#[derive(Clone, Debug, PartialEq)]
pub struct Heatmap {
    /// What a row is, in a word: `home`, `NUMA node`.
    pub row_label: String,
    pub column_label: String,
    /// The names of the rows, from above.
    pub rows: Vec<String>,
    /// The names of the columns, from the left.
    pub columns: Vec<String>,
    /// After which rows and columns a part of the machine ends, with its name, for lines between: `package 0` after 8.
    pub borders: Vec<(usize, String)>,
    /// Row after row; as many as rows times columns.
    pub tiles: Vec<Tile>,
    pub quantity: Quantity,
    /// Why a tile is doubtful or missing, each reason once.
    pub reasons: Vec<String>,
    /// How many strands or nodes a row represents; 1 unless the square was made smaller.
    pub folded: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile {
    /// The number; `None` is a gap.
    pub value: Option<f64>,
    /// A tile that is [`State::Missing`] without a reason was not to be measured.
    pub state: State,
    /// Its place among [`Heatmap::reasons`].
    pub reason: Option<u32>,
}

impl Tile {
    /// Nothing that was to be measured.
    pub const NOTHING: Tile = Tile { value: None, state: State::Missing, reason: None };
}

/// Values that differ by less are drawn in one colour: so much differs from hour to hour.
const ALIKE: f64 = 0.02;
/// A scale of colours goes at least so far to both sides of its middle, so what differs little looks alike.
const LEAST: f64 = 0.1;

impl Heatmap {
    /// Whether all values are so near to each other that they have one colour.
    pub fn is_even(&self) -> bool {
        self.range().is_some_and(|[low, high]| match self.quantity {
            Quantity::Share => high - low < ALIKE,
            _ => high <= low * (1.0 + ALIKE),
        })
    }

    /// The scale of colours; `None` without values. What is relative has equality in the middle: shares 0, ratios 1. Values that differ
    /// by factors are spread by ratios.
    pub fn span(&self) -> Option<Span> {
        let [low, high] = self.range()?;
        let (scale, [low, high]) = match self.quantity {
            Quantity::Share => (Scale::Linear, [-1.0, 1.0].map(|side| side * low.abs().max(high.abs()).max(LEAST))),
            Quantity::Plain if low > 0.0 => {
                let far = high.max(low.recip()).max(1.0 + LEAST);
                (Scale::Log10, [far.recip(), far])
            }
            _ if low > 0.0 && high > low * 20.0 => (Scale::Log10, [low, high]),
            _ => {
                let (middle, half) = (f64::midpoint(low, high), (high - low) / 2.0);
                let half = half.max(middle.abs() * LEAST);
                (Scale::Linear, [middle - half, middle + half])
            }
        };
        let [low, high] = [low, high].map(|end| scale.place(end).unwrap_or(end));
        Some(Span { scale, low, high })
    }

    /// The value of a pair; [`Tile::NOTHING`] beyond the edges.
    pub fn at(&self, row: usize, column: usize) -> Tile {
        let place = (column < self.columns.len()).then(|| row * self.columns.len() + column);
        place.and_then(|place| self.tiles.get(place)).copied().unwrap_or(Tile::NOTHING)
    }

    /// The value of a pair, or that it has none, with the reason for a doubt or a gap.
    pub fn value(&self, row: usize, column: usize) -> String {
        let tile = self.at(row, column);
        let doubt = units::doubt(tile.state == State::Suspect);
        let value = tile.value.map_or("no result".to_owned(), |value| format!("{}{doubt}", self.quantity.shown(value)));
        match tile.reason.and_then(|reason| self.reasons.get(reason as usize)) {
            Some(reason) => format!("{value}; {reason}"),
            None => value,
        }
    }

    pub fn note(&self, row: usize, column: usize) -> String {
        let name = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
        let (row_name, column_name) = (name(&self.rows, row), name(&self.columns, column));
        format!("{} {row_name}, {} {column_name}: {}", self.row_label, self.column_label, self.value(row, column))
    }

    /// The min and the max; `None` without any value.
    pub fn range(&self) -> Option<[f64; 2]> {
        range(self.tiles.iter().filter_map(|tile| tile.value))
    }

    pub(super) fn in_words(&self) -> String {
        let size = format!("{} by {} values", self.rows.len(), self.columns.len());
        let extreme = |value: f64| {
            let place = self.tiles.iter().position(|tile| tile.value == Some(value)).unwrap_or(0);
            self.note(place / self.columns.len().max(1), place % self.columns.len().max(1))
        };
        match self.range() {
            None => format!("{size}, none of them measured."),
            Some([low, high]) => format!("{size}. Least: {}. Greatest: {}.", extreme(low), extreme(high)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_show_what_differs_by_more_than_noise() {
        let map = |quantity: Quantity, values: &[f64]| Heatmap {
            row_label: "row".into(),
            column_label: "column".into(),
            rows: vec!["0".into()],
            columns: values.iter().map(f64::to_string).collect(),
            borders: Vec::new(),
            tiles: values.iter().map(|value| Tile { value: Some(*value), state: State::Ok, reason: None }).collect(),
            quantity,
            reasons: Vec::new(),
            folded: 1,
        };
        let place = |quantity: Quantity, values: &[f64], at: f64| {
            let map = map(quantity, values);
            (map.is_even(), (map.span().unwrap().fraction(at).unwrap() * 100.0).round())
        };
        use Quantity::{Nanos, Plain, Share};
        assert_eq!(place(Share, &[-0.004, 0.004], 0.0), (true, 50.0));
        assert_eq!(place(Share, &[-0.3, 0.05], 0.0), (false, 50.0));
        assert_eq!(place(Share, &[-0.3, 0.05], -0.3), (false, 0.0));
        assert_eq!(place(Plain, &[0.99, 1.0], 1.0), (true, 50.0));
        assert_eq!(place(Plain, &[0.5, 1.0], 1.0), (false, 50.0));
        assert_eq!(place(Nanos, &[40.0, 40.4], 40.2), (true, 50.0));
        assert_eq!(place(Nanos, &[100.0, 104.0], 104.0), (false, 60.0));
        assert_eq!(place(Nanos, &[40.0, 120.0], 120.0), (false, 100.0));
    }

    #[test]
    fn a_note_says_all_about_a_pair() {
        let tile = |value, state, reason| Tile { value, state, reason };
        let heat = Heatmap {
            row_label: "home".into(),
            column_label: "other".into(),
            rows: vec!["0".into(), "1".into()],
            columns: vec!["0".into(), "1".into()],
            borders: Vec::new(),
            tiles: vec![
                Tile::NOTHING,
                tile(Some(40.0), State::Suspect, Some(0)),
                tile(Some(45.0), State::Ok, None),
                Tile::NOTHING,
            ],
            quantity: Quantity::Nanos,
            reasons: vec!["moved away".into()],
            folded: 1,
        };
        assert_eq!(heat.note(0, 1), "home 0, other 1: 40.0 ns~; moved away");
        assert_eq!(heat.note(0, 0), "home 0, other 0: no result");
        assert_eq!(heat.at(0, 2), Tile::NOTHING, "beyond the right edge is no second row");
        assert_eq!(heat.range(), Some([40.0, 45.0]));
        assert!(heat.in_words().contains("Greatest: home 1, other 0: 45.0 ns"), "{}", heat.in_words());
    }
}
