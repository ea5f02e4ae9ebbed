//! What used the CPUs while something was measured, in words.

use std::collections::BTreeMap;

use charz_data::report::{Culprit, CulpritKind, Invocation};

/// What disturbed runs, over all runs that it disturbed.
#[derive(Clone, Debug, PartialEq)]
pub struct Disturber {
    /// What it is.
    pub kind: CulpritKind,
    /// Its name, which may be foreign words.
    pub name: String,
    /// Its process id.
    pub pid: Option<u32>,
    /// How many CPUs it used, or took away, while it was seen.
    pub cpus: f64,
}

/// What disturbed these runs, the most first.
pub fn disturbers<'a>(runs: impl Iterator<Item = &'a Invocation>) -> Vec<Disturber> {
    let mut found: BTreeMap<(CulpritKind, Option<u32>, &str), [u64; 2]> = BTreeMap::new();
    let evidence = runs.filter_map(|run| run.evidence.as_ref());
    for Culprit { kind, name, pid, cpu_ns, time_ns, .. } in evidence.flat_map(|evidence| &evidence.culprits) {
        let [used, time] = found.entry((*kind, *pid, name)).or_default();
        (*used, *time) = (used.saturating_add(*cpu_ns), time.saturating_add(*time_ns));
    }
    let mut sorted: Vec<_> = found.into_iter().collect();
    sorted.sort_by_key(|(_, [used, _])| std::cmp::Reverse(*used));
    let disturber = |((kind, pid, name), [used, time]): ((CulpritKind, Option<u32>, &str), [u64; 2])| Disturber {
        kind,
        name: name.to_owned(),
        pid,
        cpus: used as f64 / time.max(1) as f64,
    };
    sorted.into_iter().map(disturber).collect()
}

impl Disturber {
    /// `firefox (pid 812) used 0.6 CPUs`.
    pub fn clause(&self) -> String {
        let Disturber { kind, name, cpus, .. } = self;
        match kind {
            CulpritKind::Process => {
                let pid = self.pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
                format!("{name}{pid} used {cpus:.1} CPUs")
            }
            CulpritKind::Interrupts if name.is_empty() => format!("interrupts took {cpus:.1} CPUs"),
            CulpritKind::Interrupts => format!("interrupts took {cpus:.1} CPUs (the busiest just after: {name})"),
            CulpritKind::Quota => format!("the CPU quota of its control group took {cpus:.1} CPUs away"),
            CulpritKind::Host => format!("the host of this virtual machine took {cpus:.1} CPUs away (steal)"),
            CulpritKind::Unseen => {
                format!(
                    "something not visible from here used {cpus:.1} CPUs (another container, or very short processes)"
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
        ];
        for run in &mut cell.invocations {
            run.evidence.get_or_insert_with(Evidence::default).culprits = all.to_vec();
        }
        let told: Vec<String> = disturbers(cell.invocations.iter()).iter().map(Disturber::clause).collect();
        assert_eq!(told[0], "firefox (pid 812) used 0.6 CPUs");
        assert!(told.len() == 3 && told[1].contains("24 nic") && told[2].contains("quota"), "{told:?}");
        let report = fixtures::report(vec![cell]);
        let line = Answer::of(&report).quality.text();
        assert!(line.contains("firefox (pid 812) used 0.6 CPUs") && line.contains("24 nic"), "{line}");
        let page = page(&[Source { name: "report", report: &report }]);
        let doubt = &page.doubts[0].1;
        assert!(doubt.reason.contains("firefox (pid 812)"), "{}", doubt.reason);
    }
}
