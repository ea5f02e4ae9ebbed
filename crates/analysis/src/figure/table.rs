//! The points behind a picture.

use super::State;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub heading: Vec<String>,
    /// The rows, as long as the heading.
    pub rows: Vec<Row>,
    /// The columns that a narrow terminal leaves out before others, by their places, the first of them first.
    pub spare: Vec<usize>,
    /// How many rows were left out to keep a page readable; the report has them.
    pub left_out: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub data: Vec<Datum>,
    pub state: State,
    /// How the number was obtained, and what is wrong with it: pairs of a label and what is to be said.
    pub passport: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Datum {
    pub text: String,
    /// By what it is sorted, if not by its text.
    pub number: Option<f64>,
}

impl Table {
    pub fn new<R: Into<Row>>(heading: &[&str], rows: impl IntoIterator<Item = R>) -> Self {
        let heading = heading.iter().map(|&name| name.to_owned()).collect();
        Table { heading, rows: rows.into_iter().map(Into::into).collect(), ..Table::default() }
    }
}

impl Table {
    /// With columns that a narrow terminal leaves out, the first of these first; those that it does not have are passed over.
    pub(crate) fn sparing(mut self, names: &[&str]) -> Self {
        let places = names.iter().filter_map(|name| self.heading.iter().position(|heading| heading == name));
        self.spare = places.collect();
        self
    }

    /// Without the columns that are empty in every row.
    pub fn without_empty_columns(mut self) -> Self {
        for at in (0..self.heading.len()).rev() {
            if self.rows.iter().all(|row| row.data[at] == Datum::none()) {
                self.heading.remove(at);
                self.rows.iter_mut().for_each(|row| drop(row.data.remove(at)));
            }
        }
        self
    }

    /// The first `most` rows, and how many the others are.
    pub(crate) fn at_most(mut self, most: usize) -> Self {
        self.left_out += self.rows.len().saturating_sub(most);
        self.rows.truncate(most);
        self
    }
}

impl From<Vec<Datum>> for Row {
    fn from(data: Vec<Datum>) -> Self {
        Row::new(data, State::Ok)
    }
}

impl Row {
    pub fn new(data: Vec<Datum>, state: State) -> Self {
        Row { data, state, passport: Vec::new() }
    }
}

impl Datum {
    pub fn none() -> Self {
        Datum::word("-")
    }

    pub fn word(text: impl Into<String>) -> Self {
        Datum { text: text.into(), number: None }
    }

    pub fn number(text: impl Into<String>, number: f64) -> Self {
        Datum { text: text.into(), number: Some(number) }
    }

    pub fn count(count: u64) -> Self {
        Datum::number(count.to_string(), count as f64)
    }

    /// A number with its text, or a dash where there is none.
    pub fn known(number: Option<f64>, text: impl FnOnce(f64) -> String) -> Self {
        Datum { text: number.map_or_else(|| "-".into(), text), number }
    }
}
