//! A flag whose value is text until it is read: one row has its name and its reader.

use super::layers::Layers;
use crate::exit::Error;

pub(super) struct Flag<T> {
    /// With its dashes.
    pub(super) name: &'static str,
    /// Gets the name too, for its sentences.
    pub(super) read: fn(&str, &str) -> Result<T, Error>,
}

impl<T> Flag<T> {
    /// What the text means; an error names the place that the text is from.
    pub(super) fn of(&self, text: &str, layers: &Layers) -> Result<T, Error> {
        layers.blame(self.name, (self.read)(self.name, text))
    }

    /// The same, and `None` for `auto`.
    pub(super) fn unless_auto(&self, text: &str, layers: &Layers) -> Result<Option<T>, Error> {
        self.given((text != "auto").then_some(text), layers)
    }

    /// The same of a flag that may be absent.
    pub(super) fn given(&self, text: Option<&str>, layers: &Layers) -> Result<Option<T>, Error> {
        text.map(|text| self.of(text, layers)).transpose()
    }
}
