//! What the project keeps of a document: the shape of its file.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::count::Count;
use super::take::Take;
use crate::report::PageKind;

/// A source document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The name on the command line.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Who wrote it.
    pub authors: String,
    /// Where and when it was published.
    pub published: String,
    /// What it is found by: a number of an archive, a conference, a site.
    pub id: String,
    /// What it is about, in a sentence of ours.
    pub about: String,
    /// How it measured, as far as all of its figures have it in common.
    pub protocol: Protocol,
    /// The machines that it measured; the first is the one that ratios are against.
    #[serde(rename = "machine")]
    pub machines: Vec<Reference>,
    /// Where the document contradicts itself, a sentence each.
    #[serde(default)]
    pub inconsistencies: Vec<String>,
    /// Its figures, tables, listings and quoted numbers, in its order.
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
}

/// What all cells of a document's sweep have in common, in the words of the flags of `charz sweep`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// How the document measured, and what of that charz does otherwise.
    pub about: String,
    /// The longest that the sweep may take where nothing else is asked for.
    pub budget: String,
    /// `--layout`.
    #[serde(default = "padded")]
    pub layout: String,
    /// `--period`.
    #[serde(default = "fitting")]
    pub period: String,
    /// `--samples`.
    #[serde(default = "sweeps_own")]
    pub samples: String,
}

fn padded() -> String {
    "padded".into()
}

fn fitting() -> String {
    "fitting".into()
}

fn sweeps_own() -> String {
    "auto".into()
}

/// A machine that the document measured.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Its name in the lists of values.
    pub key: String,
    /// Its name for people.
    pub name: String,
    /// Its clock in GHz as the document says it; `None` where it does not.
    pub clock_ghz: Option<f64>,
    /// How many hardware threads it has; `None` where the document does not say.
    pub strands: Option<u64>,
    /// What else the document says of it.
    pub about: String,
}

/// A figure, a table, a listing, or a set of numbers that the document quotes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its number in the document, such as `Figure 5`, or the section that it stands in.
    pub number: String,
    /// What it is, in our words.
    pub title: String,
    /// What it shows.
    pub shows: String,
    /// What of its values survives in the text that the project's data was taken from.
    pub survives: String,
    /// In what charz's answer differs without being less.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What of it charz does not answer.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// Why charz cannot answer it at all.
    pub cannot: Option<String>,
    /// That it holds no values: what it draws.
    pub drawing: Option<String>,
    /// The command of charz that answers it, where that is no sweep.
    pub elsewhere: Option<String>,
    /// The number of the table that it is a picture of.
    pub same_as: Option<String>,
    /// Its values, and what they are compared with.
    #[serde(default)]
    pub series: Vec<Series>,
    /// What the document concludes from it, where a measurement can say whether it is so here.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
}

/// Rows that are one cell but for the number of workers, or values without a cell.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// What its rows have in common.
    #[serde(default)]
    pub group: String,
    /// What heads each row; the number of workers where there is none.
    #[serde(default)]
    pub labels: Vec<String>,
    /// What is measured; `None` where nothing here can be.
    pub cell: Option<CellSpec>,
    /// The document's numbers of workers, one a row.
    #[serde(default)]
    pub workers: Vec<Count>,
    /// The numbers of workers here that stand beside them, where they are others.
    #[serde(default)]
    pub here: Vec<Count>,
    /// What of the cell is compared.
    #[serde(default)]
    pub take: Take,
    /// The document's unit.
    pub unit: String,
    /// Whether a ratio to the document's value says anything.
    #[serde(default = "yes")]
    pub ratio: bool,
    /// The document's values, by the key of the machine, one a row.
    #[serde(default)]
    pub values: BTreeMap<String, Vec<Golden>>,
}

fn yes() -> bool {
    true
}

/// What is measured, but for the number of workers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellSpec {
    /// The kernel.
    pub kernel: String,
    /// Other kernels whose times are added to its own.
    #[serde(default)]
    pub plus: Vec<String>,
    /// The mapping.
    #[serde(default = "auto")]
    pub mapping: String,
    /// The size of a worker's block in bytes.
    pub size: Option<u64>,
    /// The level of caches that is to hold the blocks, `L1`, `L2`, … or `memory`, in place of a size.
    pub level: Option<String>,
    /// The kind of pages.
    pub pages: Option<PageKind>,
    /// Bytes from one place of a block that a load may read to the next.
    pub stride: Option<u64>,
    /// Where the blocks are put: `local`, `first`, `remote` or `interleaved`.
    pub memory: Option<String>,
}

fn auto() -> String {
    "auto".into()
}

/// A value of a document.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Golden {
    /// A number.
    Number(f64),
    /// From the first number to the second one.
    Range([f64; 2]),
    /// `-`: the document has none here.
    None(String),
}

impl Golden {
    /// The ends of the range; `None` where there is no value.
    pub fn range(&self) -> Option<[f64; 2]> {
        match self {
            Golden::Number(number) => Some([*number, *number]),
            Golden::Range(range) => Some(*range),
            Golden::None(_) => None,
        }
    }
}

/// A sentence of the document that a measurement can bear out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What it says, in our words.
    pub says: String,
    /// How the one side stands to the other.
    pub relation: Relation,
    /// `more`: at least so many times as much. `less`: at most so many times as much. `alike`: at most so many times apart.
    #[serde(default = "once")]
    pub by: f64,
    /// With each of these numbers of workers.
    pub workers: Vec<Count>,
    /// The one side.
    pub left: Term,
    /// The other side.
    pub right: Option<Term>,
    /// In place of another side: a number in `unit`.
    pub limit: Option<f64>,
    /// Whether the limit is for each strand of the machine.
    #[serde(default)]
    pub per_strand: bool,
    /// The unit of both sides, where it matters.
    pub unit: Option<String>,
    /// What a machine must have for the claim to be about anything.
    #[serde(default)]
    pub needs: Vec<Need>,
}

fn once() -> f64 {
    1.0
}

/// How the one side of a claim stands to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// It is more.
    More,
    /// It is less.
    Less,
    /// They are about the same.
    Alike,
}

/// One side of a claim.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// The cell.
    pub cell: CellSpec,
    /// What is looked at.
    #[serde(default)]
    pub take: Take,
    /// Its own number of workers.
    pub workers: Option<Count>,
}

/// What a machine must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Two or more packages.
    Packages,
    /// Two or more NUMA nodes.
    Nodes,
    /// Two or more strands a core.
    SharedCores,
}
