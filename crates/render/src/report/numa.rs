//! What memory takes from each NUMA node to each: a square of numbers for people, rows and squares for programs.

use std::io::{self, Write};

use serde::Serialize;

use super::csv::number;
use super::matrix::heat::coloured;
use crate::json::write_compact;
use crate::look::Look;
use crate::wrapped;
use charz_analysis::numa::{Number, Spot, median, spots};
use charz_data::report::Report;
use charz_data::units;
use charz_stats::Sample;

/// Something that is measured between two nodes.
struct Figure {
    heading: &'static str,
    of: fn(&Spot) -> Option<Number>,
    /// How many times smaller the number is that people read.
    scale: f64,
    /// Whether the longest are the worst.
    is_time: bool,
}

const FIGURES: [Figure; 2] = [
    Figure {
        heading: "latency of a load of one worker, in nanoseconds",
        of: |spot| spot.latency_ns,
        scale: 1.0,
        is_time: true,
    },
    Figure {
        heading: "bandwidth of all workers of a node together, in GB/s",
        of: |spot| spot.bytes_per_second,
        scale: 1e9,
        is_time: false,
    },
];

/// Both squares, what lies between near and far, and what the firmware claims.
///
/// # Errors
/// Those of the output.
pub(super) fn write(report: &Report, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let spots = spots(report);
    if spots.is_empty() {
        return writeln!(out, "nothing was measured between NUMA nodes: neither latency nor bandwidth past all caches");
    }
    for figure in &FIGURES {
        square(figure, &spots, look.colour, out)?;
        writeln!(out)?;
    }
    for sentence in sentences(&spots) {
        wrapped::labelled("", 0, &sentence, look.columns, out)?;
    }
    Ok(())
}

/// The ids of nodes that stand for rows or for columns, each once.
fn ids(spots: &[Spot], of: fn(&Spot) -> u32) -> Vec<u32> {
    let mut ids: Vec<u32> = spots.iter().map(of).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn find(spots: &[Spot], from: u32, to: u32) -> Option<&Spot> {
    spots.iter().find(|spot| (spot.from, spot.to) == (from, to))
}

fn square(figure: &Figure, spots: &[Spot], colours: bool, out: &mut dyn Write) -> io::Result<()> {
    let (rows, columns) = (ids(spots, |spot| spot.from), ids(spots, |spot| spot.to));
    let text = |spot: Option<&Spot>| match spot.and_then(figure.of) {
        None => "·".to_owned(),
        Some(found) => {
            let (value, doubt) = (found.value / figure.scale, if found.suspect { "?" } else { "" });
            if value < 99.95 { format!("{value:.1}{doubt}") } else { format!("{value:.0}{doubt}") }
        }
    };
    let texts: Vec<Vec<String>> =
        rows.iter().map(|&from| columns.iter().map(|&to| text(find(spots, from, to))).collect()).collect();
    let heads: Vec<String> = columns.iter().map(|to| format!("on {to}")).collect();
    let longest = texts.iter().flatten().chain(&heads).map(|text| text.chars().count()).max().unwrap_or(0);
    let all = Sample::new(spots.iter().filter_map(figure.of).map(|found| cost(figure, found)).collect());
    writeln!(out, "{}: a row is the worker's node, a column the memory's", figure.heading)?;
    let label = rows.iter().map(|from| from.to_string().len()).max().unwrap_or(0) + "from ".len();
    let heads: String = heads.iter().map(|head| format!("  {head:>longest$}")).collect();
    writeln!(out, "{:label$}{heads}", "")?;
    for (from, texts) in rows.iter().zip(&texts) {
        let mut line = format!("{:>label$}", format!("from {from}"));
        for (to, text) in columns.iter().zip(texts) {
            let padded = format!("{text:>longest$}");
            let found = find(spots, *from, *to).and_then(figure.of).filter(|_| colours);
            line += "  ";
            match found.zip(all.as_ref()) {
                Some((found, all)) => line += &coloured(&padded, cost(figure, found), all),
                None => line += &padded,
            }
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// What is worse the more it is.
fn cost(figure: &Figure, found: Number) -> f64 {
    if figure.is_time { found.value } else { -found.value }
}

fn sentences(spots: &[Spot]) -> Vec<String> {
    let medians = |of: fn(&Spot) -> Option<Number>| median(spots, true, of).zip(median(spots, false, of));
    // How many times as much it is there, with a question mark behind what is suspect.
    let times = |near: Number, far: Number| {
        format!("{:.2}{} times", far.value / near.value, units::doubt(near.suspect || far.suspect))
    };
    let latency = medians(|spot| spot.latency_ns);
    let bandwidth = medians(|spot| spot.bytes_per_second);
    let claimed = medians(Spot::claim);
    let mut sentences = Vec::new();
    if spots.iter().all(Spot::is_local) {
        sentences.push(match spots.len() {
            1 => "one NUMA node here: there is no other memory".to_owned(),
            _ => "each node was measured with its own memory only; charz numa measures all".to_owned(),
        });
    }
    if let Some((near, far)) = latency {
        let [near_ns, far_ns] =
            [near, far].map(|found| format!("{}{}", units::nanos(found.value), units::doubt(found.suspect)));
        let times = times(near, far);
        sentences.push(format!("remote memory takes {times} as long as local: {far_ns} against {near_ns}"));
    }
    if let Some((near, far)) = bandwidth {
        sentences.push(format!("remote memory gives {} the bandwidth of local", times(near, far)));
    }
    if let Some((near, far)) = claimed {
        sentences.push(format!("the firmware claims {} the distance", times(near, far)));
    }
    if spots.iter().any(|spot| (FIGURES.iter().filter_map(|figure| (figure.of)(spot))).any(|found| found.suspect)) {
        sentences.push("? is a suspect number: charz render of the report says why".to_owned());
    }
    sentences
}

const HEADER: [&str; 7] =
    ["from", "to", "latency_ns", "latency_suspect", "bytes_per_second", "bandwidth_suspect", "claimed"];

/// A row a pair of nodes, by their OS ids.
///
/// # Errors
/// Those of the output.
pub(super) fn csv(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = csv::Writer::from_writer(out);
    rows.write_record(HEADER)?;
    for spot in spots(report) {
        let of =
            |found: Option<Number>| [number(found.map(|found| found.value)), number(found.map(|found| found.suspect))];
        let ([latency, latency_doubt], [rate, rate_doubt]) = (of(spot.latency_ns), of(spot.bytes_per_second));
        let ids = [spot.from, spot.to].map(|id| id.to_string());
        rows.write_record(ids.iter().chain(&[latency, latency_doubt, rate, rate_doubt, number(spot.claimed)]))?;
    }
    rows.flush()
}

/// The squares.
#[derive(Serialize)]
struct Squares<'a> {
    /// The random name of the report.
    report: &'a str,
    /// OS ids of the nodes of workers, in the order of rows.
    from: Vec<u32>,
    /// OS ids of the nodes of memory, in the order of columns.
    to: Vec<u32>,
    /// Nanoseconds of a load; null where there is no number.
    latency_ns: Vec<Vec<Option<f64>>>,
    /// Bytes per second of all workers of a node.
    bytes_per_second: Vec<Vec<Option<f64>>>,
    /// What the firmware claims of distances, where 10 is a node's own.
    claimed: Vec<Vec<Option<u64>>>,
    /// The pairs of which a number is suspect.
    suspect: Vec<[u32; 2]>,
}

/// The squares on one line.
///
/// # Errors
/// Those of the output.
pub(super) fn json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let spots = spots(report);
    let (from, to) = (ids(&spots, |spot| spot.from), ids(&spots, |spot| spot.to));
    let values = |of: fn(&Spot) -> Option<Number>| -> Vec<Vec<Option<f64>>> {
        let value = |from, to| find(&spots, from, to).and_then(of).map(|found| found.value);
        from.iter().map(|&from| to.iter().map(|&to| value(from, to)).collect()).collect()
    };
    let claimed = |from, to| find(&spots, from, to)?.claimed;
    let doubtful =
        |spot: &&Spot| [spot.latency_ns, spot.bytes_per_second].into_iter().flatten().any(|found| found.suspect);
    let squares = Squares {
        report: &report.id,
        latency_ns: values(|spot| spot.latency_ns),
        bytes_per_second: values(|spot| spot.bytes_per_second),
        claimed: from.iter().map(|&from| to.iter().map(|&to| claimed(from, to)).collect()).collect(),
        suspect: spots.iter().filter(doubtful).map(|spot| [spot.from, spot.to]).collect(),
        from,
        to,
    };
    write_compact(&squares, out)?;
    writeln!(out)
}

#[cfg(test)]
mod tests;
