//! Regular expressions: the engine of the crate regex, with a search for one required text, but without that for one of several.

use std::ops::Range;

use regex_automata::meta;
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;

pub(super) struct Pattern {
    engine: meta::Regex,
    text: String,
}

/// Where a pattern and its groups match.
pub(super) struct Found(Captures);

impl Pattern {
    /// # Errors
    /// What is wrong with it: several lines, with a caret beneath the place.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        Pattern::built(text, syntax::Config::new())
    }

    /// One whose `^` and `$` are the ends of any line.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(super) fn of_lines(text: &str) -> Result<Self, String> {
        Pattern::built(text, syntax::Config::new().multi_line(true))
    }

    /// What programs print need not be UTF-8.
    fn built(text: &str, syntax: syntax::Config) -> Result<Self, String> {
        let mut builder = meta::Regex::builder();
        builder.configure(meta::Regex::config().utf8_empty(false)).syntax(syntax.utf8(false));
        let engine = builder.build(text).map_err(|error| match (error.syntax_error(), error.size_limit()) {
            (Some(error), _) => error.to_string(),
            (None, Some(limit)) => format!("it takes more than {limit} bytes"),
            (None, None) => error.to_string(),
        })?;
        Ok(Pattern { engine, text: text.to_owned() })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn is_match(&self, text: impl AsRef<[u8]>) -> bool {
        self.engine.is_match(text.as_ref())
    }

    pub(super) fn first(&self, text: &str) -> Option<Found> {
        let mut captures = self.engine.create_captures();
        self.engine.captures(text, &mut captures);
        captures.is_match().then_some(Found(captures))
    }

    pub(super) fn last(&self, text: &[u8]) -> Option<Found> {
        self.engine.captures_iter(text).last().map(Found)
    }

    /// A text without its matches.
    pub(super) fn taken_from(&self, text: &[u8]) -> Vec<u8> {
        let mut end = 0;
        let mut rest = Vec::new();
        for found in self.engine.find_iter(text) {
            rest.extend_from_slice(&text[end..found.start()]);
            end = found.end();
        }
        rest.extend_from_slice(&text[end..]);
        rest
    }
}

impl Found {
    /// The place of a group by its number; that of the whole is 0.
    pub(super) fn group(&self, number: usize) -> Option<Range<usize>> {
        Some(self.0.get_group(number)?.range())
    }

    pub(super) fn named(&self, name: &str) -> Option<Range<usize>> {
        Some(self.0.get_group_by_name(name)?.range())
    }

    /// Whether the pattern has more groups than one.
    pub(super) fn has_groups(&self) -> bool {
        // The whole match counts as one.
        self.0.group_len() > 2
    }

    /// The first group that matches.
    pub(super) fn first_group(&self) -> Option<Range<usize>> {
        Some(self.0.iter().skip(1).flatten().next()?.range())
    }
}
