//! The table of checks in words: one format a line in [`FORMATS`].

use std::io::{self, Write};

use super::look;
use charz_data::checks::{CHECKS, Check, Scale, Severity};
use charz_render::look::TerminalStyle;
use charz_render::{json, wrapped};
use serde_json::{Map, Value, json};

pub type Format =
    charz_render::formats::Format<fn(&Option<&'static Check>, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

pub static FORMATS: &[Format] = &[
    Format { name: "text", about: "", write: text },
    Format {
        name: "markdown",
        about: "",
        write: |check, _, out| out.write_all(check.map_or_else(markdown, section).as_bytes()),
    },
    Format {
        name: "json",
        about: "",
        write: |check, _, out| match check {
            Some(check) => json::write_pretty_line(&object(check), out),
            None => json::write_pretty_line(&CHECKS.iter().map(|check| object(check)).collect::<Vec<_>>(), out),
        },
    },
];

/// Columns before the text of a field: the longest label and two blanks.
const INDENT: usize = 12;

fn text(check: &Option<&'static Check>, _: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let width = look::paragraph();
    let Some(check) = check else {
        for check in CHECKS {
            writeln!(out, "{}  {}", check.code, check.title)?;
            wrapped::labelled("", 5, &limits(check), width, out)?;
        }
        return wrapped::labelled("", 0, "`charz explain V03` describes one.", width, out);
    };
    writeln!(out, "{}  {}", check.code, check.title)?;
    for (label, text) in fields(check) {
        wrapped::labelled(label, INDENT, &text, width, out)?;
    }
    Ok(())
}

fn fields(check: &Check) -> Vec<(&'static str, String)> {
    let mut fields = vec![
        ("cause", check.cause.to_owned()),
        ("metric", check.quantity.to_owned()),
        ("thresholds", format!("{}.", limits(check))),
        ("evidence", check.evidence.to_owned()),
        ("applies to", check.families.to_owned()),
        ("fix", check.fix.to_owned()),
        ("source", check.source.to_owned()),
    ];
    if !check.covers.is_empty() {
        let codes = check.covers.join(", ");
        fields.push(("explains", format!("{codes}: not raised beside it, unless they weigh more.")));
    }
    if !check.waives.is_empty() {
        fields.push(("waives", format!("{}: never raised beside it.", check.waives.join(", "))));
    }
    fields
}

/// The limits in words, the lightest first: `dirty lap: more than 1%; suspect: more than 10%`.
fn limits(check: &Check) -> String {
    let lap = check.lap.map(|limit| format!("dirty lap: {}", beyond(Scale::Share, limit)));
    let cell = Severity::ALL.into_iter().filter_map(|severity| {
        let limit = check.limit(severity)?;
        Some(format!("{}: {}", severity.name(), beyond(check.scale, limit)))
    });
    lap.into_iter().chain(cell).collect::<Vec<_>>().join("; ")
}

fn beyond(scale: Scale, limit: f64) -> String {
    match scale {
        _ if limit == 0.0 => "any".to_owned(),
        // Without the dust of the multiplication: 0.07 × 100 is not 7.
        Scale::Share => format!("more than {}%", (limit * 1e6).round() / 1e4),
        Scale::Count | Scale::Ratio => format!("more than {limit}"),
    }
}

fn object(check: &Check) -> Value {
    let limits: Map<String, Value> = Severity::ALL
        .into_iter()
        .filter_map(|severity| Some((severity.name().to_owned(), check.limit(severity)?)))
        .chain(check.lap.map(|limit| ("dirty_lap".to_owned(), limit)))
        .map(|(name, limit)| (name, limit.into()))
        .collect();
    json!({
        "code": check.code,
        "title": check.title,
        "cause": check.cause,
        "quantity": check.quantity,
        "limits": limits,
        "evidence": check.evidence,
        "families": check.families,
        "fix": check.fix,
        "source": check.source,
        "covers": check.covers,
        "waives": check.waives,
    })
}

fn section(check: &Check) -> String {
    let sentence = |label: &str, codes: &[&str]| match codes {
        [] => String::new(),
        codes => format!(" {label} {}.", codes.join(", ")),
    };
    format!(
        "## {}: {}\n\n{}\n\n- **Limits** ({}): {}\n- **Evidence**: {} **Applies to**: {}{}{}\n- **What to do**: {}\n- *Source*: {}\n",
        check.code,
        check.title,
        check.cause,
        limits(check),
        check.quantity,
        check.evidence,
        check.families,
        sentence("**Explains**", check.covers),
        sentence("**Rules out**", check.waives),
        check.fix,
        check.source
    )
}

fn markdown() -> String {
    let sections: String = CHECKS.iter().map(|check| format!("\n{}", section(check))).collect();
    format!("# Checks\n\n{SEVERITIES}{sections}")
}

/// What a limit of each kind does to a number.
const SEVERITIES: &str = "\
- **dirty lap**: the iteration stays in the report and is excluded from the number.
- **note**: the number stands.
- **suspect**: the number is printed with `~`, and compared only if none of its warnings makes that unsafe.
- **invalid**: there is no number: it enters no maximum, fit, plot or comparison.

One cause raises one warning: a warning that another one *explains* is not raised beside it unless it weighs more, and one that another \
*rules out* is never raised beside it.
";

/// The page `docs/checks.md`: one line per check.
pub fn index_page() -> String {
    let lines: String = CHECKS.iter().map(|check| format!("{}  {}\n", check.code, check.title)).collect();
    format!(
        "# Checks\n\nGenerated by `cargo xtask docs` from the table of checks. `charz explain V03` prints the cause of a warning, its limits, \
         evidence, fix and source; `charz explain` prints the limits of all checks, and `charz explain --format markdown` everything.\n\n\
         {SEVERITIES}\n```text\n{lines}```\n"
    )
}
