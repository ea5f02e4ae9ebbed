//! Whether a node still does what the baseline has of its like.

use std::collections::BTreeSet;
use std::fmt::Write;

use charz_data::escape::{counted, one_line};
use charz_data::{Arrange, Family, units};

use super::{Baseline, Kind, Quantity, Tolerance};
use crate::judge::{LESS_DELIVERED, by_quota, slow_parts};
use crate::norms::Norms;
use crate::visit::{Speed, Visit, load, other_build, threads};
use crate::words;

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

/// What came of a check: its level, and its one line with performance data.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// What it says.
    pub level: Level,
    /// `CHARZ OK - node7: … | …`
    pub line: String,
}

impl Baseline {
    /// Whether a node still does what its like do. A quick sweep need not have all kernels of the baseline, only those that it has planned.
    pub fn check(&self, visit: &Visit, is_quick: bool) -> Checked {
        let host = &visit.host;
        let alike = self.group.iter().filter(|kind| kind.name == visit.group());
        let alike: Vec<_> = alike.map(|kind| (kind, other_build(&kind.build, &visit.build))).collect();
        let Some(&(kind, _)) = alike.iter().find(|(_, other)| other.is_none()) else {
            if let Some((_, Some(what))) = alike.first() {
                return Checked::unknown(host, &words::baselines_build(what));
            }
            let beginning = format!("{}, ", visit.kind);
            let sizes = self.group.iter().filter_map(|kind| Some((kind.nodes, kind.name.strip_prefix(&beginning)?)));
            return match sizes.max() {
                Some((_, sizes)) => {
                    Checked::of(Level::Warning, host, &words::sizes(&visit.structure, "the baseline's nodes", sizes))
                }
                None => Checked::unknown(host, &format!("the baseline has no node like it ({})", visit.group())),
            };
        };
        let unknown = |why: String| Checked::unknown(host, &why);
        let usable = kind.usable.unwrap_or(visit.cpus[1]);
        let is_part = visit.is_part(usable, kind.nodes);
        let own = |quantity: &Quantity| {
            let speed = visit.speeds.get(&(quantity.kernel.clone(), quantity.configuration.clone()))?;
            let base = if speed.unit.more_is_better() { quantity.value.ln() } else { -quantity.value.ln() };
            Some((*speed, (speed.log - base).exp_m1()))
        };
        let measured: Vec<(&Quantity, Speed, f64)> = kind
            .quantity
            .iter()
            .filter_map(|quantity| own(quantity).map(|(speed, change)| (quantity, speed, change)))
            .filter(|(quantity, speed, _)| speed.unit.symbol() == quantity.unit)
            .collect();
        let loads = kind.quantity.iter().map(|own| (own.kernel.as_str(), load(&own.configuration)));
        let (other_pages, loads): (BTreeSet<_>, BTreeSet<_>) =
            loads.partition(|(kernel, load)| visit.lacks_huge_pages(kernel, load));
        if measured.is_empty() {
            return unknown(match visit.reliable {
                [0, _] => visit.unmeasured(),
                _ if !other_pages.is_empty() => words::other_pages(other_pages),
                _ if is_part => words::partly(visit.cpus),
                _ => "none of its configurations is in the baseline; make the baseline from complete reports of the same flags"
                    .into(),
            });
        }
        let of = |change: f64, tolerance: Tolerance| match -change {
            slower if slower >= tolerance.critical => Level::Critical,
            slower if slower >= tolerance.warning => Level::Warning,
            _ => Level::Ok,
        };
        // The part that is slow comes before the quantities that it slows.
        let slow = slow_parts(visit, &kind.norms(visit), kind.parts.warning);
        let slow = slow.iter().filter(|_| !visit.is_shared(usable, kind.nodes)).map(|blame| {
            match of(blame.effect, kind.parts) {
                _ if blame.effect > 0.0 => (Level::Warning, words::faster(blame)),
                level => (level, words::told(blame)),
            }
        });
        let mut found: Vec<(Level, String)> = slow.collect();
        let mut slowest: Vec<_> = measured.iter().collect();
        slowest.arrange_by(|one, other| one.2.total_cmp(&other.2));
        for (quantity, speed, change) in slowest {
            let tolerance = Tolerance { warning: quantity.warning, critical: quantity.critical };
            let told = format!(
                "{} {} {} ({:.1}% slower)",
                quantity.kernel,
                quantity.configuration,
                units::value(speed.value, speed.unit),
                -change * 100.0
            );
            let level = of(*change, tolerance);
            let family = visit.families.get(&quantity.kernel);
            found.push(match family {
                // Its host decides where they are.
                Some(Family::Memory | Family::Sync) if visit.is_guest && level > Level::Ok => {
                    (Level::Warning, words::guest_memory(&told))
                }
                _ => (level, told),
            });
        }
        let is_less = |(own, usual): &(f64, f64)| *own < usual - LESS_DELIVERED;
        let seen = visit.delivered.zip(kind.delivered).filter(is_less);
        let allowed = by_quota(seen, visit.allowed().zip(kind.allowed).filter(is_less));
        let quota = visit.settings.get(words::QUOTA).map_or("", String::as_str);
        let less = match (seen, allowed) {
            // What the quota took was felt.
            (Some((own, usual)), Some(_)) => Some(words::quota(own, usual, quota, true)),
            (None, Some((own, usual))) => Some(words::quota(own, usual, quota, false)),
            (Some((own, usual)), None) => Some(words::others_at_work(own, usual)),
            (None, None) => None,
        };
        // A quota is a cause that is certain: it comes before what may follow from it, and is said where that is worse.
        let cause = less.clone().filter(|_| allowed.is_some());
        let at = if cause.is_some() { 0 } else { found.len() };
        found.splice(at..at, less.map(|less| (Level::Warning, less)));
        if is_part || (visit.cpus[0] < visit.cpus[1] && loads.iter().any(|own| visit.is_beyond(*own))) {
            found.push((Level::Warning, words::partly(visit.cpus)));
        }
        let missing = loads.into_iter().filter_map(|(kernel, load)| {
            if !measured.iter().any(|(own, ..)| own.kernel == kernel) {
                return (!is_quick || visit.families.contains_key(kernel)).then_some((kernel, ""));
            }
            // A quick sweep has all CPUs' threads.
            let could_be = |threads: u64| !is_quick && threads <= visit.cpus[0] as u64;
            let is_left_out = visit.is_beyond((kernel, load)) && threads(load).is_some_and(could_be);
            let is_missing = is_left_out || visit.unreliable.contains(&(kernel.to_owned(), load.to_owned()));
            is_missing.then_some((kernel, load))
        });
        let missing: BTreeSet<(&str, &str)> = missing.collect();
        let mut level = found.iter().map(|(level, _)| *level).max().unwrap_or(Level::Ok);
        let bad: Vec<&str> = found
            .iter()
            .filter(|(own, _)| *own == level && level != Level::Ok)
            .map(|(_, told)| told.as_str())
            .collect();
        let mut told = match bad[..] {
            [] => {
                let all = counted(kind.quantity.len(), "quantity").replace("quantitys", "quantities");
                format!("{} of the baseline's {all} compared, all within tolerance", measured.len())
            }
            [first] => first.to_owned(),
            [first, ..] => format!("{first}; and {} more", bad.len() - 1),
        };
        if let Some(cause) = cause.filter(|_| level > Level::Warning) {
            let _ = write!(told, "; {cause}");
        }
        if level == Level::Ok && !(missing.is_empty() && other_pages.is_empty()) {
            level = Level::Unknown;
            if !missing.is_empty() {
                let _ = write!(told, "; no reliable result of {} could be compared", words::names(missing));
                if !visit.disturbers.is_empty() {
                    let _ = write!(told, "; {}", words::meanwhile(&visit.disturbers));
                }
            }
            if !other_pages.is_empty() {
                let _ = write!(told, "; {}", words::other_pages(other_pages));
            }
        }
        let data: Vec<String> = measured.iter().map(|(quantity, speed, _)| perfdata(quantity, *speed)).collect();
        let Checked { line, .. } = Checked::of(level, host, &told);
        Checked { level, line: format!("{line} | {}", data.join(" ")) }
    }
}

impl Checked {
    fn of(level: Level, host: &str, told: &str) -> Self {
        Checked { level, line: format!("CHARZ {} - {}: {}", level.name(), nagios(host), nagios(told)) }
    }

    fn unknown(host: &str, why: &str) -> Self {
        Checked::of(Level::Unknown, host, why)
    }

    /// Where nothing could be checked.
    pub fn failed(why: &str) -> Self {
        Checked { level: Level::Unknown, line: format!("CHARZ {} - {}", Level::Unknown.name(), nagios(why)) }
    }
}

impl Kind {
    fn norms(&self, visit: &Visit) -> Norms {
        Norms {
            structure: visit.structure.clone(),
            usual: self.usual.iter().map(|usual| ((usual.place(), usual.kernel.clone()), usual.effect)).collect(),
            deviations: self.deviation.iter().map(|own| ((own.level, own.kernel.clone()), own.deviation)).collect(),
            is_whole: true,
        }
    }
}

/// `'arith-int_round-robin_x2'=3700000000;3500000000:;3300000000:`, as the guidelines of Nagios' plugins have it.
fn perfdata(quantity: &Quantity, speed: Speed) -> String {
    let label: String = format!("{} {}", quantity.kernel, quantity.configuration)
        .chars()
        .map(|mark| if mark.is_ascii_alphanumeric() || matches!(mark, '-' | '.' | ':') { mark } else { '_' })
        .collect();
    let limit = |tolerance: f64| match speed.unit.more_is_better() {
        true => format!("{}:", decimal(quantity.value * (1.0 - tolerance))),
        false => decimal(quantity.value / (1.0 - tolerance)),
    };
    format!("'{label}'={};{};{}", decimal(speed.value), limit(quantity.warning), limit(quantity.critical))
}

/// Seven digits at least, and no exponent: the guidelines have digits, a sign and a point.
fn decimal(value: f64) -> String {
    let places = (6.0 - value.abs().log10().floor()).clamp(0.0, 300.0) as usize;
    format!("{value:.places$}")
}

/// The bar ends the words of such a line.
fn nagios(text: &str) -> String {
    one_line(text).replace('|', "/")
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn numbers_have_seven_digits_and_no_exponent() {
        let all = [1.291_321e9, 25.123_456_7, 0.012_345_678, 1e-9, 1e15].map(decimal);
        assert_eq!(all, ["1291321000", "25.12346", "0.01234568", "0.000000001000000", "1000000000000000"]);
    }
}
