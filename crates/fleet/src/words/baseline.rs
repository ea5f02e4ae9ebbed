//! The file of a baseline with its warnings, and the line of a check.

use std::fmt;
use std::fmt::Write;

use charz_data::escape::{counted, is_harmless, one_line};
use charz_data::units;

use crate::baseline::{
    Baseline, Checked, Deviation, Error, Finding, Kind, Level, MOST, OF_FEW, Quantity, Usual, Verdict,
};
use crate::norms::{ENOUGH_NODES, LEAST};
use crate::visit::{Configuration, Key, Speed};

/// The most configurations without a value that are named.
const MOST_NAMED: usize = 4;
/// A tolerance that hides more than noise: nodes that differ in a setting, as a rule.
const WIDE: f64 = 0.15;

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.load.parameters.is_empty() { "" } else { " " };
        write!(f, "{} x{}{space}{}", self.mapping, self.load.threads, self.load.parameters)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoResult(0) => f.write_str("no node has a reliable result that a baseline could be made of"),
            Error::NoResult(slow) => {
                write!(f, "{} left out as slow, and no other has a reliable result", counted(*slow, "node"))
            }
            Error::NoBaseline(line, why) => {
                write!(f, "is no baseline: line {line}: {}", one_line(&why.replace('\n', ", ")))
            }
            Error::Group(kind) => write!(
                f,
                "has a group ({kind:?}) that cannot be checked: tolerances and shares are fractions, deviations 0 or more, the \
                 warning of parts above 0 and no larger than its critical one"
            ),
            Error::Quantity(kernel, configuration) => write!(
                f,
                "has a quantity ({kernel:?}, {:?}) that cannot be checked: a value is above 0, and tolerances are fractions \
                 above 0, the warning's no larger than the critical one's",
                configuration.to_string()
            ),
        }
    }
}

/// What to know of a baseline: the groups in which half of the nodes are slow or may be, those of incomplete reports or of reports of a part
/// of their CPUs, and the quantities whose tolerance is so wide that a check would miss faults: one sentence each group.
pub fn warnings(baseline: &Baseline) -> Vec<String> {
    baseline.group.iter().flat_map(of_kind).collect()
}

fn of_kind(kind: &Kind) -> Vec<String> {
    let mut told = Vec::new();
    for ([count, all], are) in [(kind.slow, "were left out as"), (kind.unclear, "may be")] {
        let (nodes, of) = (kind.nodes, counted(all, "node"));
        told.extend(
            (count > 0 && 2 * count >= all)
                .then(|| format!("{count} of {of} {are} slow; the values are those of {nodes}; see charz fleet show")),
        );
    }
    let ([incomplete, all], lacked) = &kind.incomplete;
    if *incomplete > 0 {
        let names: Vec<String> = lacked.iter().map(|(kernel, of): &Key| format!("{kernel} {of}")).collect();
        let (named, others) = names.split_at(names.len().min(MOST_NAMED));
        let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
        let lacked =
            if named.is_empty() { String::new() } else { format!(", no values of {}{more}", named.join(", ")) };
        told.push(format!("{incomplete} of {} incomplete{lacked}", counted(*all, "report")));
    }
    let [part, all] = kind.part;
    let left_out = if part < all { ", and were left out" } else { "" };
    let all = counted(all, "report");
    told.extend((part > 0).then(|| format!("{part} of {all} are of a part of their CPUs{left_out}")));
    let wide: Vec<&Quantity> = kind.quantity.iter().filter(|quantity| quantity.warning > WIDE).collect();
    told.extend(wide.iter().max_by(|one, other| one.warning.total_cmp(&other.warning)).map(|most| {
        let [tolerance, limit] = [most.warning, WIDE].map(|tolerance| tolerance * 100.0);
        format!(
            "{} of {} tolerances exceed {limit:.0}% ({} {}: {tolerance:.0}%), as the nodes differ by so much; see charz fleet show",
            wide.len(),
            kind.quantity.len(),
            most.kernel,
            most.configuration
        )
    }));
    let name = super::group(&kind.name.kind, kind.name.structure);
    told.into_iter().map(|told| format!("{name}: {told}")).collect()
}

/// The file of a baseline.
pub fn text(baseline: &Baseline) -> String {
    let [least, most, assumed] = [LEAST, MOST, OF_FEW].map(|tolerance| tolerance * 100.0);
    let mut text = format!(
        "# What nodes of each kind do when they are well (charz fleet baseline). A check warns where a node is slower than\n\
         # the fraction `warning`: five standard deviations between the nodes, {least:.0}% to {most:.0}%. Fewer than {ENOUGH_NODES} nodes show no\n\
         # deviation, so {assumed:.1}% is assumed.\n",
    );
    for warning in warnings(baseline) {
        let _ = writeln!(text, "# Warning: {}", one_line(&warning));
    }
    for kind in &baseline.group {
        let Kind { name, nodes, build, usable, delivered, allowed, parts, usual, deviation, quantity, .. } = kind;
        let name = super::group(&name.kind, name.structure);
        let build = build.iter().map(|(what, value)| format!("{} = {}", quoted(what), quoted(value)));
        let build = build.collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "\n[[group]]\nname = {}\nnodes = {nodes}\nbuild = {{ {build} }}", quoted(&name));
        let shares = [("delivered", delivered), ("allowed", allowed)];
        let shares = shares.iter().filter_map(|(name, share)| Some(format!("{name} = {:.3}\n", (**share)?)));
        text.extend(usable.map(|usable| format!("usable = {usable}\n")).into_iter().chain(shares));
        let (warning, critical) = (parts.warning, parts.critical);
        let deviation = deviation.iter().map(|Deviation { level, kernel, deviation }| {
            format!("    {{ level = {level}, kernel = {}, deviation = {deviation:.5} }},\n", quoted(kernel))
        });
        let usual = usual.iter().map(|Usual { level, part: [one, other], kernel, effect }| {
            let kernel = quoted(kernel);
            format!("    {{ level = {level}, part = [{one}, {other}], kernel = {kernel}, effect = {effect:.5} }},\n")
        });
        let _ = writeln!(
            text,
            "# Of a core, cache, NUMA node or socket against its like in the same node.\n\
             parts = {{ warning = {warning}, critical = {critical} }}\ndeviation = [\n{}]\nusual = [\n{}]",
            deviation.collect::<String>(),
            usual.collect::<String>()
        );
        for Quantity { kernel, configuration, value, unit, warning, critical } in quantity {
            let [kernel, configuration, unit] = [kernel, &configuration.to_string(), unit].map(|text| quoted(text));
            let _ = write!(
                text,
                "\n[[group.quantity]]\nkernel = {kernel}\nconfiguration = {configuration}\nvalue = {value:e}\nunit = {unit}\n\
                 warning = {warning:.4}\ncritical = {critical:.4}\n",
            );
        }
    }
    text
}

/// A basic string of TOML, with escapes for what does not show as itself.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for mark in text.chars() {
        match mark {
            '"' | '\\' => quoted.extend(['\\', mark]),
            mark if is_harmless(mark) => quoted.push(mark),
            mark => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(mark));
            }
        }
    }
    quoted + "\""
}

/// The line of a check with performance data: `CHARZ OK - node7: … | …`.
pub fn check_line(checked: &Checked) -> String {
    let Checked { level, host, data, .. } = checked;
    let data: Vec<String> = data.iter().map(|(quantity, speed)| perfdata(quantity, *speed)).collect();
    let data = if data.is_empty() { String::new() } else { format!(" | {}", data.join(" ")) };
    format!("CHARZ {} - {}: {}{data}", level.name(), nagios(host), nagios(&checked_words(checked)))
}

/// Why a check says what it does.
pub(crate) fn checked_words(checked: &Checked) -> String {
    match &checked.verdict {
        Verdict::NoLike(kind, size) => format!("the baseline has no node like it ({})", super::group(kind, *size)),
        Verdict::OtherBuild(what) => {
            format!("the baseline is of a build of charz that differs in the {what}; make one with this build")
        }
        Verdict::OtherSize(sizes) => super::other_size(sizes, "the baseline's nodes"),
        Verdict::Nothing(claim) => claim.as_ref().and_then(super::why).unwrap_or_else(|| {
            "none of its configurations is in the baseline; make the baseline from complete reports of the same flags".into()
        }),
        Verdict::Compared { count: [compared, all], found, cause, missing, other_pages, disturbers } => {
            let mut told = vec![match found {
                None => {
                    let all = if *all == 1 { "1 quantity".to_owned() } else { format!("{all} quantities") };
                    format!("{compared} of the baseline's {all} compared, all within tolerance")
                }
                Some((first, 0)) => finding(first),
                Some((first, more)) => format!("{}; and {more} more", finding(first)),
            }];
            told.extend(cause.as_ref().map(super::quota_sentence));
            told.extend((!missing.is_empty()).then(|| {
                format!("no reliable result of {} could be compared", super::names(missing))
            }));
            told.extend((!disturbers.is_empty()).then(|| super::meanwhile(disturbers)));
            let pages = crate::claim::Claim::OtherPages(other_pages.clone());
            told.extend(super::why(&pages).filter(|_| !other_pages.is_empty()));
            told.join("; ")
        }
    }
}

/// The line where nothing could be checked.
pub fn check_failed(why: &str) -> String {
    format!("CHARZ {} - {}", Level::Unknown.name(), nagios(why))
}

fn finding(finding: &Finding) -> String {
    match finding {
        Finding::Claim(claim @ crate::claim::Claim::Slow(blame)) => {
            super::why(claim).unwrap_or_else(|| super::told(blame))
        }
        Finding::Claim(claim) => super::why(claim).unwrap_or_default(),
        Finding::Quota(quota) => super::quota_sentence(quota),
        Finding::Busy(shares) => super::busy(*shares),
        Finding::Slower { of: Quantity { kernel, configuration, .. }, value, unit, change, is_guests } => {
            let value = units::value(*value, *unit);
            let told = format!("{kernel} {configuration} {value} ({:.1}% slower)", -change * 100.0);
            match is_guests {
                true => told + "; memory of a guest is what its host gives in that hour, so no visit settles it",
                false => told,
            }
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
