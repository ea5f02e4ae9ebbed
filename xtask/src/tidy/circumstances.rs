//! How many functions of a room name two circumstances that limit numbers. Such a pair belongs to the table of estimates or to a row: a
//! further function that knows two is where the next circumstance is forgotten. The numbers of [`MOST`] only fall.

use std::collections::BTreeMap;

use super::Finding;
use super::source::{Source, has_word};

/// A circumstance, and the words of the code that name it.
const CIRCUMSTANCES: [(&str, &[&str]); 10] = [
    ("quota", &["quota", "quota_cpus", "Quota", "V07"]),
    ("clock", &["is_clock", "Clock", "clock", "V08", "V10", "V31"]),
    ("size", &["last_size", "OtherSize", "V35"]),
    ("delivered", &["delivered", "Delivered", "delivered_share", "delivered_beside"]),
    ("moved", &["moved", "Moved", "is_moved", "is_placed_as", "apart_ns"]),
    ("other programs", &["culprits", "OtherPrograms", "by_others", "V34"]),
    ("copies", &["copies", "in_copies", "is_in_copies", "is_of_copies"]),
    ("too few runs", &["LEAST_FOR_INTERVAL", "too_few", "TooFew", "FewRuns"]),
    ("guest", &["virtual_machine", "Guest", "is_guest"]),
    ("noise", &["is_doubtful", "doubtful", "noisy", "is_noisy", "Noisy", "is_suspect"]),
];

/// The rooms that conclude and show, by their crates, with the most of their functions that name two.
const MOST: [(&str, usize); 8] = [
    ("analysis", 9),
    ("audit", 1),
    ("claims", 10),
    ("fleet", 13),
    ("model", 0),
    ("render", 3),
    ("replicate", 2),
    ("words", 9),
];

/// The functions that were found, by room.
#[derive(Default)]
pub struct Pairs(BTreeMap<&'static str, Vec<(String, usize)>>);

impl Pairs {
    /// Counts those of a file.
    pub fn add(&mut self, path: &str, source: &Source) {
        let room = path.strip_prefix("crates/").and_then(|path| path.split('/').next());
        let Some((room, _)) = MOST.iter().find(|(name, _)| Some(*name) == room) else { return };
        let is_test = path.split('/').any(|part| part.starts_with("tests") || part.starts_with("fixtures"));
        for (at, body) in functions(source).filter(|_| !is_test) {
            let named = CIRCUMSTANCES.iter().filter(|(_, words)| words.iter().any(|word| has_word(&body, word)));
            if named.count() > 1 {
                self.0.entry(room).or_default().push((path.to_owned(), at));
            }
        }
    }

    /// The rooms that have more than they may, at their last such functions, and those that have fewer than their number says.
    pub fn check(&self) -> Vec<Finding> {
        let sentence = |room: &str, most: usize, found: usize| {
            let what = format!(
                "{found} functions of {room} name two circumstances, {most} by xtask/src/tidy/circumstances.rs"
            );
            match found > most {
                true => format!("{what}: ask the table of estimates, or make it a row"),
                false => format!("{what}: lower that number"),
            }
        };
        let of_room = |(room, most): &(&'static str, usize)| {
            let none = Vec::new();
            let found = self.0.get(room).unwrap_or(&none);
            let (path, at) = found.last().map_or(("xtask/src/tidy/circumstances.rs", 0), |(path, at)| (path, *at));
            (found.len() != *most).then(|| Finding::new(path, at, sentence(room, *most, found.len())))
        };
        MOST.iter().filter_map(of_room).collect()
    }
}

/// The functions before the tests of a file: the line of each, from 0, and its text up to the brace that ends it.
fn functions(source: &Source) -> impl Iterator<Item = (usize, String)> + '_ {
    let lines = &source.code[..source.tests];
    let begins = lines.iter().enumerate().filter(|(_, line)| has_word(line, "fn"));
    begins.map(|(at, _)| {
        let (mut depth, mut text) = (0_usize, String::new());
        for line in &lines[at..] {
            text.push_str(line);
            text.push('\n');
            let opened = line.matches('{').count();
            depth = (depth + opened).saturating_sub(line.matches('}').count());
            if depth == 0 && (text.contains('{') || line.trim_end().ends_with(';')) {
                break;
            }
        }
        (at, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        let mut pairs = Pairs::default();
        pairs.add(path, &Source::new(text));
        pairs.0.values().map(Vec::len).sum()
    }

    #[test]
    fn a_function_that_names_two_is_found() {
        let one = "fn f(cell: &Cell) -> bool {\n    cell.is_noisy()\n}\n";
        let two = "fn g(cell: &Cell) -> bool {\n    cell.is_noisy()\n        && quota(cell)\n}\n";
        assert_eq!(found("crates/fleet/src/a.rs", one), 0);
        assert_eq!(found("crates/fleet/src/a.rs", &format!("{one}{two}{one}")), 1);
        assert_eq!(found("crates/estimate/src/a.rs", two), 0, "the table knows all");
        assert_eq!(found("crates/fleet/src/a.rs", &format!("{one}#[cfg(test)]\nmod tests {{\n{two}}}\n")), 0);
        let split = "fn f() -> bool {\n    is_noisy\n}\n\nfn g() -> bool {\n    quota\n}\n";
        assert_eq!(found("crates/fleet/src/a.rs", split), 0);
    }
}
