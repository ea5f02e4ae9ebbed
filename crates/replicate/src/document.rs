//! The file of a source document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::cell::Target;
use super::count::Count;
use super::statistic::Statistic;
use super::why::Requirement;
use charz_data::CellSpec;

/// A source document, as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Where it was published.
    pub citation: Citation,
    /// What the cells of its sweep have in common.
    pub protocol: Protocol,
    pub(super) machines: Vec<Reference>,
    #[serde(default)]
    pub(super) inconsistencies: Vec<String>,
    /// Its figures, tables, listings and quoted numbers, in its order.
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
}

/// A document's citation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// The name on the command line.
    pub name: String,
    /// The title.
    pub title: String,
    /// The authors.
    pub authors: String,
    /// Publisher and date.
    pub published: String,
    /// Where to find it: a number of an archive, a conference, a site.
    pub id: String,
    /// What it is about, in one sentence of the project.
    pub about: String,
}

/// What all cells of a document's sweep have in common, in the words of the flags of `charz sweep`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Protocol {
    /// How the document measured, and where charz differs.
    pub about: String,
    /// The value of `--budget`.
    pub budget: String,
    /// The value of `--layout`.
    pub layout: String,
    /// The value of `--period`.
    pub period: String,
    /// The value of `--samples`.
    pub samples: String,
}

impl Default for Protocol {
    fn default() -> Self {
        let [about, budget, layout, period, samples] = ["", "3m", "padded", "fitting", "auto"].map(str::to_owned);
        Protocol { about, budget, layout, period, samples }
    }
}

/// A machine of the document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Its name in values.
    pub key: String,
    /// Its name for people.
    pub name: String,
    /// Its clock in GHz; null where the document has none.
    pub clock_ghz: Option<f64>,
    /// Its hardware threads; null where the document has no number.
    pub strands: Option<u64>,
    /// What else the document has about it.
    pub about: String,
    /// Its topology in hwloc's synthetic words; null where the document does not say enough.
    pub topology: Option<String>,
}

/// A figure, a table, a listing, or a set of numbers that the document quotes. It is answered in one way: by series and claims, or by
/// one of `impossible`, `drawing`, `elsewhere` and `same_as`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its number in the document, such as `Figure 5`, or its section.
    pub number: String,
    pub(super) title: String,
    pub(super) shows: String,
    /// Which of its values survive in the text that the file was written from.
    pub(super) survives: String,
    /// Where the replication differs without being less.
    #[serde(default)]
    pub(super) notes: Vec<String>,
    #[serde(default)]
    pub(super) missing: Vec<String>,
    pub(super) impossible: Option<String>,
    /// What it draws, if it has no values.
    pub(super) drawing: Option<String>,
    /// The command of charz that answers it without a sweep.
    pub(super) elsewhere: Option<String>,
    /// The number of the table that it plots.
    pub(super) same_as: Option<String>,
    #[serde(default)]
    pub(super) series: Vec<Series>,
    #[serde(default, rename = "claim")]
    pub(super) claims: Vec<Claim>,
}

/// Rows that share all but the number of workers, or quoted values without a cell.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Series {
    #[serde(default)]
    pub(super) group: String,
    /// One per row; by default the number of workers.
    #[serde(default)]
    pub(super) labels: Vec<String>,
    cell: Option<CellSpec>,
    /// The document's numbers of workers, one per row.
    #[serde(default)]
    pub(super) workers: Vec<Count>,
    /// What the number is divided by; what it does not give is the series' own.
    pub(super) over: Option<Side>,
    /// Their counterparts here, if they differ.
    #[serde(default)]
    pub(super) here: Vec<Count>,
    #[serde(default)]
    pub(super) statistic: Statistic,
    pub(super) unit: String,
    /// The kernel that makes the same loads in an order that no prefetcher foresees.
    pub(super) unforeseen: Option<String>,
    /// Whether a ratio to the document's value is meaningful.
    #[serde(default = "yes")]
    pub(super) ratio: bool,
    /// The document's values by the key of the machine, one per row.
    #[serde(default)]
    pub(super) values: BTreeMap<String, Vec<PublishedValue>>,
}

fn yes() -> bool {
    true
}

impl Series {
    /// What is measured; `None` if nothing is. The defaults of a figure alone name no kernel.
    pub(super) fn cell(&self) -> Option<&CellSpec> {
        self.cell.as_ref().filter(|cell| !cell.kernel.is_empty())
    }

    /// The numbers of workers here, one per row.
    pub(super) fn counts(&self) -> &[Count] {
        if self.here.is_empty() { &self.workers } else { &self.here }
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum PublishedValue {
    Number(f64),
    Range([f64; 2]),
    /// `-`: the document has none here.
    None(String),
}

impl PublishedValue {
    pub(super) fn range(&self) -> Option<[f64; 2]> {
        match self {
            PublishedValue::Number(number) => Some([*number; 2]),
            PublishedValue::Range(range) => Some(*range),
            PublishedValue::None(_) => None,
        }
    }
}

/// A conclusion of the document that a measurement can confirm or refute.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claim {
    pub(super) says: String,
    /// What a machine must have for the claim to be about anything.
    pub(super) requires: Option<Requirement>,
    pub(super) relation: Relation,
    /// The factor of the relation.
    #[serde(default = "one")]
    pub(super) by: f64,
    /// It must hold with each of these numbers of workers.
    pub(super) workers: Vec<Count>,
    /// The unit of both sides.
    pub(super) unit: String,
    pub(super) left: Side,
    pub(super) right: Option<Side>,
    /// A number in place of the right side.
    pub(super) limit: Option<f64>,
    /// Whether the limit is multiplied by the cores of the machine.
    #[serde(default)]
    pub(super) per_core: bool,
    /// Whether it is about memory: undecided where the last caches hold the whole problem.
    #[serde(default)]
    pub(super) beyond_caches: bool,
}

fn one() -> f64 {
    1.0
}

impl Claim {
    pub(super) fn sides(&self) -> impl Iterator<Item = &Side> {
        std::iter::once(&self.left).chain(&self.right)
    }
}

/// How the left side of a claim relates to the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// More than `by` times the right side; with a `by` below 1, no less than so much of it.
    More,
    /// Less than the right side divided by `by`; with a `by` below 1, no more than so much of it.
    Less,
    /// Within a factor of `by`.
    Alike,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Side {
    pub(super) cell: CellSpec,
    #[serde(default)]
    pub(super) statistic: Statistic,
    /// In place of the numbers of the claim.
    pub(super) workers: Option<Count>,
}

impl Document {
    pub(super) fn read(text: &str) -> Result<Document, toml::de::Error> {
        let mut file: Table = toml::from_str(text)?;
        for figure in tables(&mut file, "figure") {
            spread_cells(figure);
            spread_defaults(figure);
        }
        let mut document: Document = file.try_into()?;
        for series in document.figures.iter_mut().flat_map(|figure| &mut figure.series) {
            if series.labels.is_empty() {
                series.labels = series.workers.iter().filter_map(Count::fixed).map(|count| count.to_string()).collect();
            }
        }
        Ok(document)
    }

    /// The cells that answer these figures on a machine, each once.
    pub fn cells(&self, figures: &[&Figure], target: &Target) -> Vec<CellSpec> {
        let mut distinct = Vec::new();
        for cell in figures.iter().filter(|figure| figure.impossible.is_none()).flat_map(|figure| figure.cells(target))
        {
            if !distinct.contains(&cell) {
                distinct.push(cell);
            }
        }
        distinct
    }
}

impl Figure {
    /// Whether a number of it takes the reports of two machines.
    pub fn compares_machines(&self) -> bool {
        self.series.iter().any(|series| series.statistic.is_of_two())
    }

    fn cells(&self, target: &Target) -> Vec<CellSpec> {
        let mut cells = Vec::new();
        let mut add = |spec: &CellSpec, statistic: &Statistic, counts: &[u64]| {
            // A speedup is measured against one worker.
            let one = (statistic.is_speedup() && !counts.is_empty() && !counts.contains(&1)).then_some(1);
            let counts = one.into_iter().chain(counts.iter().copied());
            cells.extend(counts.filter(|&count| target.runs(spec, count).is_ok()).flat_map(|count| spec.cells(count)));
        };
        for series in &self.series {
            let counts: Vec<u64> = series.counts().iter().filter_map(|count| count.number(target).ok()).collect();
            if let Some(spec) = series.cell() {
                add(spec, &series.statistic, &counts);
            }
            if let Some(over) = &series.over {
                let own: Vec<u64> = counts.iter().filter_map(|count| over.workers(*count, target).ok()).collect();
                add(&over.cell, &over.statistic, &own);
            }
        }
        for claim in &self.claims {
            let counts = claim.counts(target).unwrap_or_default();
            for side in claim.sides() {
                let own: Vec<u64> = counts.iter().filter_map(|count| side.workers(*count, target).ok()).collect();
                add(&side.cell, &side.statistic, &own);
            }
        }
        cells
    }
}

/// A series with `each`, tables like its own whose ends are lists, is one series for each of their values, with a label each.
fn spread_cells(figure: &mut Table) {
    let Some(Value::Array(all)) = figure.get_mut("series") else { return };
    let spread = |mut series: Value| -> Vec<Value> {
        let Some(each) = series.as_table_mut().and_then(|table| table.remove("each")) else { return vec![series] };
        let of = |(at, label): (usize, &Value)| {
            let mut own = series.as_table()?.clone();
            own.insert("labels".into(), Value::Array(vec![label.clone()]));
            fill(&mut own, picked(&each, at)?.as_table()?);
            Some(Value::Table(own))
        };
        series["labels"].as_array().into_iter().flatten().enumerate().filter_map(of).collect()
    };
    *all = std::mem::take(all).into_iter().flat_map(spread).collect();
}

/// The values at one place of all lists; `None` where one is too short.
fn picked(each: &Value, at: usize) -> Option<Value> {
    match each {
        Value::Array(values) => values.get(at).cloned(),
        Value::Table(table) => {
            let all = table.iter().map(|(key, value)| Some((key.clone(), picked(value, at)?)));
            all.collect::<Option<_>>().map(Value::Table)
        }
        _ => None,
    }
}

/// The `defaults` of a figure go to its series and to the sides of its claims, and what a right side lacks comes from the left one.
fn spread_defaults(figure: &mut Table) {
    let defaults = match figure.remove("defaults") {
        Some(Value::Table(defaults)) => defaults,
        _ => Table::new(),
    };
    let only = |of: &Table, keys: [&str; 2]| -> Table {
        let own = of.iter().filter(|(key, _)| keys.contains(&key.as_str()));
        own.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    for series in tables(figure, "series") {
        fill(series, &defaults);
        let own = only(series, ["cell", "statistic"]);
        if let Some(Value::Table(over)) = series.get_mut("over") {
            fill(over, &own);
        }
    }
    for claim in tables(figure, "claim") {
        fill(claim, &only(&defaults, ["workers", "unit"]));
        let own = only(&defaults, ["cell", "statistic"]);
        fill(claim, &Table::from_iter([("left".to_owned(), Value::Table(own))]));
        let mut left = claim["left"].as_table().cloned().unwrap_or_default();
        left.remove("workers");
        if let Some(Value::Table(right)) = claim.get_mut("right") {
            fill(right, &left);
        }
    }
}

fn tables<'a>(table: &'a mut Table, key: &str) -> impl Iterator<Item = &'a mut Table> {
    table.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_table_mut)
}

/// Adds what is missing, also within tables.
fn fill(table: &mut Table, defaults: &Table) {
    for (key, default) in defaults {
        match (table.get_mut(key), default) {
            (None, _) => {
                table.insert(key.clone(), default.clone());
            }
            (Some(Value::Table(inner)), Value::Table(defaults)) => fill(inner, defaults),
            (Some(_), _) => {}
        }
    }
}
