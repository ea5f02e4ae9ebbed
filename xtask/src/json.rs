//! A reader of JSON, as cargo and criterion write it.

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Any number.
    Number(f64),
    /// A string, its escapes resolved.
    Text(String),
    /// An array.
    List(Vec<Value>),
    /// An object, in the order written.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// The member of an object.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items, if it is an array.
    pub fn list(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// Reads one JSON value that fills the whole text; `None` when the text is something else.
pub fn parse(text: &str) -> Option<Value> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    reader.space();
    reader.rest.is_empty().then_some(value)
}

/// Deeper nesting is refused, so that no text can exhaust the stack.
const DEEPEST: usize = 64;

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        self.space();
        match self.rest.chars().next()? {
            '{' => self.object(depth),
            '[' => self.array(depth),
            '"' => self.string().map(Value::Text),
            _ => self.plain(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut members = Vec::new();
        self.eat("{")?;
        if self.eat("}").is_some() {
            return Some(Value::Object(members));
        }
        loop {
            self.space();
            let key = self.string()?;
            self.eat(":")?;
            members.push((key, self.value(depth + 1)?));
            if self.eat(",").is_none() {
                self.eat("}")?;
                return Some(Value::Object(members));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        self.eat("[")?;
        if self.eat("]").is_some() {
            return Some(Value::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.eat(",").is_none() {
                self.eat("]")?;
                return Some(Value::List(items));
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut chars = self.rest.strip_prefix('"')?.chars();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => match chars.next()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'b' => text.push('\u{8}'),
                    'f' => text.push('\u{c}'),
                    'u' => {
                        let digits: String = chars.by_ref().take(4).collect();
                        // Half of a surrogate pair stands for a character that no name or path of ours holds.
                        text.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?).unwrap_or('\u{fffd}'));
                    }
                    other => text.push(other),
                },
                other => text.push(other),
            }
        }
        self.rest = chars.as_str();
        Some(text)
    }

    fn plain(&mut self) -> Option<Value> {
        let end = self.rest.find(|c: char| c.is_whitespace() || ",]}".contains(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "null" => Some(Value::Null),
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            // Rust also reads words such as `inf` as numbers, which JSON does not know.
            number if number.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) => {
                number.parse().ok().filter(|n: &f64| n.is_finite()).map(Value::Number)
            }
            _ => None,
        }
    }

    /// Skips white space and takes `token` if it is next.
    fn eat(&mut self, token: &str) -> Option<()> {
        self.space();
        self.rest = self.rest.strip_prefix(token)?;
        Some(())
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_cargo_writes() {
        let line =
            r#"{"target":{"kind":["bench"],"name":"pure"},"executable":"/a \"b\"/pure-1","fresh":true,"n":-1.5e3}"#;
        let value = parse(line).unwrap();
        let target = value.get("target").unwrap();
        assert_eq!(target.get("kind").unwrap().list().unwrap()[0].text(), Some("bench"));
        assert_eq!(target.get("name").unwrap().text(), Some("pure"));
        assert_eq!(value.get("executable").unwrap().text(), Some("/a \"b\"/pure-1"));
        assert_eq!(value.get("fresh"), Some(&Value::Bool(true)));
        assert_eq!(value.get("n").unwrap().number(), Some(-1500.0));
    }

    #[test]
    fn reads_empty_and_nested_values() {
        assert_eq!(parse(" [ ] "), Some(Value::List(vec![])));
        assert_eq!(parse("{}"), Some(Value::Object(vec![])));
        assert_eq!(parse("\"\\u00b5s\""), Some(Value::Text("µs".into())));
    }

    #[test]
    fn refuses_what_is_not_json() {
        for text in ["", "{", "[1,]", "{\"a\" 1}", "nan", "inf", "1 2", "\"open", "{1:2}", "1e999"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        assert_eq!(parse(&"[".repeat(100_000)), None);
    }
}
