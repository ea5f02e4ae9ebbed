//! Which mapping is best.

use charz_claims::verdict::Verdict;
use charz_data::units;

use crate::estimate::NONE;

/// Mappings that equal the best by their intervals (`a = b`), or that do not differ from it significantly (`a or b`), and `~` in doubt.
pub fn joined(best: &str, alike: &[&str], is_equal: bool, doubtful: bool) -> String {
    let all: Vec<&str> = [best].into_iter().chain(alike.iter().copied()).collect();
    all.join(if is_equal { " = " } else { " or " }) + units::doubt(doubtful)
}

/// The best mapping with those that are as good, or that do not differ from it significantly, and `~` where it may be another.
pub fn mapping(verdict: &Verdict<'_>) -> String {
    let alike: Vec<&str> = verdict.alike.iter().map(|other| other.cell.mapping.as_str()).collect();
    joined(&verdict.best.cell.mapping, &alike, verdict.is_equal, verdict.doubtful && verdict.beside > 1)
}

/// The same in a column, where all mappings are as good or nothing was compared.
pub fn winner(verdict: &Verdict<'_>) -> String {
    let is_any = verdict.alike.len() + 1 == verdict.beside && verdict.lacking.is_empty();
    match verdict.beside {
        ..2 => NONE.to_owned(),
        _ if is_any && verdict.is_equal => "any".to_owned(),
        _ if is_any => "no clear winner".to_owned(),
        _ => mapping(verdict),
    }
}
