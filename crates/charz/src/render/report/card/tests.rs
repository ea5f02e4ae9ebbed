//! Cards as people and programs read them.

use serde_json::Value;

use super::*;
use crate::card::tests::measured;

#[track_caller]
fn shown(write: fn(&Report, &mut dyn Write) -> io::Result<()>, report: &Report) -> String {
    let mut out = Vec::new();
    write(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn what_contradicts_is_marked_and_explained() {
    let text = shown(write, &measured(8 << 20));
    for words in
        ["32 KiB, 2 of 1 strand", "L3 !", "8 MiB to 11.3 MiB", "32 MiB claimed", "contradictions", "not measured"]
    {
        assert!(text.contains(words), "{words:?}: {text}");
    }
    let text = shown(write, &measured(32 << 20));
    assert!(!text.contains('!') && !text.contains("contradictions"), "{text}");
}

#[test]
fn programs_get_numbers() {
    let found: Value = serde_json::from_str(&shown(json, &measured(8 << 20))).unwrap();
    let level = &found["levels"][2];
    assert_eq!((&level["name"], &level["claimed"]["size_bytes"]), (&"L3".into(), &(32_u64 << 20).into()));
    assert_eq!(level["found"]["inside_bytes"], 8_u64 << 20);
    assert_eq!((&found["contradictions"][0]["about"], &found["line"]["measured_bytes"]), (&"L3".into(), &Value::Null));
}

#[test]
fn foreign_words_cannot_steer_the_terminal() {
    let mut report = measured(8 << 20);
    report.host.processor = Some("\u{1b}[2J\u{202e}".into());
    assert!(!shown(write, &report).contains(['\u{1b}', '\u{202e}']));
}
