//! The file of `charz sweep --config`: TOML, with the long names of the flags for keys.

use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Given, Key, Takes};
use crate::args::convert::nearest;
use crate::exit::Error;

/// The largest file in bytes: thousands of times what all flags take.
const MAX_BYTES: u64 = 1 << 20;

pub(super) fn read(path: &Path, keys: &[Key]) -> Result<Vec<Given>, Error> {
    let text = text(path)?;
    let place = |span: Range<usize>| format!("{path:?}:{}", position(&text, span.start));
    let table = DeTable::parse(&text).map_err(|error| {
        let span = error.span().unwrap_or_default();
        let reason = error.message().lines().collect::<Vec<_>>().join(", ");
        let token = text.get(span.clone()).filter(|token| !token.is_empty()).map(|token| format!(" at {token:?}"));
        let token = token.unwrap_or_default();
        Error::bad_input(format!("{}: this is not TOML: {reason}{token}; write such as size = \"1GiB\"", place(span)))
    })?;
    let said = table.get_ref().iter().map(|(name, value)| {
        let key = keys.iter().find(|key| key.long == name.get_ref().as_ref());
        let key = key.ok_or_else(|| unknown(name.get_ref(), keys).read_from(&place(name.span())))?;
        let values = values(key, value.get_ref()).map_err(|error| error.read_from(&place(value.span())))?;
        Ok(Given { id: key.id.clone(), long: key.long.clone(), values, place: place(value.span()) })
    });
    said.collect()
}

/// The whole file, if it is one and not too large to be a configuration.
fn text(path: &Path) -> Result<String, Error> {
    let refuse = |why: String| Error::bad_input(format!("--config: {path:?} {why}"));
    let unreadable = |error: std::io::Error| refuse("cannot be read".into()).caused_by(error);
    // Before it is opened: a FIFO would wait for a writer.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(refuse("is not a regular file; name a file of TOML".into()));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refuse(format!("is larger than {} MiB, which no configuration is", MAX_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| refuse("is not UTF-8 text".into()))
}

fn unknown(name: &str, keys: &[Key]) -> Error {
    let names: Vec<&str> = keys.iter().map(|key| key.long.as_str()).collect();
    let near = nearest(name, &names).map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
    Error::bad_input(format!("there is no key {name:?}{near}; the keys are {}", names.join(", ")))
}

fn values(key: &Key, value: &DeValue<'_>) -> Result<Vec<String>, Error> {
    let (takes, example) = match key.takes {
        Takes::Nothing => ("true or false", key.example.clone()),
        Takes::One => ("a text in quotation marks or a whole number", format!("{:?}", key.example)),
        Takes::Several => ("a text in quotation marks or a list of such", format!("[{:?}]", key.example)),
    };
    let right = format!("{} = {example}", key.long);
    let refuse = |found: &DeValue<'_>| {
        let article = if found.type_str().starts_with(['a', 'i']) { "an" } else { "a" };
        Error::bad_input(format!("{} takes {takes}, not {article} {}; write {right}", key.long, found.type_str()))
    };
    let one = |value: &DeValue<'_>| match (value, key.takes) {
        (DeValue::String(text), _) if text.is_empty() => {
            Err(Error::bad_input(format!("{} is empty; leave it out, or write {right}", key.long)))
        }
        (DeValue::String(text), Takes::One | Takes::Several) => Ok(text.to_string()),
        (DeValue::Integer(number), Takes::One) => Ok(decimal(number.as_str(), number.radix())),
        (DeValue::Boolean(switch), Takes::Nothing) => Ok(switch.to_string()),
        (other, _) => Err(refuse(other)),
    };
    match (value, key.takes) {
        (DeValue::Array(list), Takes::Several) if !list.is_empty() => {
            list.iter().map(Spanned::get_ref).map(one).collect()
        }
        (value, _) => Ok(vec![one(value)?]),
    }
}

/// A number as it would be typed. One that is too large for the machine stays as it is: the flag refuses it by its looks.
fn decimal(digits: &str, radix: u32) -> String {
    i128::from_str_radix(digits, radix).map_or_else(|_| digits.to_owned(), |number| number.to_string())
}

/// `line:column` of a place in the text, both from 1; columns count characters.
fn position(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    format!("{}:{}", 1 + before.matches('\n').count(), 1 + before[start..].chars().count())
}

#[cfg(test)]
mod tests {
    use super::position;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "a = 1\n# é\nsize = 5";
        for (at, expected) in [(0, "1:1"), (4, "1:5"), (6, "2:1"), (10, "2:4"), (11, "3:1"), (18, "3:8"), (99, "3:9")] {
            assert_eq!(position(text, at), expected, "{at}");
        }
    }
}
