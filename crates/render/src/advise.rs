//! Advice on placements: one format per entry of [`FORMATS`].

use std::io::{self, Write};

use serde::Serialize;

use super::look::TerminalStyle;
use super::outline::{self, Block};
use super::{json, markdown, term};
use charz_analysis::answer::{Answer, NONE};
use charz_claims::advise::{Advice, Beside, NotAdvised, Placed, Validation};
use charz_data::escape::{counted, plain, quoted, shortened};
use charz_data::report::{Interval, Unit};
use charz_data::units;
use charz_estimate::{Relation, Strength};
use charz_words::advise as words;

pub type Format = super::formats::Format<fn(&Advised<'_>, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

/// A report's advice, and what became of it where it was measured again.
pub struct Advised<'a> {
    pub answer: Answer,
    /// The device that the placements are near, if one is asked for.
    pub nearby: Option<Nearby>,
    pub advice: Vec<Advice<'a>>,
    pub validation: Option<Vec<Validation<'a>>>,
    /// What was measured beside a load that was asked for.
    pub beside: Option<Neighbour<'a>>,
    pub predicted: Vec<Predicted>,
    /// Why nothing is advised to threads that contend, though some were measured.
    pub why_not: Option<NotAdvised<'a>>,
}

/// What is near a device, and whether the numbers are from there.
#[derive(Debug, Serialize)]
pub struct Nearby {
    pub device: String,
    /// The CPUs local to it that may be used, as a list.
    pub cpus: String,
    #[serde(skip)]
    pub count: usize,
    /// The NUMA node of the memory near it; null where there is one node, or none is nearest.
    pub memory_node: Option<u32>,
    /// Whether the placements were measured on these CPUs; if not, they were measured elsewhere and are put there.
    pub measured_there: bool,
}

impl Nearby {
    fn sentence(&self) -> String {
        let Nearby { device, cpus, memory_node, measured_there, .. } = self;
        let memory = memory_node.map(|node| format!(", memory on NUMA node {node}")).unwrap_or_default();
        let place = format!("Near {}: CPUs {cpus}{memory}.", plain(device));
        match measured_there {
            true => format!("{place} Only placements that were measured there count."),
            false => format!(
                "{place} Nothing was measured there: the numbers are of as many threads on other CPUs. charz sweep --mapping list:{cpus} \
                 measures there."
            ),
        }
    }
}

/// What each load's placements delivered beside another load.
pub struct Neighbour<'a> {
    /// The load, as it was typed.
    pub load: String,
    pub all: Vec<Beside<'a>>,
}

/// A placement that was not measured, and should do better than all that were.
#[derive(Serialize)]
pub struct Predicted {
    /// With the parameters that the sweep varies.
    pub kernel: String,
    /// The flags with which a sweep measures the kernel so; `None` where no flag of a kernel does.
    #[serde(skip)]
    pub flags: Option<String>,
    pub mapping: String,
    pub threads: usize,
    pub value: f64,
    pub interval: [f64; 2],
    pub unit: Unit,
}

impl Predicted {
    /// Says that it is no measurement.
    fn sentence(&self) -> String {
        let Predicted { kernel, flags, mapping, threads, value, interval: [low, high], unit } = self;
        let [value, low, high] = [value, low, high].map(|value| units::value(*value, *unit));
        let how = flags.as_ref().map(|flags| {
            format!("; charz sweep {flags} --mapping {} --threads {threads} measures it", quoted(mapping))
        });
        format!(
            "Predicted, not measured: {kernel} with {} under {mapping} should give {value} ({low} to {high}), more than any that was measured{}",
            counted(*threads, "thread"),
            how.unwrap_or_default()
        )
    }
}

/// The most characters of a load that a line has.
const MOST_OF_LOAD: f64 = 30.0;

/// One screen.
pub const SUMMARY: &Format = &Format {
    name: "summary",
    about: "one screen: what to do for each load, and the line to paste",
    write: |advised, look, out| term::text(&blocks(advised, false), look, out),
};

/// What `-v` prints.
pub const TABLE: &Format = &Format {
    name: "table",
    about: "with what every other placement loses, and the line of every tool",
    write: |advised, look, out| term::text(&blocks(advised, true), look, out),
};

/// The first is the default.
pub const FORMATS: [&Format; 4] = [
    SUMMARY,
    TABLE,
    &Format {
        name: "json",
        about: "for programs",
        write: |advised, _, out| json::write_pretty_line(&Json::of(advised), out),
    },
    &Format {
        name: "markdown",
        about: "for a wiki or a merge request",
        write: |advised, _, out| markdown::text(&blocks(advised, true), markdown::COMMENT, out),
    },
];

#[derive(Serialize)]
struct Json<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    near: Option<&'a Nearby>,
    advice: Vec<words::Wire<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation: Option<Vec<words::Outcome<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<words::Neighbour<'a>>,
    predicted: &'a [Predicted],
}

impl<'a> Json<'a> {
    fn of(advised: &'a Advised<'a>) -> Self {
        let outcomes = |all: &Vec<Validation<'a>>| all.iter().map(words::outcome).collect();
        Json {
            near: advised.nearby.as_ref(),
            advice: advised.advice.iter().map(words::wire).collect(),
            validation: advised.validation.as_ref().map(outcomes),
            beside: advised.beside.as_ref().map(|beside| words::neighbour(&beside.load, &beside.all)),
            predicted: &advised.predicted,
        }
    }
}

fn blocks(advised: &Advised<'_>, is_whole: bool) -> Vec<Block<'static>> {
    let answer = &advised.answer;
    let quality = &answer.quality;
    let mut blocks = vec![
        Block::Title(answer.machine.clone()),
        Block::Text(answer.when.clone()),
        outline::quality(quality, is_whole, 80),
    ];
    blocks.extend(advised.nearby.iter().map(|nearby| Block::Text(nearby.sentence())));
    if advised.advice.is_empty() {
        let what = if answer.advice.is_empty() { "Nothing to advise" } else { "No placement to advise" };
        let how = match quality.missing {
            _ if !answer.nodes.rows.is_empty() => format!(
                "{what}: the report compares NUMA nodes for memory, not placements. charz sweep without --memory measures several mappings \
                 and numbers of threads."
            ),
            0 if let Some(why) = &advised.why_not => format!("{what}: {}.", words::not_advised(why)),
            0 => format!(
                "{what}: the report compares none of a program or of a kernel that stands for one. charz sweep measures several mappings \
                 and numbers of threads."
            ),
            missing => format!(
                "{what}: {missing} of {} {} no number.",
                counted(quality.results, "configuration"),
                if missing == 1 { "has" } else { "have" }
            ),
        };
        blocks.extend(quality.fix.iter().map(|fix| Block::Item("Fix".to_owned(), fix.clone())));
        blocks.extend([Block::Gap, Block::Text(how)]);
        let steps = answer.advice.iter().map(|step| Block::Step(step.text.clone(), step.launch.clone()));
        blocks.extend(steps);
    }
    if let Some(Neighbour { load, all }) = &advised.beside {
        let load = shortened(load, MOST_OF_LOAD, |_| 1.0);
        for beside in all {
            let sentence = words::sentence(&beside.advice);
            blocks.extend([Block::Caption(format!("Beside {load}: {sentence}")), Block::Gap, placements(beside)]);
        }
        if all.is_empty() {
            blocks.push(Block::Text(format!("Beside {load} no placement has a number; give more time with --budget.")));
        }
        return blocks;
    }
    for (at, advice) in advised.advice.iter().enumerate() {
        blocks.push(Block::Caption(words::sentence(advice)));
        blocks.extend(words::paste(advice).map(Block::Code));
        blocks.push(Block::Item("evidence".to_owned(), words::evidence(advice)));
        blocks.extend(words::extras(advice).into_iter().map(|text| Block::Item("also".to_owned(), text)));
        match is_whole {
            _ if advice.regret.is_empty() => {}
            true => blocks.extend([Block::Gap, regret(advice)]),
            false => blocks.push(Block::Line("others".to_owned(), advice.regret.iter().map(entry).collect())),
        }
        let validation = advised.validation.as_ref().and_then(|all| all.get(at));
        if let Some(validation) = validation.filter(|_| advice.too_few.is_none() && advice.occupied().is_none()) {
            blocks.extend([Block::Gap, checks(validation)]);
            blocks.extend(conclusion(validation).map(Block::Text));
        }
        // What is not advised has no line to paste.
        if is_whole && advice.is_settled() {
            for (name, launch) in words::launches(advice) {
                blocks.extend([Block::Gap, Block::Text(name.to_owned())]);
                let notes = launch.notes.iter().map(|note| format!("# {note}"));
                let lines: Vec<String> = notes.chain(launch.line(&words::program(advice))).collect();
                blocks.push(Block::Code(lines.join("\n")));
            }
        }
    }
    for predicted in &advised.predicted {
        blocks.extend([Block::Gap, Block::Text(predicted.sentence())]);
    }
    blocks
}

/// What the second measurement shows of the advised placement; `None` where it has no number.
fn conclusion(validation: &Validation<'_>) -> Option<String> {
    let (regret, checks) = (validation.regret?, &validation.checks);
    let losses = || checks.iter().filter_map(|check| check.measured);
    let how = match regret > 0.0 {
        _ if !checks.is_empty() && losses().next().is_none() => "has no other number to be held against".to_owned(),
        _ if losses().any(|loss| matches!(loss.strength(), Strength::TooNoisy(_))) => {
            "is too noisy to be held against the others".to_owned()
        }
        _ if losses().any(|loss| loss.interval.is_none()) => {
            "has too few runs to be held against the others; give more time with --budget".to_owned()
        }
        true if validation.is_beaten() => format!("loses {} beside the best of these", units::percent(regret)),
        true => "is not significantly worse than the best of these".to_owned(),
        false => "is the best of these".to_owned(),
    };
    let failed = match checks.iter().filter(|check| check.holds() == Some(false)).count() {
        0 => String::new(),
        failed => format!("; {failed} of {} failed", counted(checks.len(), "prediction")),
    };
    let missing = checks.iter().filter(|check| check.measured.is_none()).map(|check| {
        let status = check.status.map(|status| format!(" ({})", status.name())).unwrap_or_default();
        format!("; {} has no number{status}", placement(&check.predicted))
    });
    Some(format!("Measured again, the advised placement {how}{failed}{}.", missing.collect::<String>()))
}

/// `auto x2 loses 3.2% (2.1 to 4.4%)`.
fn entry(loss: &Relation<'_>) -> String {
    format!("{} {}", placement(loss), words::lost(loss, words::Subject::One))
}

fn placement(loss: &Relation<'_>) -> String {
    format!("{} x{}", loss.estimate.cell.mapping, loss.estimate.cell.workers)
}

fn regret(advice: &Advice<'_>) -> Block<'static> {
    let row = |loss: &Relation<'_>| {
        vec![
            placement(loss),
            units::percent(loss.share) + units::doubt(loss.is_doubtful()),
            range(loss.interval),
            words::remark(loss).to_owned(),
        ]
    };
    Block::Table {
        heading: ["placement", "loss", "95% interval", ""].map(str::to_owned).to_vec(),
        words: vec![0, 3],
        spare: vec![2],
        rows: advice.regret.iter().map(row).collect(),
    }
}

/// What each placement delivered beside a load, and what the load kept.
fn placements(beside: &Beside<'_>) -> Block<'static> {
    let share = |share: Option<f64>| share.map_or_else(|| NONE.to_owned(), units::percent);
    let row = |placed: &Placed<'_>| {
        let own = &placed.delivered;
        vec![
            format!("{} x{}", own.cell.mapping, own.cell.workers),
            units::value(own.unscaled().value, own.cell.unit) + units::doubt(own.is_doubtful()),
            placed.loses.as_ref().map_or_else(|| "advised".to_owned(), |loss| words::lost(loss, words::Subject::One)),
            share(placed.kept),
            share(placed.neighbour_kept),
        ]
    };
    Block::Table {
        heading: ["placement", "delivered", "beside the advised", "of it alone", "the load, of it alone"]
            .map(str::to_owned)
            .to_vec(),
        words: vec![0, 2],
        spare: vec![3],
        rows: beside.placements.iter().map(row).collect(),
    }
}

fn range(interval: Option<Interval>) -> String {
    let shown = |found: Interval| units::percent_range(found.low, found.high);
    interval.map_or_else(|| NONE.to_owned(), shown)
}

fn checks(validation: &Validation<'_>) -> Block<'static> {
    let told = |loss: &Relation<'_>| format!("{} ({})", units::percent(loss.share), range(loss.interval));
    let rows = validation.checks.iter().map(|check| {
        let held = match check.holds() {
            Some(true) => "held",
            Some(false) => "failed",
            None => NONE,
        };
        let measured = check.measured.as_ref().map_or_else(|| NONE.to_owned(), told);
        vec![placement(&check.predicted), told(&check.predicted), measured, held.to_owned()]
    });
    Block::Table {
        heading: ["placement", "predicted loss", "measured loss", "prediction"].map(str::to_owned).to_vec(),
        words: vec![0, 3],
        spare: Vec::new(),
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_claims::advise::{advise, not_advised, validate};
    use charz_data::report::fixtures::{cell, report};
    use charz_data::report::{Cell, Report, Status, Unit};
    use charz_estimate::Estimates;

    #[test]
    fn a_placement_without_a_number_does_not_silence_the_others() {
        let of = |mapping: &str, value: f64| {
            let cell = cell("mem-read", 2, Unit::BytesPerSecond, value * 1e9).under(mapping).within(0.005);
            if mapping == "auto" { cell } else { cell.seated(&[0, 1]) }
        };
        let swept = |auto: Cell| report(vec![of("rr", 10.0), of("dumb", 8.0), auto]);
        let first = swept(of("auto", 9.0));
        let advice = advise(&Estimates::of(&first));
        let text = |auto: Cell| conclusion(&validate(&advice, &swept(auto))[0]).unwrap();
        let failed = text(of("auto", 9.0).unmeasured(Status::Failed, "it crashed"));
        assert!(failed.contains("is the best of these"), "{failed}");
        assert!(failed.contains("auto x2 has no number (failed)"), "{failed}");
        let few = text(of("auto", 9.0).without_interval());
        assert!(few.contains("too few runs") && !few.contains("no number") && !few.contains("failed"), "{few}");
        let far = text(of("auto", 2.0).without_interval());
        assert!(far.contains("; 1 of 2 predictions failed") && !far.contains("is the best of these"), "{far}");
    }

    fn nothing(report: &Report) -> Advised<'_> {
        let (answer, why_not) = (Answer::of(report), not_advised(&Estimates::of(report)));
        Advised {
            answer,
            nearby: None,
            advice: Vec::new(),
            validation: None,
            beside: None,
            predicted: Vec::new(),
            why_not,
        }
    }

    #[test]
    fn one_thread_that_does_more_than_several_is_why_nothing_is_advised() {
        let of = |threads, value| cell("counter-atomic", threads, Unit::OpsPerSecond, value).in_order();
        let report = report(vec![of(1, 180e6), of(2, 60e6), of(4, 40e6)]).on(4);
        assert!(advise(&Estimates::of(&report)).is_empty());
        let blocks = blocks(&nothing(&report), false);
        let texts: Vec<&String> =
            blocks.iter().filter_map(|block| if let Block::Text(text) = block { Some(text) } else { None }).collect();
        assert!(texts.iter().any(|text| text.contains("180 Mop/s") && text.contains("60.0 Mop/s")), "{texts:?}");
        assert!(!texts.iter().any(|text| text.contains("compares none")), "{texts:?}");
    }

    #[test]
    fn where_nothing_else_was_measured_there_are_no_others() {
        let of = |mapping: &str, value| {
            let cell = cell("mem-read", 2, Unit::BytesPerSecond, value).under(mapping).within(0.005);
            cell.seated(&[0, 1])
        };
        let report = report(vec![of("rr", 2e9), of("dumb", 1e9)]);
        let mut advised = Advised { advice: advise(&Estimates::of(&report)), ..nothing(&report) };
        advised.advice.iter_mut().for_each(|advice| advice.regret.clear());
        let blocks = blocks(&advised, false);
        assert!(blocks.iter().any(|block| matches!(block, Block::Item(label, _) if label == "evidence")));
        assert!(!blocks.iter().any(|block| matches!(block, Block::Line(..))));
    }

    #[test]
    fn each_format_has_what_is_predicted() {
        let report = report(Vec::new());
        let predicted = Predicted {
            kernel: "arith-int".into(),
            flags: Some("--kernel arith-int".into()),
            mapping: "round-robin".into(),
            threads: 16,
            value: 1.4e11,
            interval: [1.3e11, 1.5e11],
            unit: Unit::OpsPerSecond,
        };
        let advised = Advised { predicted: vec![predicted], ..nothing(&report) };
        for format in FORMATS {
            let mut out = Vec::new();
            (format.write)(&advised, &TerminalStyle::PLAIN, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(text.contains("redicted") && text.contains("round-robin"), "{}: {text}", format.name);
        }
    }
}
