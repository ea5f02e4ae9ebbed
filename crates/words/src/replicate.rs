//! What replications and models conclude, in words.

use charz_data::CellSpec;
use charz_data::escape::counted;
use charz_data::report::Status as CellStatus;
use charz_data::units::{self, percent};
use charz_model::{Missing, NoModel};
use charz_replicate::{
    Basis, CheckedClaim, Compared, FigureModel, MANY, Note, Number, Of, Outcome, Reason, Relation, ReplicatedFigure,
    Requirement, Row, Status, Term, Verdict, Why,
};

use crate::point;

/// Reasons of rows, and of conclusions, that a figure lists; the others are beside them.
const MAX_REASONS: usize = 3;

/// A band that ends below this share of its unit is in a finer one: two decimals leave nothing of it.
const FINE: f64 = 0.1;

/// How far a figure is replicated.
pub fn status(status: Status) -> &'static str {
    match status {
        Status::Done => "done",
        Status::Partly => "partly",
        Status::Undecided => verdict(Verdict::Undecided),
        Status::NotMeasured => verdict(Verdict::NotMeasured),
        Status::Impossible => verdict(Verdict::Impossible),
        Status::Drawing => "drawing",
    }
}

/// Whether a conclusion holds here.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds here",
        Verdict::Fails => "fails here",
        Verdict::Undecided => "undecided",
        Verdict::NotMeasured => "not measured",
        Verdict::Impossible => "cannot be here",
    }
}

/// So many conclusions: `1 holds here`, `3 hold here`.
pub fn counted_verdict(count: usize, of: Verdict) -> String {
    let words = match (of, count) {
        (Verdict::Holds, 0 | 2..) => "hold here",
        (Verdict::Fails, 0 | 2..) => "fail here",
        _ => verdict(of),
    };
    format!("{count} {words}")
}

/// Why a figure is not, or only partly, replicated: clauses.
pub fn reasons(figure: &ReplicatedFigure<'_>) -> Vec<String> {
    let of = |kind: Of, things: &str| {
        let own: Vec<&Reason<'_>> = figure.reasons.iter().filter(|reason| reason.of == kind).collect();
        let (shown, rest) = own.split_at(if kind == Of::Figure { own.len() } else { own.len().min(MAX_REASONS) });
        let words = |reason: &&Reason<'_>| match reason.count {
            1 => why(&reason.why),
            count => format!("{count} {things}: {}", why(&reason.why)),
        };
        let rest = (!rest.is_empty()).then(|| format!("{} beside the {things}", counted(rest.len(), "more reason")));
        shown.iter().map(words).chain(rest).collect::<Vec<_>>()
    };
    [of(Of::Figure, ""), of(Of::Rows, "rows"), of(Of::Conclusions, "conclusions")].concat()
}

/// Why a row has no number, if charz has cells for it.
pub fn gap(row: &Row<'_>) -> Option<String> {
    row.gap.as_ref().filter(|_| row.kernel.is_some()).map(why)
}

/// Why there is no number, or why numbers decide nothing: a clause.
pub fn why(of: &Why<'_>) -> String {
    let plain = match of {
        Why::Stated(words) => words,
        Why::Unanswered => "nothing here answers it",
        Why::NoThreads => "it has no number of threads",
        Why::NoCpu => "this machine has no usable CPU",
        Why::CountersNotRead => "no hardware counters: charz replicate --counters reads them where the system has any",
        Why::NotCounted => "the processor does not count it, or its clock or issue width is not known",
        Why::OneReport => "this takes the reports of two machines: --from FILE --against FILE",
        Why::NoSuchNumber => "the kernel has no such number",
        Why::NotSampled => "no times were sampled",
        Why::FewTimes => "fewer than 10 times are beyond the 99th percentile",
        Why::NoClock => "the clock is not known, so there is no number of cycles",
        Why::Zero => "one of the two numbers is 0",
        Why::UnknownCaches => "it is about memory, and the sizes of the last caches are not known",
        Why::SameSeats => "both mappings put the threads on the same CPUs here",
        Why::TooFewRuns => "too few runs for an interval, give a longer --budget",
        Why::LeftOpen => "the intervals leave it open",
        _ => "",
    };
    match of {
        Why::Plots { table, is_here: true } => format!("it plots {table}"),
        Why::Plots { table, is_here: false } => format!("it plots {table}, which is not among these figures"),
        Why::LessThanOne { times, over, parts, of_cores } => {
            let name = if *of_cores { "cores" } else { "CPUs" };
            format!("{times}/{over} of {parts} {name} is less than one thread")
        }
        Why::NoneBetween { cpus } => format!("there is no thread count between 1 and the {cpus} CPUs of this machine"),
        Why::TooManyThreads { cpus } => {
            format!("more threads than twice the {cpus} CPUs of this machine would be needed")
        }
        Why::SameThreads { cpus } => format!("with {cpus} CPUs both sides have the same thread count"),
        Why::OneIsNotSpread { cpus } => {
            let cpus = counted(*cpus as usize, "CPU");
            format!("it takes two threads, and fewer than CPUs: this machine has {cpus}")
        }
        Why::SharedCpus { delivered } => {
            format!("threads shared CPUs: {} of their capacity was delivered", percent(*delivered))
        }
        Why::NoSuchPair { mapping } => {
            format!("{mapping} is not on this machine: no two usable CPUs are so far apart")
        }
        Why::Lacks { requirement, cpus } => match requirement {
            Requirement::Packages => "this machine has one package".to_owned(),
            Requirement::Nodes => "this machine has one NUMA node".to_owned(),
            Requirement::AluGroups => {
                "no core of this machine is known to have two ALU groups of two usable CPUs each".to_owned()
            }
            Requirement::ManyStrands => {
                let cpus = counted(*cpus as usize, "CPU");
                format!("this machine has {cpus}, and the claim is about {MANY} or more")
            }
        },
        Why::Needs(words) => words.to_string(),
        Why::OtherThreads { kernel, least, or_more, threads } => {
            let more = if *or_more { "at least " } else { "" };
            format!("{kernel} requires {more}{}, not {threads}", counted(*least, "thread"))
        }
        Why::NoCounters(words) => format!("no counters here: {words}"),
        Why::Other(inner) => format!("the other report: {}", why(inner)),
        Why::OneThread(inner) => format!("one thread, for comparison: {}", why(inner)),
        Why::Depth(depth, inner) => format!("depth {depth} may be the fastest, and has no number: {}", why(inner)),
        Why::NotInReport(cell) => {
            format!("the report has no configuration {} with this number of threads", label(cell))
        }
        Why::Unmeasured { status, reasons } => unmeasured(*status, &reasons.join("; ")),
        Why::NotReached { size } => format!("no run reached size {size}"),
        Why::OtherUnit(unit) => format!("the number cannot be converted to {unit}"),
        Why::WithinSkew { ns } => {
            let skew = units::nanos(*ns);
            format!("its smallest time is less than what the clocks of two CPUs differ by ({skew})")
        }
        Why::InCaches { held, bytes, kernel, class } => {
            let [held, bytes] = [held, bytes].map(|bytes| units::iec(*bytes));
            format!(
                "it is about memory, and the last caches ({held}) hold all {bytes} of {kernel} of class {class}; \
                 a longer --budget takes a larger class"
            )
        }
        _ => plain.to_owned(),
    }
}

fn unmeasured(status: CellStatus, reasons: &str) -> String {
    let because = if reasons.is_empty() { "the report has no reason" } else { reasons };
    match status {
        CellStatus::Pending => "not measured before the sweep ended".to_owned(),
        CellStatus::Failed => format!("given up: {because}"),
        CellStatus::Invalid => format!("invalid: {reasons}"),
        CellStatus::Skipped => format!("skipped: {because}"),
        CellStatus::Ok | CellStatus::Suspect => "nothing that counts was measured".to_owned(),
    }
}

/// The name of a cell without its number of workers.
fn label(spec: &CellSpec) -> String {
    let level = spec.level.as_ref().map(|level| format!(" in {level}")).unwrap_or_default();
    format!("{} {}{level}{}", spec.kernel, spec.mapping, point::label(&spec.point()))
}

/// A conclusion with what is asked for beyond the plain relation.
pub fn conclusion(claim: &CheckedClaim<'_>) -> String {
    let by = claim.by;
    let asked = match claim.relation {
        _ if by == 1.0 => return claim.says.to_owned(),
        Relation::Alike => format!("within a factor of {by}"),
        Relation::More if by > 1.0 => format!("more than {by} times as much"),
        Relation::More => format!("at least {by} times as much"),
        Relation::Less if by > 1.0 => format!("less than {} times as much", units::count_of(by.recip())),
        Relation::Less => format!("at most {} times as much", units::count_of(by.recip())),
    };
    format!("{} (asked for here: {asked})", claim.says)
}

/// The numbers behind a verdict, and why it is none.
pub fn evidence(claim: &CheckedClaim<'_>) -> String {
    let numbers: Vec<String> = claim.compared.iter().map(|of| compared(of, claim.basis)).collect();
    let what = if claim.basis == Basis::Delivered { ", as delivered" } else { "" };
    let numbers = (!numbers.is_empty()).then(|| numbers.join("; ") + what);
    claim.why.as_ref().map(why).into_iter().chain(numbers).collect::<Vec<_>>().join(": ")
}

fn compared(of: &Compared<'_>, basis: Basis) -> String {
    let name = |term: &Term<'_>| {
        let size = term.size.map(|size| format!(" size {size}")).unwrap_or_default();
        term.cell.map(|cell| label(cell) + &size)
    };
    let shown = |Term { number, .. }: &Term<'_>| {
        let share = number.delivered_share.filter(|_| basis == Basis::Capacity);
        let share = share.map(|share| format!(" ({} delivered)", percent(share))).unwrap_or_default();
        format!("{}{}{share}", units::count_of(number.value), units::doubt(number.suspect))
    };
    let Compared { left, right, unit, .. } = of;
    let against = match (name(right).filter(|_| (right.cell, right.size) != (left.cell, left.size)), right.workers) {
        (_, None) => "the limit".to_owned(),
        (Some(name), Some(workers)) => format!("{name} x{workers}"),
        (None, Some(workers)) => format!("x{workers}"),
    };
    let (own, workers) = (name(left).unwrap_or_default(), left.workers.unwrap_or_default());
    format!("{own} x{workers} {} against {against} {} {unit}", shown(left), shown(right))
}

/// What throughputs of a figure's rows are, where they are not the capacity.
pub fn basis(figure: &ReplicatedFigure<'_>) -> Option<&'static str> {
    (figure.basis == Basis::Delivered).then_some(
        "throughput here is delivered: all work over all time, since mappings are compared with auto, or rows go beyond the CPUs",
    )
}

/// How much of the capacity was delivered, where that was less than nearly all.
pub fn delivered(number: &Number<'_>) -> Option<String> {
    number.delivered_share.map(percent)
}

/// What is known of a number besides its interval.
pub fn note(note: &Note<'_>, unit: &str) -> String {
    match note {
        Note::ByRates(times) => format!("{} by rates", units::count_of(*times)),
        Note::Foreseen(other) => {
            format!("prefetch hides most of it: in random order it is {} {unit}", units::count_of(*other))
        }
        Note::FastestDepth(depth) => format!("depth {depth} is the fastest"),
        Note::Against(host) => format!("against {host}"),
        Note::Samples { count, bands } => {
            let bands = bands.iter().map(|band| {
                let [low, high] = match band.ends[1] < FINE {
                    true => band.ns.map(units::nanos),
                    false => [units::count_of(band.ends[0]), format!("{} {unit}", units::count_of(band.ends[1]))],
                };
                format!("{} within {low} to {high}", percent(band.share))
            });
            let samples = format!("{} samples", units::count(*count));
            std::iter::once(samples).chain(bands).collect::<Vec<_>>().join(", ")
        }
    }
}

/// What a model makes of the values of a machine with this name.
pub fn model(name: &str, model: &FigureModel<'_>) -> String {
    let fitted = model.fitted.iter().map(|value| format!("{} {}", value.mapping, value.threads));
    let (count, others, fitted) = (model.fitted.len(), model.others, fitted.collect::<Vec<_>>().join(", "));
    match &model.outcome {
        Outcome::Model { mean, worst, held, .. } => format!(
            "model of {name}: fitted to {count} of its values ({fitted}) and checked by the other {others}, which it misses by {} in the mean and {} at worst; {held} lie in their 90% intervals",
            percent(*mean),
            percent(*worst),
        ),
        Outcome::None(why) => format!("no model of {name} from {count} of its values ({fitted}): {}", no_model(why)),
    }
}

/// The points that would settle a model.
pub fn missing(points: &[Missing]) -> String {
    let one = |point: &Missing| match point {
        Missing::Thread => "one thread".to_owned(),
        Missing::Full(part) if part == "machine" => "all CPUs".to_owned(),
        Missing::Full(part) => format!("{} {part} full", if part.starts_with(['A', 'L']) { "an" } else { "a" }),
    };
    points.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Why there is no model: a clause.
pub fn no_model(why: &NoModel) -> String {
    match why {
        NoModel::SeveralKinds => {
            "the machine has several kinds of core, or cores with different numbers of CPUs".to_owned()
        }
        NoModel::FewCpus => "with fewer than three CPUs every number of threads can be measured".to_owned(),
        NoModel::FewPlacements { placements, others_share } => {
            let were = if *placements == 1 { "placement was" } else { "placements were" };
            let within = if *others_share { " with a CPU for each thread" } else { "" };
            format!(
                "{placements} {were} measured{within}, and three are needed: one thread, a part of the machine full, and all of it"
            )
        }
        NoModel::Contradiction { deviation } => format!(
            "values of the same placement differ by {}, a standard deviation; one unit and one setting are wanted",
            percent(*deviation)
        ),
        NoModel::NoFit => "no fit converges".to_owned(),
        NoModel::Misfit { model, mean } => {
            format!("{model} misses the points that it was fitted to by {} in the mean", percent(*mean))
        }
        NoModel::Misses { model, points, mean, interpolation, good } => {
            let were = if *points == 1 { "was" } else { "were" };
            let good = good.map(|good| format!(", so it is not twice as good, and not within {}", percent(good)));
            format!(
                "{model} misses {} that {were} not fitted by {} in the mean, and interpolation by {}{}",
                counted(*points, "point"),
                percent(*mean),
                percent(*interpolation),
                good.unwrap_or_default()
            )
        }
    }
}
