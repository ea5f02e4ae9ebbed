//! Claimed caches beside a curve of latencies.

use std::io::{self, Write};

use charz_claims::curve::{Bracket, Fit, Point};
use charz_data::units;
use charz_render::grid::columns;
use charz_render::json;
use charz_render::look::TerminalStyle;
use charz_render::wrapped;
use charz_words::card::excluded;
use charz_words::curve::level;
use serde_json::{Value, json as object};

use super::look;

/// A curve beside the caches of a machine.
pub struct Sizes {
    /// What claims the caches.
    pub source: String,
    /// The level of each claimed cache, and what the curve shows of it.
    pub levels: Vec<(u32, Bracket)>,
    pub points: Vec<Point>,
}

pub type Format = charz_render::formats::Format<fn(&Sizes, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

/// All formats; the first is the default.
pub static FORMATS: &[Format] = &[
    Format {
        name: "table",
        about: "a row per cache: its claimed size, its edge by the curve, and the verdict",
        write: table,
    },
    Format {
        name: "json",
        about: "the same, with sizes in bytes and latencies in nanoseconds",
        write: |sizes, _, out| {
            json::write_compact(&object!({ "source": sizes.source, "caches": caches(&sizes.levels) }), out)?;
            writeln!(out)
        },
    },
];

/// What a curve shows of each claimed cache.
pub(crate) fn caches(levels: &[(u32, Bracket)]) -> Vec<Value> {
    let cache = |(level, bracket): &(u32, Bracket)| {
        let mut found = object!({
            "level": level, "claimed_bytes": bracket.claimed_bytes, "edge_bytes": bracket.edge, "latency_ns": bracket.ns,
            "verdict": verdict(bracket.fit),
        });
        if let Fit::Excluded { size_bytes, ns, limit_ns, .. } = bracket.fit {
            found["evidence"] =
                object!({ "size_bytes": size_bytes, "latency_ns": ns, "halfway_to_memory_ns": limit_ns });
        }
        found
    };
    levels.iter().map(cache).collect()
}

fn verdict(fit: Fit) -> &'static str {
    match fit {
        Fit::Allowed => "allowed",
        Fit::Excluded { .. } => "contradicted",
        Fit::NoSize => "no size within",
        Fit::NoMemory => "memory not reached",
    }
}

fn table(sizes: &Sizes, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let contradicted = sizes.levels.iter().filter(|(_, bracket)| matches!(bracket.fit, Fit::Excluded { .. })).count();
    let headline = match (sizes.levels.len(), contradicted) {
        (0, _) => format!("{} claims no cache of a known size", sizes.source),
        (count, 0) => format!("none of {count} claimed caches is contradicted"),
        (count, contradicted) => format!("{contradicted} of {count} claimed caches contradicted"),
    };
    wrapped::hanging(&headline, 0, look::paragraph(), out)?;
    let row = |(own, bracket): &(u32, Bracket)| {
        [
            level(Some(*own)).to_string(),
            units::iec(bracket.claimed_bytes),
            bracket
                .edge
                .map_or_else(|| "-".to_owned(), |[low, high]| format!("{} to {}", units::iec(low), units::iec(high))),
            bracket.ns.map_or_else(|| "-".to_owned(), units::nanos),
            verdict(bracket.fit).to_owned(),
        ]
    };
    let rows: Vec<[String; 5]> = sizes.levels.iter().map(row).collect();
    if !rows.is_empty() {
        columns(&["level", "claimed", "edge measured", "latency", "claim"], &[0, 4], &[], &rows, look, out)?;
    }
    for (own, bracket) in &sizes.levels {
        if let Fit::Excluded { size_bytes, ns, limit_ns, .. } = bracket.fit {
            let why = excluded(bracket.claimed_bytes, size_bytes, ns, limit_ns);
            wrapped::hanging(&format!("{}: {why}", level(Some(*own))), 0, look::paragraph(), out)?;
        }
    }
    Ok(())
}
