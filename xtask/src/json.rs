//! JSON as programs print it, read without a dependency.

use std::ops::Index;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { rest: text };
        let value = reader.value()?;
        match reader.peek() {
            None => Ok(value),
            Some(_) => Err(reader.wrong("the end")),
        }
    }

    /// The elements of a list; none of anything else.
    pub fn list(&self) -> &[Json] {
        match self {
            Json::List(list) => list,
            _ => &[],
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Json::Text(text) => text,
            _ => "",
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Json::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Numbers such as ids; others than natural ones are absent.
    pub fn ids(&self) -> Vec<u32> {
        self.list().iter().filter_map(Json::id).collect()
    }

    pub fn id(&self) -> Option<u32> {
        self.number().filter(|number| number.fract() == 0.0 && *number >= 0.0).map(|number| number as u32)
    }
}

/// A field of an object; null where there is none.
impl Index<&str> for Json {
    type Output = Json;

    fn index(&self, name: &str) -> &Json {
        match self {
            Json::Object(fields) => fields.iter().find(|(key, _)| key == name).map_or(&Json::Null, |(_, value)| value),
            _ => &Json::Null,
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, what: &str) -> bool {
        self.peek();
        let rest = self.rest.strip_prefix(what);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, what: &str) -> Result<(), String> {
        if self.take(what) { Ok(()) } else { Err(self.wrong(what)) }
    }

    fn wrong(&self, expected: &str) -> String {
        format!("expected {expected} at {:?}", self.rest.chars().take(20).collect::<String>())
    }

    fn value(&mut self) -> Result<Json, String> {
        for (word, value) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))] {
            if self.take(word) {
                return Ok(value);
            }
        }
        match self.peek() {
            Some('"') => self.string().map(Json::Text),
            Some('[') => self.list(),
            Some('{') => self.object(),
            _ => self.number(),
        }
    }

    fn list(&mut self) -> Result<Json, String> {
        self.expect("[")?;
        let mut list = Vec::new();
        while !self.take("]") {
            if !list.is_empty() {
                self.expect(",")?;
            }
            list.push(self.value()?);
        }
        Ok(Json::List(list))
    }

    fn object(&mut self) -> Result<Json, String> {
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.take("}") {
            if !fields.is_empty() {
                self.expect(",")?;
            }
            self.peek();
            let name = self.string()?;
            self.expect(":")?;
            fields.push((name, self.value()?));
        }
        Ok(Json::Object(fields))
    }

    fn number(&mut self) -> Result<Json, String> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(self.rest.len());
        let number = self.rest[..end].parse().map_err(|_| self.wrong("a value"))?;
        self.rest = &self.rest[end..];
        Ok(Json::Number(number))
    }

    fn string(&mut self) -> Result<String, String> {
        self.expect("\"")?;
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => text.push(match chars.next().map(|(_, c)| c) {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('u') => {
                        let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                        let code = u32::from_str_radix(&digits, 16).ok();
                        code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
                    }
                    Some(other) => other,
                    None => break,
                }),
                c => text.push(c),
            }
        }
        Err(self.wrong("the end of a string"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_all_kinds_are_read() {
        let json =
            Json::parse(r#" {"a": [1, -2.5e1, null, true], "b": {"c": "x\"\u0041\n"}, "d": [], "e": {}} "#).unwrap();
        assert_eq!(json["a"].list(), [Json::Number(1.0), Json::Number(-25.0), Json::Null, Json::Bool(true)]);
        assert_eq!(json["b"]["c"].text(), "x\"A\n");
        assert_eq!(json["d"].list(), []);
        assert_eq!(json["nothing"]["at all"], Json::Null);
        assert_eq!(Json::parse("[0, 3, 1.5]").unwrap().ids(), [0, 3]);
    }

    #[test]
    fn what_is_cut_off_is_an_error() {
        for text in ["", "{", "[1,", "[1 2]", "\"a", "{\"a\" 1}", "1 2", "[,]", "nul"] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
    }
}
