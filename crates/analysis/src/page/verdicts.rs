//! Which mapping suits a kernel best, what leaving it to the system costs, and where it saturates: in words.

use super::cells::CellsByKernel;
use crate::point;
use crate::verdict::{self, Auto, Loss, Saturation};
use charz_data::escape::counted;
use charz_data::report::Report;
use charz_data::{Role, units};

/// What comes out at a kernel at a point, in words. Names are foreign text, as the report has them; a number that something speaks
/// against has its question mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The kernel, and the parameters that the sweep varies for it.
    pub kernel: String,
    pub mapping: String,
    pub doubtful: bool,
    /// Others whose numbers are not apart from it.
    pub alike: Vec<String>,
    pub workers: u64,
    pub best: String,
    /// From how many workers on this mapping gives nothing more; nothing where that has no meaning or is not known.
    pub saturates: Option<String>,
    /// What leaving threads to the system comes to, with as many workers.
    pub auto: String,
}

/// Those that compare mappings, or say all there is of a kernel, each with its report.
pub(super) fn shown(sorted: &CellsByKernel<'_>) -> Vec<(usize, Verdict)> {
    let each = sorted.verdicts.iter().enumerate();
    let telling = each.flat_map(|(source, all)| {
        all.iter()
            .filter(move |verdict| is_telling(sorted.sources[source].report, verdict))
            .map(move |verdict| (source, Verdict::of(verdict)))
    });
    telling.collect()
}

/// Which pair of strands is nearest is told beside their square, and where a single mapping was measured with one number of workers,
/// nothing can be the best.
fn is_telling(report: &Report, verdict: &verdict::Verdict<'_>) -> bool {
    let compares = verdict.mappings > 1 || !verdict.saturation.is_empty();
    verdict.is_telling() && compares && !matches!(report.role(verdict.kernel), Role::LineTransfer(_))
}

impl Verdict {
    /// That on the cells of a kernel at a point.
    pub fn of(verdict: &verdict::Verdict<'_>) -> Verdict {
        let best = verdict.best.cell;
        Verdict {
            kernel: format!("{}{}", verdict.kernel, point::label(&verdict.point)),
            mapping: best.mapping.clone(),
            doubtful: verdict.doubtful,
            alike: verdict.alike.iter().map(|other| other.cell.mapping.clone()).collect(),
            workers: best.workers,
            best: verdict.best.shown(),
            saturates: verdict.saturates().map(saturation),
            auto: match &verdict.auto {
                Auto::Unmeasured => "not measured".to_owned(),
                Auto::Best => "it is the best".to_owned(),
                Auto::Other(loss) => against(loss),
            },
        }
    }
}

fn saturation(found: &Saturation<'_>) -> String {
    let workers = found.workers.map_or_else(|| format!("not by {}", found.most), |workers| workers.to_string());
    format!("{workers}{}", units::doubt(found.doubtful))
}

/// How much less auto gives, or longer takes; a difference that the intervals of the two leave open says nothing.
pub(super) fn against(loss: &Loss<'_>) -> String {
    let share = units::percent(loss.share.abs());
    // A suspect number may be the better one and yet not the best.
    let lost = match (loss.number.cell.unit.more_is_better(), loss.share < 0.0) {
        (true, true) => format!("gives {share} more"),
        (true, false) => format!("loses {share}"),
        (false, false) => format!("takes {share} longer"),
        (false, true) => format!("takes {share} less"),
    };
    let lost = format!("{lost}{}", units::doubt(loss.doubtful));
    match loss.open {
        None => format!("{lost}, interval unknown"),
        Some(true) => format!("{lost}, within the intervals"),
        Some(false) => lost,
    }
}

/// What is to be seen in the figure of a kernel over workers, a sentence each.
pub(super) fn sentences(verdict: &verdict::Verdict<'_>) -> Vec<String> {
    let best = verdict.best.cell;
    let mut words = Vec::new();
    let alike: Vec<&str> = verdict.alike.iter().map(|other| other.cell.mapping.as_str()).collect();
    let alike =
        if alike.is_empty() { String::new() } else { format!(", and within its interval {}", alike.join(", ")) };
    let what = if best.unit.more_is_better() { "most" } else { "least" };
    let value = verdict.best.shown();
    words.push(format!(
        "The {what} is {value} under {}{} with {}{alike}",
        best.mapping,
        units::doubt(verdict.doubtful),
        counted(best.workers as usize, "worker")
    ));
    if let Auto::Other(loss) = &verdict.auto {
        words.push(format!("With as many workers auto {}", against(loss)));
    }
    words.extend(verdict.saturation.iter().filter_map(|found| {
        let from = counted(found.workers? as usize, "worker");
        let doubt = units::doubt(found.doubtful);
        let share = verdict::SATURATED * 100.0;
        Some(format!("{} comes to {share:.0}% of its best with {from}{doubt}", found.mapping))
    }));
    words
}
