//! Inputs that were valid once: JSON with members that were removed, doubled, exchanged or replaced, and changed bytes.

use fastrand::Rng;
use serde_json::Value;

/// Texts that mean something to terminals, pages, shells, spreadsheets, databases and paths.
pub const TEXTS: [&str; 20] = [
    "",
    "\u{1b}[2J\u{1b}]0;title\u{7}",
    "\u{9b}31m",
    "\u{202e}\u{2066}right to left",
    "\u{feff}\u{200b}",
    "\r\n\t\u{2028}",
    "\0",
    "\u{10ffff}",
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "]]></style></svg>",
    "`touch pwned`;$(touch pwned)|touch pwned",
    "=1+cmd|' /C calc'!A0",
    "'; DROP TABLE report; --",
    "../../../etc/passwd",
    "{}%s%n\\",
    "[link](javascript:alert(1))|*a*",
    "--help",
    "list:0",
    "NaN",
];

/// Numbers as JSON writes them, or as no JSON does.
pub const NUMBERS: &str = "0 -0 -1 1 0.5 1e308 -1.7976931348623157e308 5e-324 1e999 NaN Infinity 9007199254740993 4294967296 \
     9223372036854775807 18446744073709551615 18446744073709551616 1000000000000000000000000000000 0x10 01 1e";

/// What numbers are multiplied by.
const FACTORS: [f64; 10] = [0.0, -1.0, 0.5, 1.0 + 1e-9, 3.0, 1e3, 1e12, 1e-12, 1e300, 1e-300];

/// Stands before a number in a string until the text is written: a `Value` holds no other numbers than JSON's.
const RAW: &str = "@raw@";

/// The input changed: three times in four in its structure, if it is JSON or lines of JSON, else in its bytes.
pub fn of(input: &[u8], rng: &mut Rng) -> Vec<u8> {
    let read = |text: &[u8]| serde_json::from_slice::<Value>(text).ok();
    let whole = read(input);
    let is_whole = whole.is_some();
    let lines = || input.split_inclusive(|byte| *byte == b'\n').map(read).collect::<Option<_>>();
    let parsed = whole.or_else(|| lines().map(Value::Array));
    loop {
        let mutant = match &parsed {
            Some(parsed) if rng.u8(..4) > 0 => structure(parsed.clone(), is_whole, rng),
            _ => bytes(input.to_vec(), rng),
        };
        if mutant != input {
            return mutant;
        }
    }
}

fn structure(mut parsed: Value, is_whole: bool, rng: &mut Rng) -> Vec<u8> {
    // Mostly one: of several, each is one more reason to refuse the whole.
    for _ in 0..1 + rng.u8(..6) / 4 {
        let other = place(&mut parsed, rng).clone();
        match &other {
            Value::Object(members) if rng.bool() && !members.is_empty() => {
                let name = members.keys().nth(rng.usize(..members.len())).cloned().unwrap_or_default();
                scale(&mut parsed, &name, false, FACTORS[rng.usize(..FACTORS.len())]);
            }
            _ => change(place(&mut parsed, rng), other, rng),
        }
    }
    let mut text = match &parsed {
        Value::Array(lines) if !is_whole => lines.iter().map(|line| format!("{line}\n")).collect(),
        whole => whole.to_string(),
    };
    for number in NUMBERS.split(' ') {
        text = text.replace(&format!("\"{RAW}{number}\""), number);
    }
    text.into_bytes()
}

/// A place at any depth, each depth about as often as the next.
fn place<'v>(value: &'v mut Value, rng: &mut Rng) -> &'v mut Value {
    let count = match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    if count == 0 || rng.u8(..5) == 0 {
        return value;
    }
    let at = rng.usize(..count);
    let child = match value {
        Value::Array(items) => items.get_mut(at),
        Value::Object(members) => members.values_mut().nth(at),
        _ => None,
    };
    place(child.expect("it was counted"), rng)
}

fn change(value: &mut Value, other: Value, rng: &mut Rng) {
    match value {
        Value::Array(items) if !items.is_empty() && rng.bool() => {
            let (one, two) = (rng.usize(..items.len()), rng.usize(..items.len()));
            match rng.u8(..5) {
                0 => drop(items.remove(one)),
                1 => items.insert(one, items[two].clone()),
                2 => items.swap(one, two),
                3 => items.truncate(one),
                _ => items.extend(vec![items[one].clone(); rng.usize(1..200)]),
            }
        }
        Value::Object(members) if !members.is_empty() && rng.bool() => {
            let name = |rng: &mut Rng| members.keys().nth(rng.usize(..members.len())).cloned().unwrap_or_default();
            let (one, two) = (name(rng), name(rng));
            match rng.u8(..4) {
                0 => drop(members.remove(&one)),
                1 => drop(members.insert(text(rng), other)),
                2 => drop(members.insert(one, members[&two].clone())),
                _ => {
                    let (first, second) = (members[&one].clone(), members[&two].clone());
                    members.insert(one, second);
                    members.insert(two, first);
                }
            }
        }
        Value::Number(_) if rng.bool() => scale(value, "", true, FACTORS[rng.usize(..FACTORS.len())]),
        _ => {
            *value = match rng.u8(..9) {
                0 | 1 => text(rng).into(),
                2 => format!("{}{}", value.as_str().unwrap_or_default(), text(rng)).into(),
                3 | 4 => format!("{RAW}{}", word(NUMBERS, rng)).into(),
                5 => [Value::Null, true.into(), Value::Array(vec![]), Value::Object(Default::default())]
                    [rng.usize(..4)]
                .clone(),
                6 => (0..rng.u32(1..200)).fold(other, |inner, _| Value::Array(vec![inner])),
                _ => other,
            }
        }
    }
}

/// Multiplies the numbers in all members of this name: they still go together, which readers check.
fn scale(value: &mut Value, name: &str, is_inside: bool, factor: f64) {
    match value {
        Value::Number(number) if is_inside => {
            let (number, is_whole) = (number.as_f64().unwrap_or_default() * factor, !number.is_f64());
            // Whole numbers stay whole: readers take no others in most places.
            *value = if is_whole { (number as i64).into() } else { number.into() };
        }
        Value::Array(items) => items.iter_mut().for_each(|item| scale(item, name, is_inside, factor)),
        Value::Object(members) => {
            members.iter_mut().for_each(|(key, member)| scale(member, name, is_inside || key == name, factor));
        }
        _ => {}
    }
}

/// A hostile text, now and then a long one.
pub fn text(rng: &mut Rng) -> String {
    TEXTS[rng.usize(..TEXTS.len())].repeat(if rng.u8(..8) == 0 { rng.usize(1..2000) } else { 1 })
}

/// One of words that have spaces between them.
pub fn word<'w>(words: &'w str, rng: &mut Rng) -> &'w str {
    words.split(' ').nth(rng.usize(..words.split(' ').count())).unwrap_or_default()
}

fn bytes(mut input: Vec<u8>, rng: &mut Rng) -> Vec<u8> {
    for _ in 0..rng.u8(1..5) {
        let at = rng.usize(..=input.len());
        let end = (at + 1 + rng.usize(..64)).min(input.len());
        match rng.u8(..6) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..end)),
            2 => input.extend_from_within(at..end),
            3 => drop(input.splice(at..at, text(rng).into_bytes())),
            4 => drop(input.splice(at..at, word(NUMBERS, rng).bytes())),
            _ => input[at..end].iter_mut().take(1).for_each(|byte| *byte ^= 1 << rng.u8(..8)),
        }
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_differs_from_its_input_and_follows_from_its_seed() {
        let whole = br#"{"cells":[{"n":1,"v":[1.5,2.5]},{"n":2,"v":[]}],"name":"a","none":null}"#.as_slice();
        let lines = b"{\"journal\":{\"a\":1}}\n{\"cell\":0}\n{\"cell\":1}\n".as_slice();
        for input in [whole, lines, b"no JSON", b"", b"{}", b"0"] {
            let mutants: Vec<_> = (0..100).map(|seed| of(input, &mut Rng::with_seed(seed))).collect();
            assert!(mutants.iter().all(|mutant| mutant != input));
            assert!((0..100).map(|seed| of(input, &mut Rng::with_seed(seed))).eq(mutants.iter().cloned()));
            assert!(mutants.iter().any(|mutant| *mutant != mutants[0]));
        }
    }

    #[test]
    fn structure_stays_readable_more_often_than_not() {
        let input = br#"{"cells":[{"n":1,"v":[1.5,2.5]},{"n":2,"v":[]}],"name":"a","none":null}"#;
        let readable = |seed| serde_json::from_slice::<Value>(&of(input, &mut Rng::with_seed(seed))).is_ok();
        let count = (0..400).filter(|seed| readable(*seed)).count();
        assert!((200..400).contains(&count), "{count}");
    }
}
