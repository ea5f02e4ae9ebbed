//! A Rust file without its comments and strings, so rules about the code do not apply to them.

pub struct Source {
    /// The code; comments and the contents of strings and characters are blanked out.
    pub code: Vec<String>,
    /// The index of the first line of the test module at the end of the file, or the number of lines: one that is a file of its own is declared
    /// anywhere.
    pub tests: usize,
}

impl Source {
    pub fn new(text: &str) -> Self {
        let code: Vec<String> = blanked(text).lines().map(str::to_owned).collect();
        // Tests of other modules may share what a module of tests invents.
        let is_module = |line: &str| {
            line.trim_start().trim_start_matches("pub(crate) ").starts_with("mod ") && line.trim_end().ends_with('{')
        };
        let tests = code
            .windows(2)
            .position(|pair| pair[0].trim() == "#[cfg(test)]" && is_module(&pair[1]))
            .unwrap_or(code.len());
        Source { code, tests }
    }

    /// The lines that hold `word` as a whole word of the code, counted from 0.
    pub fn lines_with<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.code.iter().enumerate().filter(move |(_, line)| has_word(line, word)).map(|(at, _)| at)
    }
}

/// Whether `line` holds `word` between characters that cannot belong to a word.
pub fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(is_word) && !line[at + word.len()..].starts_with(is_word))
}

/// The text with a blank for each character of a comment, a string or a character.
fn blanked(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let inside = at > 0 && is_word(chars[at - 1]);
        let (is_code, length) = token(&chars[at..], inside);
        let end = at + length.clamp(1, chars.len() - at);
        code.extend(chars[at..end].iter().map(|c| if is_code || *c == '\n' { *c } else { ' ' }));
        at = end;
    }
    code
}

/// Whether `rest` starts with code, and how long that is. `inside` says that a word is going on.
fn token(rest: &[char], inside: bool) -> (bool, usize) {
    match rest {
        ['/', '/', ..] => (false, rest.iter().position(|c| *c == '\n').unwrap_or(rest.len())),
        ['/', '*', ..] => (false, block_comment(rest)),
        ['"', ..] => (false, quoted(rest, '"')),
        ['b' | 'c', '"', ..] if !inside => (false, 1 + quoted(&rest[1..], '"')),
        ['r', '"' | '#', ..] if !inside => raw_string(rest, 1),
        ['b' | 'c', 'r', '"' | '#', ..] if !inside => raw_string(rest, 2),
        // A lifetime has no quote after its first character; a character literal has, or starts with an escape.
        ['\'', '\\', ..] | ['\'', _, '\'', ..] => (false, quoted(rest, '\'')),
        _ => (true, 1),
    }
}

/// Whether a character can belong to a word.
pub fn is_word(c: char) -> bool {
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
fn raw_string(rest: &[char], prefix: usize) -> (bool, usize) {
    let hashes = rest[prefix..].iter().take_while(|c| **c == '#').count();
    let open = prefix + hashes;
    if rest.get(open) != Some(&'"') {
        return (true, prefix);
    }
    let closed = |at: &usize| {
        rest[*at] == '"' && rest.len() > at + hashes && rest[at + 1..=at + hashes].iter().all(|c| *c == '#')
    };
    let end = (open + 1..rest.len()).find(closed).map_or(rest.len(), |at| at + 1 + hashes);
    (false, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, code: &str) {
        let source = Source::new(text);
        let squeezed = source.code.join("\n").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeezed, code, "code of {text:?}");
        assert_eq!(source.code.len(), text.lines().count(), "lines of {text:?}");
    }

    #[test]
    fn only_code_is_kept() {
        check("let a = 1; // unsafe\nb", "let a = 1; b");
        check("a /* b /* c */ d */ e", "a e");
        check("f(\"// no\", 'x', '\\'', b'\"', 'a: loop {})", "f( , , , b , 'a: loop {})");
        check("fn f<'a>(x: &'a str) -> &'static str { \"unsafe {\" }", "fn f<'a>(x: &'a str) -> &'static str { }");
        check("r#\"a \"quoted\" // b\"# + br\"\\\" + x", "+ + x");
        check("let r#type = bar\"\"; \"multi\nline\" z", "let r#type = bar ; z");
        check("\"never closed", "");
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
        assert_eq!(Source::new("#[cfg(test)]\nmod tests;\n\nfn a() {}\n").tests, 4);
    }
}
