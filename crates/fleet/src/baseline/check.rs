//! Whether a node still does what the baseline has of its like.

use charz_analysis::culprits::Disturber;
use charz_data::Arrange;
use charz_data::report::Unit;

use super::{Baseline, Kind, Quantity, Tolerance};
use crate::blame::slow_parts;
use crate::claim::{Blame, Claim, Doubt, Loads, Quota};
use crate::judge::less;
use crate::norms::Norms;
use crate::setting::{Aspect, Structure};
use crate::visit::{Speed, Visit, Wanted, loads, other_build};

/// What a check says, by the exit codes of Nagios' plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// All within the tolerances.
    Ok,
    /// Something is slower than the first tolerance.
    Warning,
    /// Something is slower than the second tolerance.
    Critical,
    /// It cannot be told.
    Unknown,
}

charz_data::words! { Level { Ok = "OK", Warning = "WARNING", Critical = "CRITICAL", Unknown = "UNKNOWN" } }

/// What came of a check of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// What it says.
    pub level: Level,
    /// The node.
    pub host: String,
    /// Why.
    pub verdict: Verdict,
    /// Each quantity of the baseline that was compared, and the node's own value.
    pub(crate) data: Vec<(Quantity, Speed)>,
}

/// What a check came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The baseline has no node like it.
    NoLike(String, Structure),
    /// The baseline is of a build of charz that differs in this.
    OtherBuild(String),
    /// It has another size than the baseline's nodes.
    OtherSize([Structure; 2]),
    /// Nothing can be compared, for this reason; none where it has other configurations.
    Nothing(Option<Claim>),
    /// Quantities were compared.
    Compared {
        /// How many, of so many.
        count: [usize; 2],
        /// What speaks for the level, the first to be said, and how many more do.
        found: Option<(Finding, usize)>,
        /// A quota that may be the cause of something worse.
        cause: Option<Quota>,
        /// What has no reliable result.
        missing: Loads,
        /// What was on 4k pages only.
        other_pages: Loads,
        /// What used its CPUs meanwhile, where something is missing.
        disturbers: Vec<Disturber>,
    },
}

/// Something that exceeds a tolerance.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// A part that is slow, or a matter of the whole node.
    Claim(Claim),
    /// A quota that allows less.
    Quota(Quota),
    /// Other programs took its CPUs: what it delivered of its capacity, and what nodes like it do.
    Busy([f64; 2]),
    /// A quantity.
    Slower {
        /// That of the baseline.
        of: Quantity,
        /// What was measured.
        value: f64,
        /// Its unit.
        unit: Unit,
        /// By how much it is faster, as a fraction.
        change: f64,
        /// Whether it is memory of a guest.
        is_guests: bool,
    },
}

impl Baseline {
    /// Whether a node still does what its like do. A quick sweep need not have all kernels of the baseline, only those that it has planned.
    pub fn check(&self, visit: &Visit, is_quick: bool) -> Checked {
        let is = |level, verdict| Checked { level, host: visit.host.clone(), verdict, data: Vec::new() };
        let of_kind = || self.group.iter().filter(|kind| kind.name.kind == visit.kind);
        let alike = || of_kind().filter(|kind| kind.name.structure == visit.structure);
        let Some(kind) = alike().find(|kind| other_build(&kind.build, &visit.build).is_none()) else {
            if let Some(what) = alike().find_map(|kind| other_build(&kind.build, &visit.build)) {
                return is(Level::Unknown, Verdict::OtherBuild(what.to_owned()));
            }
            return match of_kind().max_by_key(|kind| kind.nodes) {
                Some(kind) => is(Level::Warning, Verdict::OtherSize([visit.structure, kind.name.structure])),
                None => is(Level::Unknown, Verdict::NoLike(visit.kind.clone(), visit.structure)),
            };
        };
        let usable = kind.usable.unwrap_or(visit.cpus[1]);
        let is_part = visit.is_part(usable, kind.nodes);
        let own = |quantity: &'_ Quantity| {
            let speed = visit.speeds.get(&(quantity.kernel.clone(), quantity.configuration.clone()))?;
            let base = if speed.unit.more_is_better() { quantity.value.ln() } else { -quantity.value.ln() };
            (speed.unit.symbol() == quantity.unit).then_some((*speed, (speed.log - base).exp_m1()))
        };
        let measured = kind.quantity.iter().filter_map(|quantity| own(quantity).map(|own| (quantity, own.0, own.1)));
        let mut measured: Vec<(&Quantity, Speed, f64)> = measured.collect();
        let all = kind.quantity.iter().map(|own| (own.kernel.as_str(), Some(&own.configuration.load)));
        let (other_pages, all): (Vec<_>, Vec<_>) = all.partition(|own| visit.lacks_huge_pages(*own));
        let (other_pages, partly) = (loads(other_pages), Claim::Partly(visit.cpus));
        if measured.is_empty() {
            let [reliable, cells] = visit.reliable;
            return is(
                Level::Unknown,
                Verdict::Nothing(match () {
                    () if reliable == 0 => Some(Claim::Unmeasured { cells, is_pending: visit.is_pending() }),
                    () if !other_pages.is_empty() => Some(Claim::OtherPages(other_pages)),
                    () => is_part.then_some(partly),
                }),
            );
        }
        let data = measured.iter().map(|(quantity, speed, _)| ((*quantity).clone(), *speed)).collect();
        let of = |change: f64, tolerance: Tolerance| match -change {
            slower if slower >= tolerance.critical => Level::Critical,
            slower if slower >= tolerance.warning => Level::Warning,
            _ => Level::Ok,
        };
        // The part that is slow comes before the quantities that it slows.
        let slow = slow_parts(visit, &kind.norms(visit), kind.parts.warning).into_iter();
        let slow = slow.filter(|_| !visit.is_shared(usable, kind.nodes)).map(|blame: Blame| match blame.effect > 0.0 {
            true => (Level::Warning, Finding::Claim(Claim::Doubt(blame, Doubt::Faster))),
            false => (of(blame.effect, kind.parts), Finding::Claim(Claim::Slow(blame))),
        });
        let mut found: Vec<(Level, Finding)> = slow.collect();
        measured.arrange_by(|one, other| one.2.total_cmp(&other.2));
        found.extend(measured.iter().map(|&(quantity, speed, change)| {
            let level = of(change, Tolerance { warning: quantity.warning, critical: quantity.critical });
            let aspect = visit.kernels.get(&quantity.kernel).copied().flatten();
            // The host of a guest decides where its memory and its lines are.
            let is_hosts = aspect.is_some_and(|aspect| aspect != Aspect::Arithmetic);
            let is_guests = is_hosts && visit.is_guest && level > Level::Ok;
            let finding =
                Finding::Slower { of: quantity.clone(), value: speed.value, unit: speed.unit, change, is_guests };
            (if is_guests { Level::Warning } else { level }, finding)
        }));
        let [seen, allowed] = less(visit, visit.delivered, (kind.delivered, kind.allowed));
        let quota =
            |(own, usual), was_seen| Quota { quota: visit.quota.clone().unwrap_or_default(), own, usual, was_seen };
        // What the quota took was felt. A quota is a cause that is certain: it comes before what may follow from it.
        let cause = allowed.map(|allowed| quota(seen.unwrap_or(allowed), seen.is_some()));
        match (&cause, seen) {
            (Some(quota), _) => found.insert(0, (Level::Warning, Finding::Quota(quota.clone()))),
            (None, Some((own, usual))) => found.push((Level::Warning, Finding::Busy([own, usual]))),
            (None, None) => {}
        }
        if is_part || (visit.cpus[0] < visit.cpus[1] && all.iter().any(|own| visit.is_beyond(*own))) {
            found.push((Level::Warning, Finding::Claim(partly)));
        }
        let missing = all.into_iter().filter_map(|(kernel, load)| -> Option<Wanted<'_>> {
            let wanted = load?;
            if !measured.iter().any(|(own, ..)| own.kernel == kernel) {
                return (!is_quick || visit.kernels.contains_key(kernel)).then_some((kernel, None));
            }
            // A quick sweep has all CPUs' threads.
            let could_be = !is_quick && wanted.threads <= visit.cpus[0] as u64;
            let is_left_out = could_be && visit.is_beyond((kernel, load));
            let is_missing = is_left_out || visit.unreliable.contains(&(kernel.to_owned(), wanted.clone()));
            is_missing.then_some((kernel, load))
        });
        let missing = loads(missing);
        let level = found.iter().map(|(level, _)| *level).max().unwrap_or(Level::Ok);
        let mut bad = found.into_iter().filter(|(own, _)| *own == level && level != Level::Ok).map(|(_, found)| found);
        let is_unknown = level == Level::Ok && !(missing.is_empty() && other_pages.is_empty());
        let verdict = Verdict::Compared {
            count: [measured.len(), kind.quantity.len()],
            found: bad.next().map(|first| (first, bad.count())),
            cause: cause.filter(|_| level > Level::Warning),
            disturbers: visit.disturbers.iter().filter(|_| is_unknown && !missing.is_empty()).cloned().collect(),
            missing: if is_unknown { missing } else { Loads::new() },
            other_pages: if is_unknown { other_pages } else { Loads::new() },
        };
        let level = if is_unknown { Level::Unknown } else { level };
        Checked { level, host: visit.host.clone(), verdict, data }
    }
}

impl Kind {
    fn norms(&self, visit: &Visit) -> Norms {
        Norms {
            structure: visit.structure,
            usual: self.usual.iter().map(|usual| ((usual.place(), usual.kernel.clone()), usual.effect)).collect(),
            deviations: self.deviation.iter().map(|own| ((own.level, own.kernel.clone()), own.deviation)).collect(),
            is_whole: true,
        }
    }
}
