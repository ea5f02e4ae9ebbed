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
    for part in text.split_inclusive(|mark: char| !is_harmless(mark)) {
        match part.char_indices().next_back() {
            // Between strings, where only blanks can be; a carriage return could hide the start of the line.
            Some((at, mark @ ('\n' | '\t' | '\r'))) => {
                write!(out, "{}{}", &part[..at], if mark == '\r' { ' ' } else { mark })?
            }
            Some((at, mark)) if !is_harmless(mark) => {
                out.write_all(&part.as_bytes()[..at])?;
                mark.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?;
            }
            _ => out.write_all(part.as_bytes())?,
        }
    }
    Ok(())
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
