//! The table of validity checks: what can be wrong with a number, how charz notices, and from which limit on.
//!
//! Every limit that a number is judged by is in this table only. Codes are a promise: reports hold them, so a code keeps its
//! meaning for ever, and a check that is dropped leaves a gap.
//!
//! A quantity is always worse the larger it is (a share that is missing, not one that is there), so one rule serves
//! all: beyond the limit means worse. Limits whose source is "charz: first guess" wait for data from machines that were
//! measured against themselves.
#![allow(missing_docs, reason = "a check says itself what it is")]

use serde::{Deserialize, Serialize};

use crate::words::words;

mod clock;
mod memory;
mod program;
mod samples;
mod scheduling;
mod times;

pub use clock::{V08, V09, V10, V11, needed_ns};
pub use memory::{BLOCK_PER_CACHE, FEW_FAULTS, V20, V21, V22, V27, V42};
pub use program::{FIRST_RUN_NS, SAME_TIME, V17, V19, V23, V24, V25, V26, V37, V38, V39, V40, V41};
pub use samples::{
    ENOUGH, INTERVAL_NEEDS, LEAST_FOR_OUTLIERS, LEAST_OF_A_GROUP, MOVED, V12, V13, V14, V15, V16, V18, V28, V29, V33,
    V35, WIDEST, WIDEST_OF_COMPUTE,
};
pub use scheduling::{
    FEWEST_SHARED, STEAL_TICKS_NS, STEAL_WINDOW_NS, V01, V02, V03, V04, V05, V06, V07, V34, V36, V43,
};
pub use times::{ENOUGH_PAIRS, V30, V31, V32};

/// With what the reason of a mark begins where what a check reads is not there.
pub const NOT_REPORTED: &str = "not reported by the system";

/// How much a mark weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; the number remains valid.
    Note,
    /// The number is doubtful.
    Suspect,
    /// The number is not what it claims to be.
    Invalid,
}

// From the lightest.
words! { Severity { Note = "note", Suspect = "suspect", Invalid = "invalid" } }

/// What kind of number a quantity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A fraction of a whole, printed as a percentage.
    Share,
    /// A number of things.
    Count,
    /// A quotient, or a statistic without a unit.
    Ratio,
}

/// One way in which a number can be wrong. Texts are sentences; commands in them are in backquotes.
#[derive(Debug)]
#[non_exhaustive]
pub struct Check {
    /// `V` and two digits.
    pub code: &'static str,
    /// A few words.
    pub title: &'static str,
    /// Why it happens, and what it does to numbers.
    pub cause: &'static str,
    /// What is compared with the limits.
    pub quantity: &'static str,
    /// What kind of number the quantity is.
    pub scale: Scale,
    /// Whether it doubts the capacity only, because the number that was delivered includes what it finds.
    pub of_capacity: bool,
    /// The share of a lap beyond which the lap, and with it its repetition, is dirty: kept, and left out of the estimate.
    pub lap: Option<f64>,
    /// The quantity beyond which the cell carries a note.
    pub note: Option<f64>,
    /// The quantity beyond which the cell is suspect.
    pub suspect: Option<f64>,
    /// The quantity beyond which the cell is invalid.
    pub invalid: Option<f64>,
    /// Where the quantity is read.
    pub evidence: &'static str,
    /// Which kernels and cells it is for.
    pub families: &'static str,
    /// What the user can do.
    pub fix: &'static str,
    /// The paper, tool or manual that the limits come from, or that they are a first guess.
    pub source: &'static str,
    /// Codes whose findings are mere consequences of this one: not raised beside it unless they weigh more.
    pub covers: &'static [&'static str],
    /// Codes that ask for what this finding rules out: never raised beside it.
    pub waives: &'static [&'static str],
}

/// All checks, by code.
pub static CHECKS: [&Check; 43] = [
    &V01, &V02, &V03, &V04, &V05, &V06, &V07, &V08, &V09, &V10, &V11, &V12, &V13, &V14, &V15, &V16, &V17, &V18, &V19,
    &V20, &V21, &V22, &V23, &V24, &V25, &V26, &V27, &V28, &V29, &V30, &V31, &V32, &V33, &V34, &V35, &V36, &V37, &V38,
    &V39, &V40, &V41, &V42, &V43,
];

impl Check {
    /// What a check begins with: no limit, and no other code that goes with it.
    const NEVER_RAISED: Check = Check {
        code: "",
        title: "",
        cause: "",
        quantity: "",
        scale: Scale::Count,
        of_capacity: false,
        lap: None,
        note: None,
        suspect: None,
        invalid: None,
        evidence: "",
        families: "",
        fix: "",
        source: "",
        covers: &[],
        waives: &[],
    };

    /// The worst limit that the quantity exceeds, if it exceeds one. What is not a number exceeds every limit: a quantity
    /// that cannot be computed is no proof of innocence. A quantity that could not be read has no value to ask about.
    pub fn severity(&self, quantity: f64) -> Option<Severity> {
        let exceeds = |limit: f64| quantity.is_nan() || quantity > limit;
        Severity::ALL.into_iter().rev().find(|&severity| self.limit(severity).is_some_and(exceeds))
    }

    /// The limit beyond which a finding weighs this much.
    pub fn limit(&self, severity: Severity) -> Option<f64> {
        match severity {
            Severity::Note => self.note,
            Severity::Suspect => self.suspect,
            Severity::Invalid => self.invalid,
        }
    }

    /// Whether a lap is dirty by the share of it that this check found lost; never where the check does not judge laps.
    pub fn dirties(&self, share: f64) -> bool {
        self.lap.is_some_and(|limit| share.is_nan() || share > limit)
    }
}

/// The check of a code as people write it: `V03`, `v3`, `3`.
pub fn find(code: &str) -> Option<&'static Check> {
    let digits = code.strip_prefix(['v', 'V']).unwrap_or(code);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: usize = digits.parse().ok()?;
    CHECKS.iter().copied().find(|check| check.code[1..].parse() == Ok(number))
}

/// Leaves one mark a cause: takes out the marks that another one explains.
///
/// Waived marks of any severity are removed first and explain nothing. Then a covered mark is removed if a mark that covers it
/// is at least as severe: a note about one disturbed repetition cannot explain away a spread that makes the cell suspect.
/// Codes that are not in the table stay.
pub fn leave_causes<T>(marks: &mut Vec<T>, of: impl Fn(&T) -> (&str, Severity)) {
    let known = |mark: &T| find(of(mark).0).map(|check| (check, of(mark).1));
    let raised: Vec<_> = marks.iter().filter_map(known).collect();
    marks.retain(|mark| {
        known(mark).is_none_or(|(check, _)| !raised.iter().any(|(other, _)| other.waives.contains(&check.code)))
    });
    let raised: Vec<_> = marks.iter().filter_map(known).collect();
    marks.retain(|mark| {
        let explains = |check: &Check, severity| {
            raised.iter().any(|(cause, weight)| cause.covers.contains(&check.code) && *weight >= severity)
        };
        known(mark).is_none_or(|(check, severity)| !explains(check, severity))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_count_up_without_a_gap() {
        for (index, check) in CHECKS.iter().enumerate() {
            assert_eq!(check.code, format!("V{:02}", index + 1));
        }
    }

    #[test]
    fn limits_grow_with_severity_and_there_is_one() {
        for check in CHECKS {
            let limits: Vec<f64> = Severity::ALL.into_iter().filter_map(|severity| check.limit(severity)).collect();
            assert!(!limits.is_empty(), "{} can never be raised", check.code);
            assert!(limits.windows(2).all(|pair| pair[0] < pair[1]), "{}: {limits:?}", check.code);
            assert!(limits.iter().chain(&check.lap).all(|limit| limit.is_finite() && *limit >= 0.0), "{}", check.code);
        }
    }

    #[test]
    fn each_limit_is_raised_from_beyond_it_and_not_at_it() {
        for check in CHECKS {
            assert_eq!(check.severity(0.0), None, "{}: nothing is no finding", check.code);
            for severity in Severity::ALL {
                let Some(limit) = check.limit(severity) else { continue };
                assert!(check.severity(limit) < Some(severity), "{} at {limit}", check.code);
                assert_eq!(check.severity(limit + 1e-9), Some(severity), "{} beyond {limit}", check.code);
            }
        }
    }

    #[test]
    fn what_is_not_a_number_is_the_worst() {
        assert_eq!(V12.severity(f64::NAN), Some(Severity::Invalid));
        assert_eq!(V13.severity(f64::NAN), Some(Severity::Note));
        assert!(V03.dirties(f64::NAN) && !V13.dirties(f64::NAN));
    }

    #[test]
    fn texts_are_sentences() {
        for check in CHECKS {
            let texts = [check.cause, check.quantity, check.evidence, check.families, check.fix, check.source];
            for text in texts {
                let begins = text.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || c == '`');
                let neat = !text.contains('\n') && !text.contains("  ") && text.matches('`').count() % 2 == 0;
                assert!(begins && text.ends_with('.') && neat, "{}: {text:?}", check.code);
            }
            assert!(!check.title.ends_with('.') && check.title.len() <= 48, "{}", check.title);
        }
    }

    #[test]
    fn covered_codes_exist_and_nothing_explains_itself() {
        for check in CHECKS {
            for code in check.covers.iter().chain(check.waives) {
                let other = find(code).unwrap_or_else(|| panic!("{} names {code}", check.code));
                assert_eq!(other.code, *code, "{} spells it another way", check.code);
                assert_ne!(other.code, check.code);
                let back = other.covers.contains(&check.code) || other.waives.contains(&check.code);
                assert!(!back, "{} and {code} explain each other: both would go", check.code);
            }
            let mut all: Vec<_> = check.covers.iter().chain(check.waives).collect();
            assert!(all.is_sorted_by_key(|code| check.waives.contains(code)), "{}", check.code);
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), check.covers.len() + check.waives.len(), "{} names a code twice", check.code);
        }
    }

    #[test]
    fn codes_are_found_as_people_write_them() {
        for text in ["V03", "v03", "V3", "3", "003"] {
            assert_eq!(find(text).map(|check| check.code), Some("V03"), "{text}");
        }
        for text in ["", "V", "V00", "V99", "VV3", "+3", "V-3", "3.0", "٣", "99999999999999999999999"] {
            assert!(find(text).is_none(), "{text}");
        }
    }

    #[track_caller]
    fn check_causes(raised: &[(&'static str, Severity)], left: &[&str]) {
        let mut marks = raised.to_vec();
        leave_causes(&mut marks, |mark| *mark);
        let codes: Vec<&str> = marks.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, left, "{raised:?}");
    }

    #[test]
    fn one_cause_is_one_mark() {
        use Severity::{Invalid, Note, Suspect};
        check_causes(&[("V01", Invalid), ("V02", Invalid), ("V03", Invalid)], &["V01"]);
        check_causes(&[("V03", Suspect), ("V13", Suspect), ("V24", Invalid)], &["V03", "V24"]);
        // One disturbed repetition in thirty does not explain why the other twenty-nine differ.
        check_causes(&[("V03", Note), ("V13", Suspect)], &["V03", "V13"]);
        // Waiting for a strand is what sharing strands is.
        check_causes(&[("V19", Note), ("V03", Invalid), ("V18", Invalid), ("V13", Suspect)], &["V19", "V13"]);
        check_causes(&[("V77", Note), ("V13", Note)], &["V77", "V13"]);
        check_causes(&[], &[]);
    }

    #[test]
    fn a_cause_is_always_left() {
        // Of any marks raised together, of any severity, at least one remains to say why.
        for first in CHECKS {
            for second in CHECKS {
                for third in CHECKS {
                    let mut marks = vec![first, second, third];
                    leave_causes(&mut marks, |check| (check.code, Severity::Invalid));
                    assert!(!marks.is_empty(), "{} {} {}", first.code, second.code, third.code);
                }
            }
        }
    }
}
