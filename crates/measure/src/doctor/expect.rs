//! What a site expects of its machines, and where one differs: a file of lines such as `governor = "performance"`.

use serde::Serialize;
use toml::{Table, Value};

use super::{Finding, State, items};
use charz_data::escape::quote;

/// A check and what it is expected to read.
#[derive(Debug, PartialEq, Eq)]
pub struct Expected {
    key: &'static str,
    value: String,
}

/// A check that reads something else.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Deviation {
    pub key: &'static str,
    pub expected: String,
    pub found: String,
    pub fix: String,
}

/// Reads a file's text.
///
/// # Errors
///
/// One sentence about what is no such file: what is not TOML, a name that no check has, a value that is none.
pub fn read(text: &str) -> Result<Vec<Expected>, String> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
    table.into_iter().map(|(name, value)| expected(&name, &value)).collect()
}

fn expected(name: &str, value: &Value) -> Result<Expected, String> {
    let Some(item) = items().find(|item| item.key == name || item.name == name) else {
        let keys: Vec<_> = items().map(|item| item.key).collect();
        return Err(format!("there is no check {}; choose from {}", quote(name), keys.join(", ")));
    };
    let value = match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(on) => if *on { "on" } else { "off" }.to_owned(),
        _ => return Err(format!("{name}: a value is a text, a whole number, true or false; example: {name} = \"ok\"")),
    };
    Ok(Expected { key: item.key, value })
}

/// What differs. `ok` is what any check may be expected to be.
pub fn deviations(expected: &[Expected], findings: &[Finding]) -> Vec<Deviation> {
    let differs = |Expected { key, value }: &Expected| {
        let finding = findings.iter().find(|finding| finding.key == *key)?;
        let unavailable = finding.state == State::Unavailable;
        // A number is that of `2 CPUs of 2 online`.
        let number = value.parse::<f64>().ok().and_then(|_| finding.value.split_whitespace().next());
        let same = !unavailable
            && [Some(&*finding.value), number].iter().flatten().any(|said| said.eq_ignore_ascii_case(value));
        let found = if unavailable { format!("none ({})", finding.read) } else { finding.value.clone() };
        let fine = value.eq_ignore_ascii_case("ok") && finding.state == State::Ok;
        let deviation = || Deviation { key, expected: value.clone(), found, fix: finding.fix.clone() };
        (!same && !fine).then(deviation)
    };
    expected.iter().filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(key: &'static str, state: State, value: &str) -> Finding {
        Finding {
            name: key,
            key,
            state,
            value: value.to_owned(),
            read: "as read".to_owned(),
            effect: "",
            checks: &[],
            fix: String::new(),
            undo: None,
        }
    }

    #[test]
    fn each_deviation_is_found_and_nothing_else() {
        let text = "governor = \"performance\"\nsmt = false\nload = \"ok\"\nswap = \"ok\"\n'CPU quota' = 'none'\nturbo = 'off'\nthp = 7\ncpus = 2";
        let findings = [
            finding("governor", State::Ok, "Performance"),
            finding("smt", State::Limits, "on"),
            finding("load", State::Ok, "0.00 of 2 CPUs busy"),
            finding("swap", State::Limits, "used"),
            finding("cpu-quota", State::Limits, "1.50"),
            finding("turbo", State::Unavailable, "off"),
            finding("thp", State::Ok, "7"),
            finding("cpus", State::Ok, "2 CPUs of 3 online"),
        ];
        let mut found: Vec<_> =
            deviations(&read(text).unwrap(), &findings).into_iter().map(|deviation| deviation.key).collect();
        found.sort_unstable();
        assert_eq!(found, ["cpu-quota", "smt", "swap", "turbo"]);
    }

    #[test]
    fn what_is_no_expectation_is_refused() {
        for (text, word) in [("governer = \"x\"", "governor"), ("smt = [1]", "smt"), ("smt", ""), ("smt = 1.5", "smt")]
        {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(word) && !refused.contains('\n'), "{text}: {refused}");
        }
        assert_eq!(read(""), Ok(Vec::new()));
    }
}
