//! The documents against the catalog of kernels.

use super::KERNELS;
use charz_data::Hardware;
use charz_data::report::{Growth, GrowthStep, Halt, Report, Sharing, fixtures};
use charz_estimate::fixtures::report;
use charz_measure::invoke;
use charz_measure::plan::kernel;
use charz_replicate::{CheckedClaim, DOCUMENTS, Document, Figure, GapKind, Target, Verdict, Why, evaluate};

const MACHINES: [&str; 3] =
    ["Core:2 PU:1", "NUMA:2 Package:2 Core:3 PU:2", "Package:4 NUMA:1 L3:1 Core:16 Group:2 PU:4"];

fn figures(document: &Document) -> Vec<&Figure> {
    document.figures.iter().collect()
}

/// A report that has every cell of the document, with every number that a kernel may have.
fn full_report(document: &Document, synthetic: &str) -> Report {
    let mut report = report(synthetic);
    report.host.claimed_hz = Some(2e9);
    for spec in document.cells(&figures(document), &Target::new(&report.machine, KERNELS)) {
        let pairs: Vec<(u64, u64)> = (0_u64..1000).map(|nth| (1001 + nth % 20, 1001 + (nth % 20).pow(2))).collect();
        let sharing = Sharing {
            attempts_per_success: 1.0,
            waited: 0.5,
            wait_share: Some(0.25),
            fairness: 1.0,
            most_to_least: None,
        };
        let unit = invoke::unit(kernel(&spec).unwrap(), None);
        let cell = fixtures::cell(&spec.kernel, spec.workers, unit, 1000.0).under(&spec.mapping).at(spec.point());
        let hardware = Hardware {
            mips: Some(1000.0),
            cpi: Some(1.0),
            cache_miss_share: Some(0.25),
            efficiency: Some(0.25),
            running_share: 1.0,
            ..Hardware::default()
        };
        let mut cell = cell.contention(sharing).timed(&pairs).counted(hardware);
        cell.level = spec.level;
        for run in cell.invocations.iter_mut().flat_map(|one| &mut one.runs) {
            let step = |size| GrowthStep {
                size,
                time_ns: size,
                activities: 1,
                threads: 1,
                attempts: 1,
                failures: 1,
                ..GrowthStep::default()
            };
            run.growth = Some(Box::new(Growth::new((1..=16).map(step).collect(), Halt::Time)));
        }
        report.cells.push(cell);
    }
    report
}

#[test]
fn every_row_of_a_full_report_has_a_number() {
    for synthetic in MACHINES {
        for document in DOCUMENTS.iter() {
            let report = full_report(document, synthetic);
            for figure in evaluate(document, &figures(document), &report, Some(&report), KERNELS).figures {
                let name = format!("{} {} on {synthetic}", document.citation.name, figure.number);
                for row in figure.rows.iter().filter(|row| row.kernel.is_some()) {
                    let is_beyond = row.gap.as_ref().map(Why::kind) == Some(GapKind::Machine);
                    assert!(row.here.is_some() || is_beyond, "{name}: {row:?}");
                }
                // The last machine has all that a claim requires; equal values leave most of them open.
                let decided = |claim: &CheckedClaim<'_>| claim.verdict != Verdict::Impossible;
                assert!(synthetic != MACHINES[2] || figure.claims.iter().all(decided), "{name}: {:?}", figure.claims);
            }
        }
    }
}
