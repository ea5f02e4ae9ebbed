//! JSON for people's terminals: the same values, with all that could steer one written as escapes.

use std::io::{self, Write};

use serde::Serialize;

use charz_data::escape::is_harmless;

/// Writes a value on one line.
pub fn write_compact(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write_escaped(&serde_json::to_string(value)?, out)
}

/// Writes a value, indented, with the end of its last line.
pub fn write_pretty_line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write_escaped(&serde_json::to_string_pretty(value)?, out)?;
    writeln!(out)
}

/// Writes a text that is JSON already, as it is, but for marks that could steer a terminal. They occur in strings only, where
/// an escape has the same meaning.
pub fn write_escaped(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut rest = text;
    // Nearly all are of these marks: what is between two others is written at once.
    while let Some(at) = rest.bytes().position(|byte| !matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        let (before, from) = rest.split_at(at);
        out.write_all(before.as_bytes())?;
        let Some(mark) = from.chars().next() else { break };
        rest = &from[mark.len_utf8()..];
        match mark {
            // Between strings, where only blanks can be; it could hide the start of the line.
            '\r' => out.write_all(b" ")?,
            mark if is_harmless(mark) => write!(out, "{mark}")?,
            mark => mark.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?,
        }
    }
    out.write_all(rest.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::formats::tests::written;

    proptest! {
        /// Parsers get the original text, by any author, and terminals get only marks that can be seen.
        #[test]
        fn any_text_survives_and_none_steers(texts in prop::collection::btree_map(any::<String>(), ".*", 0..4)) {
            let foreign = serde_json::to_string_pretty(&texts).unwrap().replace('\n', "\r\n");
            for text in [
                written(|out| write_compact(&texts, out)),
                written(|out| write_pretty_line(&texts, out)),
                written(|out| write_escaped(&foreign, out)),
            ] {
                prop_assert!(text.chars().all(|mark| mark == '\n' || is_harmless(mark)), "{text:?}");
                prop_assert_eq!(&serde_json::from_str::<BTreeMap<String, String>>(&text).unwrap(), &texts);
                prop_assert_eq!(written(|out| write_escaped(&text, out)), text);
            }
        }
    }

    #[test]
    fn the_layout_is_the_usual_one() {
        let value = serde_json::json!({"a": [1, 2], "b": {}, "c": "x"});
        let usual = serde_json::to_string_pretty(&value).unwrap();
        assert_eq!(written(|out| write_pretty_line(&value, out)), usual + "\n");
    }
}
