//! What used the CPUs while something was measured, in words.

use charz_data::Arrange;
use charz_estimate::grouped;
use std::collections::BTreeSet;

use charz_data::report::{Culprit, CulpritKind, Evidence, Invocation};

/// What disturbed runs, over all runs after which charz looked.
#[derive(Clone, Debug, PartialEq)]
pub struct Disturber {
    /// What it is.
    pub kind: CulpritKind,
    /// Its name, which may be foreign words.
    pub name: String,
    /// Its process id; of several processes, that of one that used much.
    pub pid: Option<u32>,
    /// How many processes of that name and user there were at once.
    pub count: u64,
    /// Whether there were several, also one after another.
    pub is_several: bool,
    /// How many CPUs it used, or took away, in the mean.
    pub cpus: f64,
}

/// What disturbed these runs, the most first.
pub fn disturbers<'a>(runs: impl Iterator<Item = &'a Invocation>) -> Vec<Disturber> {
    let evidence = runs.filter_map(|run| run.evidence.as_ref());
    let looks: Vec<&Evidence> = evidence.filter(|evidence| evidence.looked_ns.is_some()).collect();
    let time = looks.iter().filter_map(|look| look.looked_ns).fold(0, u64::saturating_add);
    let all = grouped(looks.iter().flat_map(|look| &look.culprits), |culprit| {
        let name = if culprit.kind == CulpritKind::Process { culprit.bare_name() } else { "" };
        (culprit.kind, name, culprit.uid)
    });
    let disturber = |all: Vec<&Culprit>| {
        let most = all.iter().copied().max_by_key(|culprit| culprit.cpu_ns)?;
        let pids: BTreeSet<Option<u32>> = all.iter().map(|culprit| culprit.pid).collect();
        let at_once = all.iter().map(|culprit| culprit.others.saturating_add(1)).max()?;
        let used = all.iter().map(|culprit| culprit.cpu_ns).fold(0, u64::saturating_add);
        Some(Disturber {
            kind: most.kind,
            name: most.name.clone(),
            pid: most.pid,
            count: at_once,
            is_several: at_once > 1 || pids.len() > 1,
            cpus: used as f64 / time.max(1) as f64,
        })
    };
    let mut found: Vec<Disturber> = all.into_iter().filter_map(disturber).collect();
    found.retain(|disturber| disturber.cpus >= Culprit::LEAST);
    found.arrange_by(|one, other| other.cpus.total_cmp(&one.cpus));
    found
}

impl Disturber {
    /// Whether it is programs that could be stopped.
    pub(crate) fn is_of_programs(&self) -> bool {
        matches!(self.kind, CulpritKind::Process | CulpritKind::Unseen)
    }

    /// `firefox (pid 812)`, `12 × sh (pid 16829 and others)`.
    pub fn who(&self) -> String {
        let Disturber { name, count, .. } = self;
        match (self.pid, count) {
            (None, _) => name.clone(),
            (Some(pid), 0 | 1) if self.is_several => format!("{name} (pid {pid} and others)"),
            (Some(pid), 0 | 1) => format!("{name} (pid {pid})"),
            (Some(pid), _) => format!("{count} × {name} (pid {pid} and others)"),
        }
    }

    /// `firefox (pid 812) used 0.6 CPUs`.
    pub fn clause(&self) -> String {
        let Disturber { kind, name, cpus, .. } = self;
        match kind {
            CulpritKind::Process => format!("{} used {cpus:.1} CPUs", self.who()),
            CulpritKind::Interrupts if name.is_empty() => format!("interrupts took {cpus:.1} CPUs"),
            CulpritKind::Interrupts => format!("interrupts took {cpus:.1} CPUs (the busiest just after: {name})"),
            CulpritKind::Quota => format!("the CPU quota of its control group took {cpus:.1} CPUs away"),
            CulpritKind::Host => format!("the host of this virtual machine took {cpus:.1} CPUs away (steal)"),
            CulpritKind::Unseen => {
                format!(
                    "something not visible from here used {cpus:.1} CPUs (another container, another user's processes where \
                     hidepid hides them, or very short ones)"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Answer;
    use crate::page::{Source, page};
    use charz_data::report::{Evidence, Mark, Severity, Status, Unit, fixtures};

    #[test]
    fn each_disturber_is_named_once_and_where_its_cell_is_doubted() {
        let culprit = |kind, pid: Option<u32>, name: &str, cpu_ns| Culprit {
            kind,
            name: name.into(),
            pid,
            uid: None,
            others: 0,
            cpu_ns,
            time_ns: 100,
        };
        let mut cell = fixtures::cell("arith-int", 2, Unit::OpsPerSecond, 4e9);
        cell.status = Status::Suspect;
        cell.marks = vec![Mark { code: "V34".into(), severity: Severity::Suspect, reason: "others at work".into() }];
        let all = [
            culprit(CulpritKind::Process, Some(812), "firefox", 60),
            culprit(CulpritKind::Interrupts, None, "24 nic", 30),
            culprit(CulpritKind::Quota, None, "CPU quota", 20),
            culprit(CulpritKind::Unseen, None, "", 10),
        ];
        for run in &mut cell.invocations {
            run.evidence = Some(Evidence { culprits: all.to_vec(), looked_ns: Some(100), ..Evidence::default() });
        }
        let told: Vec<String> = disturbers(cell.invocations.iter()).iter().map(Disturber::clause).collect();
        assert_eq!(told[0], "firefox (pid 812) used 0.6 CPUs");
        assert!(told.len() == 4 && told[1].contains("24 nic") && told[2].contains("quota"), "{told:?}");
        assert!(told[3].contains("hidepid"), "{told:?}");
        // Over the time of all looks, and by what is shown.
        let run = |name: &str, others, cpu_ns| {
            let mut culprits = vec![Culprit { others, ..culprit(CulpritKind::Process, Some(9), name, cpu_ns) }];
            culprits.retain(|culprit| culprit.cpu_ns > 0);
            let evidence = Evidence { culprits, looked_ns: Some(100), ..Evidence::default() };
            Invocation { evidence: Some(evidence), ..cell.invocations[0].clone() }
        };
        // After the last of them nothing was found.
        let runs = [run("once", 0, 90), run("sh", 11, 80), run("sh", 10, 80), run("", 0, 0)];
        let told: Vec<String> = disturbers(runs.iter()).iter().map(Disturber::clause).collect();
        assert_eq!(told, ["12 × sh (pid 9 and others) used 0.4 CPUs", "once (pid 9) used 0.2 CPUs"]);
        let report = fixtures::report(vec![cell]);
        let line = Answer::of(&report).quality.text();
        assert!(line.contains("firefox (pid 812) used 0.6 CPUs") && line.contains("24 nic"), "{line}");
        let page = page(&[Source { name: "report", report: &report }]);
        let doubt = &page.doubts[0].1;
        assert!(doubt.reason.contains("firefox (pid 812)"), "{}", doubt.reason);
    }
}
