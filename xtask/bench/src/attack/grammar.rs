//! The command line of charz as the program itself lists it, in the page `charz docs grammar`.

use serde_json::Value;

#[derive(Default)]
pub struct Grammar {
    pub verbs: Vec<Verb>,
    /// The exit codes that are documented.
    pub codes: Vec<i32>,
}

pub struct Verb {
    /// `history add` is two words.
    pub words: Vec<String>,
    pub flags: Vec<Flag>,
}

#[derive(Debug, PartialEq)]
pub struct Flag {
    /// With its dashes.
    pub name: String,
    pub takes_value: bool,
    /// Those that it offers; empty if it takes any.
    pub values: Vec<String>,
}

/// Reads the page; `None` if a part of it is not there.
pub fn read(page: &str) -> Option<Grammar> {
    let page: Value = serde_json::from_str(page).ok()?;
    let verbs = page["commands"].as_array()?.iter().map(verb).collect::<Option<Vec<_>>>()?;
    let codes = page["exit_codes"].as_array()?.iter().map(|exit| i32::try_from(exit["code"].as_i64()?).ok());
    Some(Grammar { verbs, codes: codes.collect::<Option<_>>()? })
}

fn verb(command: &Value) -> Option<Verb> {
    let flags = command["flags"].as_array()?.iter().map(flag).collect::<Option<_>>()?;
    Some(Verb { words: texts(&command["words"])?, flags })
}

fn flag(flag: &Value) -> Option<Flag> {
    Some(Flag {
        name: flag["name"].as_str()?.to_owned(),
        takes_value: flag["takes_value"].as_bool()?,
        values: texts(&flag["values"])?,
    })
}

pub fn texts(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|text| Some(text.as_str()?.to_owned())).collect()
}

impl Verb {
    pub fn formats(&self) -> &[String] {
        self.flags.iter().find(|flag| flag.name == "--format").map_or(&[], |flag| &flag.values)
    }

    /// Whether it may measure, and then wait for another charz that does.
    pub fn measures(&self) -> bool {
        self.has("--wait")
    }

    pub fn has(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_with_their_flags() {
        let page = r#"{
            "commands": [
                {"words": [], "flags": [{"name": "--color", "short": null, "takes_value": true, "values": []}], "arguments": []},
                {"words": ["history", "add"], "arguments": [], "flags": [
                    {"name": "--format", "takes_value": true, "values": ["table", "csv"]},
                    {"name": "--wait", "takes_value": false, "values": []}
                ]}
            ],
            "exit_codes": [{"code": 0, "meaning": "done"}, {"code": 130, "meaning": "stopped"}]
        }"#;
        let grammar = read(page).unwrap();
        assert_eq!(grammar.codes, [0, 130]);
        let [root, add] = &grammar.verbs[..] else { panic!("{} verbs", grammar.verbs.len()) };
        assert!(root.words.is_empty() && root.formats().is_empty() && !root.measures());
        assert_eq!(
            (add.words.join(" "), add.formats()),
            ("history add".to_owned(), &["table".to_owned(), "csv".into()][..])
        );
        assert!(add.measures());
        assert_eq!(root.flags[0], Flag { name: "--color".into(), takes_value: true, values: Vec::new() });
    }

    #[test]
    fn a_page_without_one_of_its_lists_is_none() {
        for page in ["", "{}", r#"{"commands": []}"#, r#"{"commands": [{"words": []}], "exit_codes": []}"#] {
            assert!(read(page).is_none(), "{page}");
        }
    }
}
