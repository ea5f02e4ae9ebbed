//! A Rust file with its code and its comments apart, so that rules about the one do not trip over the other.

/// A Rust file, split by line.
pub struct Source {
    /// The code; comments and the contents of strings and characters are blanked out.
    pub code: Vec<String>,
    /// The comments, everything else blanked out.
    pub comments: Vec<String>,
    /// The index of the first line of the test module at the end of the file, or the number of lines.
    pub tests: usize,
}

impl Source {
    /// Splits the text of a file.
    pub fn new(text: &str) -> Self {
        let kinds = classify(text);
        let keep = |kept: Kind| -> Vec<String> {
            let shown = text.chars().zip(&kinds).map(|(c, kind)| if *kind == kept || c == '\n' { c } else { ' ' });
            shown.collect::<String>().lines().map(str::to_owned).collect()
        };
        let code = keep(Kind::Code);
        // Tests of other modules may share what a module of tests invents.
        let is_module = |line: &str| line.trim_start().trim_start_matches("pub(crate) ").starts_with("mod ");
        let tests = code
            .windows(2)
            .position(|pair| pair[0].trim() == "#[cfg(test)]" && is_module(&pair[1]))
            .unwrap_or(code.len());
        Source { comments: keep(Kind::Comment), code, tests }
    }

    /// The lines that hold `word` as a whole word of the code, counted from 0.
    pub fn lines_with<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.code.iter().enumerate().filter(move |(_, line)| has_word(line, word)).map(|(at, _)| at)
    }
}

/// Whether `line` holds `word` between characters that cannot belong to a word.
pub fn has_word(line: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(part_of_word) && !line[at + word.len()..].starts_with(part_of_word))
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    /// The contents of a string or character, its quotes included.
    Literal,
}

/// The kind of each character.
fn classify(text: &str) -> Vec<Kind> {
    let chars: Vec<char> = text.chars().collect();
    let mut kinds = Vec::with_capacity(chars.len());
    while kinds.len() < chars.len() {
        let at = kinds.len();
        let (kind, length) = token(&chars[at..], at > 0 && is_word(chars[at - 1]));
        kinds.resize(at + length.clamp(1, chars.len() - at), kind);
    }
    kinds
}

/// The kind and length of what `rest` starts with. `inside` says that a word is going on.
fn token(rest: &[char], inside: bool) -> (Kind, usize) {
    match rest {
        ['/', '/', ..] => (Kind::Comment, rest.iter().position(|c| *c == '\n').unwrap_or(rest.len())),
        ['/', '*', ..] => (Kind::Comment, block_comment(rest)),
        ['"', ..] => (Kind::Literal, quoted(rest, '"')),
        ['b' | 'c', '"', ..] if !inside => (Kind::Literal, 1 + quoted(&rest[1..], '"')),
        ['r', '"' | '#', ..] if !inside => raw_string(rest, 1),
        ['b' | 'c', 'r', '"' | '#', ..] if !inside => raw_string(rest, 2),
        // A lifetime has no quote after its first character; a character literal has, or starts with an escape.
        ['\'', '\\', ..] | ['\'', _, '\'', ..] => (Kind::Literal, quoted(rest, '\'')),
        _ => (Kind::Code, 1),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a comment that may hold others.
fn block_comment(rest: &[char]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        match rest[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a literal between two `quote`s.
fn quoted(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// A raw string whose hashes start at `prefix`; a raw identifier is code.
fn raw_string(rest: &[char], prefix: usize) -> (Kind, usize) {
    let hashes = rest[prefix..].iter().take_while(|c| **c == '#').count();
    let open = prefix + hashes;
    if rest.get(open) != Some(&'"') {
        return (Kind::Code, prefix);
    }
    let closed = |at: &usize| {
        rest[*at] == '"' && rest.len() > at + hashes && rest[at + 1..=at + hashes].iter().all(|c| *c == '#')
    };
    let end = (open + 1..rest.len()).find(closed).map_or(rest.len(), |at| at + 1 + hashes);
    (Kind::Literal, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, code: &str, comments: &str) {
        let source = Source::new(text);
        let squeeze = |lines: &[String]| lines.join("\n").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeeze(&source.code), code, "code of {text:?}");
        assert_eq!(squeeze(&source.comments), comments, "comments of {text:?}");
        assert_eq!(source.code.len(), text.lines().count(), "lines of {text:?}");
    }

    #[test]
    fn code_and_comments_come_apart() {
        check("let a = 1; // unsafe\nb", "let a = 1; b", "// unsafe");
        check("a /* b /* c */ d */ e", "a e", "/* b /* c */ d */");
        check("f(\"// no\", 'x', '\\'', b'\"', 'a: loop {})", "f( , , , b , 'a: loop {})", "");
        check("fn f<'a>(x: &'a str) -> &'static str { \"unsafe {\" }", "fn f<'a>(x: &'a str) -> &'static str { }", "");
        check("r#\"a \"quoted\" // b\"# + br\"\\\" + x", "+ + x", "");
        check("let r#type = bar\"\"; \"multi\nline\" z", "let r#type = bar ; z", "");
        check("\"never closed", "", "");
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("use clap::Parser;", "clap"));
        assert!(!has_word("use clap_complete::Shell;", "clap"));
        assert!(!has_word("eprintln!()", "println!"));
        assert!(has_word("unsafe { x }", "unsafe"));
    }

    #[test]
    fn the_test_module_is_found() {
        assert_eq!(Source::new("fn a() {}\n\n#[cfg(test)]\nmod tests {\n}\n").tests, 2);
        assert_eq!(Source::new("#[cfg(test)]\npub(crate) mod tests {\n}\n").tests, 0);
        assert_eq!(Source::new("#[cfg(test)]\nfn helper() {}\n").tests, 2);
    }
}
