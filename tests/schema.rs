//! Values held against a JSON Schema, by the part of draft 2020-12 that ours use.
//!
//! A crate for all of it brings thirty packages, of the two hundred that the tests build. A keyword that is not known here panics: nothing
//! passes unread.

use serde_json::Value;

/// What `value` has that `schema` does not allow, each with where.
pub fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Reader { root: schema }.check(schema, value, "", &mut found);
    found
}

struct Reader<'a> {
    /// What references point into.
    root: &'a Value,
}

impl Reader<'_> {
    fn allows(&self, schema: &Value, value: &Value, at: &str) -> bool {
        let mut found = Vec::new();
        self.check(schema, value, at, &mut found);
        found.is_empty()
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
        let schema = match schema {
            Value::Bool(true) => return,
            Value::Bool(false) => return found.push(format!("{at}: nothing is allowed here")),
            schema => schema.as_object().expect("a schema is an object or a boolean"),
        };
        let number = |limit: &Value| limit.as_f64().expect("a limit is a number");
        let matching = |list: &Value| {
            let list = list.as_array().expect("alternatives are a list");
            list.iter().filter(|schema| self.allows(schema, value, at)).count()
        };
        for (keyword, says) in schema {
            let holds = match (keyword.as_str(), value) {
                ("$schema" | "$defs" | "title" | "description" | "default", _) => true,
                // Widths of integers, which `minimum` and `maximum` bound.
                ("format", _) => ["double", "uint", "uint16", "uint32", "uint64"].iter().any(|known| says == known),
                ("type", _) => match says {
                    Value::Array(kinds) => kinds.iter().any(|kind| is(kind, value)),
                    kind => is(kind, value),
                },
                ("const", _) => value == says,
                ("enum", _) => says.as_array().expect("a list").contains(value),
                ("anyOf", _) => matching(says) > 0,
                ("oneOf", _) => matching(says) == 1,
                ("$ref", _) => {
                    let path =
                        says.as_str().and_then(|path| path.strip_prefix('#')).expect("a reference into this schema");
                    self.check(self.root.pointer(path).expect("what is referred to is there"), value, at, found);
                    true
                }
                ("minimum", Value::Number(_)) => number(value) >= number(says),
                ("maximum", Value::Number(_)) => number(value) <= number(says),
                ("minLength", Value::String(text)) => text.chars().count() as f64 >= number(says),
                ("maxLength", Value::String(text)) => text.chars().count() as f64 <= number(says),
                ("minItems", Value::Array(items)) => items.len() as f64 >= number(says),
                ("maxItems", Value::Array(items)) => items.len() as f64 <= number(says),
                ("items", Value::Array(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        self.check(says, item, &format!("{at}/{index}"), found);
                    }
                    true
                }
                ("required", Value::Object(fields)) => {
                    let names = says.as_array().expect("a list of names");
                    names.iter().all(|name| fields.contains_key(name.as_str().expect("a name")))
                }
                ("properties", Value::Object(fields)) => {
                    for (name, schema) in says.as_object().expect("a schema for each name") {
                        if let Some(field) = fields.get(name) {
                            self.check(schema, field, &format!("{at}/{name}"), found);
                        }
                    }
                    true
                }
                ("additionalProperties", Value::Object(fields)) => {
                    let named = |name: &String| schema.get("properties").is_some_and(|named| named.get(name).is_some());
                    for (name, field) in fields.iter().filter(|(name, _)| !named(name)) {
                        self.check(says, field, &format!("{at}/{name}"), found);
                    }
                    true
                }
                // Of values of another type these say nothing.
                ("minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems", _) => true,
                ("items" | "required" | "properties" | "additionalProperties", _) => true,
                _ => panic!("{at}: a keyword that is not read here: {keyword}"),
            };
            if !holds {
                found.push(format!("{at}: not of {keyword} {says}"));
            }
        }
    }
}

/// Whether a value is of a type that a schema names.
fn is(kind: &Value, value: &Value) -> bool {
    match (kind.as_str().expect("a type is a name"), value) {
        ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("number", Value::Number(_))
        | ("string", Value::String(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_)) => true,
        ("integer", Value::Number(number)) => number.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}

#[test]
fn what_a_schema_does_not_allow_is_found_with_where() {
    use serde_json::json;
    let schema = json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": {
            "a": { "type": "array", "minItems": 1, "maxItems": 2, "items": { "$ref": "#/$defs/count" } },
            "b": { "oneOf": [{ "type": "number", "maximum": 5 }, { "type": "integer", "minimum": 3 }, { "const": "x" }] },
            "c": { "anyOf": [{ "enum": ["y", "z"] }, { "type": ["null", "boolean"] }] },
            "d": { "type": "object", "additionalProperties": { "type": "string", "minLength": 2, "maxLength": 2 } },
        },
        "$defs": { "count": { "type": "integer", "minimum": 0 } },
    });
    let right = [
        json!({ "a": [0] }),
        json!({ "a": [0, 2.0], "b": 2, "c": null, "d": {} }),
        json!({ "a": [1], "b": 7, "c": "z", "d": { "k": "ää" } }),
        json!({ "a": [1], "b": "x", "c": true }),
    ];
    for value in right {
        assert_eq!(violations(&schema, &value), [""; 0], "{value}");
    }
    let wrong = [
        (json!([]), ""),
        (json!({}), ""),
        (json!({ "a": [0], "e": 1 }), "/e"),
        (json!({ "a": [] }), "/a"),
        (json!({ "a": [1, 2, 3] }), "/a"),
        (json!({ "a": [0, -1] }), "/a/1"),
        (json!({ "a": [0.5] }), "/a/0"),
        // Of both alternatives, and of none.
        (json!({ "a": [0], "b": 4 }), "/b"),
        (json!({ "a": [0], "b": 5.5 }), "/b"),
        (json!({ "a": [0], "c": "w" }), "/c"),
        (json!({ "a": [0], "d": { "k": "1" } }), "/d/k"),
        (json!({ "a": [0], "d": { "k": "123" } }), "/d/k"),
    ];
    for (value, place) in wrong {
        let found = violations(&schema, &value);
        assert!(
            found.iter().any(|violation| violation.split_once(':').is_some_and(|(at, _)| at == place)),
            "{value}: {found:?}"
        );
    }
}
