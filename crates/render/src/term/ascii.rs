//! Signs for terminals that know ASCII only.

/// The text with each sign in ASCII that looks most like it; foreign ones as escapes.
pub(crate) fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for mark in text.chars() {
        match like(mark) {
            Some(sign) => plain.push(sign),
            None => plain.extend(mark.escape_unicode()),
        }
    }
    plain
}

fn like(mark: char) -> Option<char> {
    Some(match mark {
        _ if mark.is_ascii() => mark,
        '│' | '┊' | '┤' => '|',
        '─' | '–' | '−' => '-',
        '┌' | '┐' | '└' | '┘' | '┬' => '+',
        '░' => '.',
        '▒' => ':',
        '▓' => '*',
        '█' => '#',
        '·' | '…' => '.',
        '×' => 'x',
        'µ' => 'u',
        '±' => '~',
        '⁰' => '0',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::ascii;

    #[test]
    fn signs_stay_alike() {
        for (text, expected) in
            [("12.3 µs ±1%", "12.3 us ~1%"), ("−1%", "-1%"), ("┌─┐", "+-+"), ("é", "\\u{e9}"), ("░█", ".#")]
        {
            assert_eq!(ascii(text), expected);
        }
    }
}
