//! `charz compare`: its flags, and which reports they name; and when a difference is a verdict.

use std::path::PathBuf;

use clap::Args;

use super::format::{OutputArgs, takes_one};
use super::history::number;
use super::named;
use crate::command::compare::{Base, Options, Terms};
use crate::exit::Error;
use charz_claims::compare::{Options as Rules, Quantity};
use charz_claims::history::Wanted;
use charz_render::compare::{FORMATS, Format};
use charz_render::machines;

#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| takes_one(arg, FORMATS)))]
pub(super) struct CompareArgs {
    /// The report to compare with, as for charz render (-, last); left out with --baseline
    #[arg(value_name = "BASE")]
    pub(super) base: PathBuf,
    /// The report that is compared
    #[arg(value_name = "NEW", required_unless_present = "baseline")]
    pub(super) new: Option<PathBuf>,
    /// More machines, with --machines
    #[arg(value_name = "MORE", requires = "machines")]
    pub(super) more: Vec<PathBuf>,
    /// Hold machines against the first: how many times as fast one thread and the whole machine are, with intervals
    #[arg(long, conflicts_with_all = ["baseline", "delivered", "allow_suspect", "strict", "cross_machine", "cross_build", "cross_plan"])]
    pub(super) machines: bool,
    /// What a machine costs in an hour, by the name of its report or of its host, e.g. --price n1=0.34; may be given for each machine
    #[arg(long, value_name = "NAME=PRICE", requires = "machines")]
    pub(super) price: Vec<String>,
    /// Take the base out of the history: newest (or last), before-change, or the number of a report
    ///
    /// Of the reports that were measured before the new one and may be compared with it, newest is the newest of those with most of
    /// its configurations; before-change is one that is older than the last change of any of them. The output says which one it is.
    #[arg(long, value_name = "WHICH", allow_hyphen_values = true)]
    pub(super) baseline: Option<String>,
    /// The history's file, as for charz history
    #[arg(long, value_name = "FILE", requires = "baseline")]
    pub(super) db: Option<PathBuf>,
    /// Compare reports of different machines; every line says so
    #[arg(long)]
    pub(super) cross_machine: bool,
    /// Compare reports of different builds of the kernels; every line says so
    #[arg(long)]
    pub(super) cross_build: bool,
    /// Compare reports whose plans differ in what changes numbers (pages, sizes, iterations); every line says so
    #[arg(long)]
    pub(super) cross_plan: bool,
    #[command(flatten)]
    pub(super) terms: TermsArgs,
    #[command(flatten)]
    pub(super) into: OutputArgs,
}

// What makes a difference of two reports a verdict.
#[derive(Debug, Args)]
pub(crate) struct TermsArgs {
    /// End with code 5 unless every configuration has a verdict
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RuleArgs {
    /// Compare what the machine delivered, all work over all time, instead of capacity, which leaves out what others took
    #[arg(long)]
    pub(crate) delivered: bool,
    /// Also compare configurations that are suspect for a reason that makes the comparison unsafe; every such line says so
    #[arg(long)]
    pub(crate) allow_suspect: bool,
}

impl RuleArgs {
    pub(super) fn rules(&self) -> Rules {
        let quantity = if self.delivered { Quantity::Delivered } else { Quantity::Capacity };
        Rules { quantity, allow_suspect: self.allow_suspect, ..Rules::default() }
    }
}

pub(super) fn compare(args: CompareArgs, notes: &mut Vec<String>) -> Result<Options, Error> {
    if args.machines {
        let named = [Some(args.base), args.new].into_iter().flatten().chain(args.more).collect();
        return Ok(Options::Machines {
            reports: named::reports(named, notes)?,
            prices: args.price.iter().map(|text| price(text)).collect::<Result<_, _>>()?,
            format: args.into.of(machines::FORMATS)?,
        });
    }
    let (base, new) = base_and_new(&args, notes)?;
    let CompareArgs { cross_machine, cross_build, cross_plan, .. } = args;
    let mut terms = terms(args.terms, args.into.of(FORMATS)?);
    terms.rules = Rules { cross_machine, cross_build, cross_plan, ..terms.rules };
    Ok(Options::Two { base, new, terms })
}

/// `n1=0.34`, and `n1=0.34/h` as clouds write it.
fn price(text: &str) -> Result<(String, f64), Error> {
    let found = text.rsplit_once('=').and_then(|(name, price)| {
        let price: f64 = price.strip_suffix("/h").unwrap_or(price).parse().ok()?;
        (!name.is_empty() && price.is_finite() && price > 0.0).then(|| (name.to_owned(), price))
    });
    found.ok_or_else(|| {
        Error::bad_input(format!("--price: {text:?} is not a name and a price an hour above 0, such as n1=0.34"))
    })
}

fn base_and_new(args: &CompareArgs, notes: &mut Vec<String>) -> Result<(Base, PathBuf), Error> {
    match (args.baseline.as_deref(), &args.new) {
        (None, Some(new)) => {
            let mut files = named::reports(vec![args.base.clone(), new.clone()], notes)?.into_iter();
            // As many as were named.
            Ok((Base::File(files.next().unwrap_or_default()), files.next().unwrap_or_default()))
        }
        (Some(text), None) => {
            let wanted = match text {
                "before-change" => Wanted::BeforeChange,
                text => number("--baseline", ", before-change", text)?.map_or(Wanted::Newest, Wanted::Report),
            };
            // The only report that was named is the new one.
            Ok((Base::History { file: args.db.clone(), wanted }, named::report(args.base.clone(), notes)?))
        }
        (Some(_), Some(_)) => Err(Error::bad_input(
            "--baseline takes the base from the history; name the new report only, or leave out --baseline",
        )),
        (None, None) => Err(Error::bad_input("NEW is missing: name the report to compare, or the base by --baseline")),
    }
}

pub(super) fn terms(args: TermsArgs, format: &'static Format) -> Terms {
    Terms { rules: args.rules.rules(), strict: args.strict, format }
}
