//! What a comparison is made by.

use super::terms::{Design, Options};
use super::unlike::Unlike;
use charz_data::report::Report;

/// A comparison on its way.
pub(super) struct Allowed<'a> {
    pub(super) options: Options,
    pub(super) differences: Vec<Unlike<'a>>,
    /// Interleaved sides were made to differ.
    pub(super) design: Design,
    pub(super) reports: [&'a Report; 2],
}
