//! The flags of a sweep with the values that hold: one format a line in [`FORMATS`].

use std::io::{self, Write};

use charz_data::escape::plain;
use charz_render::look::TerminalStyle;
use charz_render::{grid, json};
use serde::Serialize;

pub type Format = charz_render::formats::Format<fn(&[Setting], &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

pub static FORMATS: &[Format] = &[
    Format { name: "table", about: "", write: table },
    Format { name: "json", about: "", write: |settings, _, out| json::write_pretty_line(&settings, out) },
];

/// A flag with its value.
#[derive(Serialize)]
pub struct Setting {
    pub flag: String,
    /// Empty where the flag is not set, and has no default.
    pub values: Vec<String>,
    /// `flag`, a variable, a place in a file, or `default`.
    pub from: String,
}

fn table(settings: &[Setting], look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let row = |setting: &Setting| {
        let value = if setting.values.is_empty() { "-".to_owned() } else { plain(&setting.values.join(",")) };
        [format!("--{}", setting.flag), value, plain(&setting.from)]
    };
    let rows: Vec<_> = settings.iter().map(row).collect();
    grid::columns(&["flag", "value", "from"], &[0, 1, 2], &[], &rows, look, out)
}
