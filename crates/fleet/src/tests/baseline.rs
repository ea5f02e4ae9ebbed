//! Baselines: what they are made of, what is refused, and what a check concludes.

use charz_data::PageKind;
use charz_data::report::Status;

use super::*;
use crate::baseline::{Baseline, Finding, Level, Verdict};

fn baseline(reports: &[Report]) -> Baseline {
    Baseline::parse(&words::text(&Baseline::of(&visits_of(reports)).unwrap())).unwrap()
}

/// What a check of a report concludes: the level, and what is said first.
fn check(baseline: &Baseline, report: &Report, is_quick: bool) -> (Level, String) {
    let checked = baseline.check(&Visit::of(report, "file"), is_quick);
    let verdict = format!("{:?}", checked.verdict).replace('"', "");
    let said = match checked.verdict {
        Verdict::Compared { found: Some((found, _)), cause, .. } => {
            let said = match found {
                Finding::Claim(claim) => code(&claim),
                Finding::Slower { of, .. } => of.kernel,
                Finding::Quota(quota) => format!("quota {}", quota.quota),
                Finding::Busy(_) => "busy".into(),
            };
            if cause.is_some() { said + ", by a quota" } else { said }
        }
        Verdict::Compared { missing, other_pages, .. } if checked.level != Level::Ok => {
            format!("missing {missing:?}{other_pages:?}").replace('"', "")
        }
        Verdict::Compared { count, .. } => format!("{count:?}"),
        _ => verdict,
    };
    (checked.level, said)
}

/// A report and whether its check is quick; what that concludes.
type Row = (&'static str, bool, fn(&mut Report), Level, &'static str);

fn half(report: &mut Report) {
    report.host.cpu_quota = Some("8.00".into());
}

#[rustfmt::skip]
const CHECKS: &[Row] = &[
    ("well", false, |_| {}, Level::Ok, "[19, 19]"),
    ("slow by two kernels", false, |r| { scaled(r, "arith-float", 0.6); scaled(r, "arith-int", 0.4) }, Level::Critical, "arith-int"),
    ("a longer time", false, |r| scaled(r, "c2c", 0.5), Level::Critical, "c2c-cas"),
    ("half of its CPUs", false, |r| first(r, 8), Level::Warning, "Partly([8, 16])"),
    ("another size", false, |r| r.machine.strands.truncate(8), Level::Warning, "OtherSize([[8, 16, 2, 2], [16, 16, 2, 2]])"),
    ("another processor", false, |r| r.host.processor = Some("another".into()), Level::Unknown, "NoLike(another, [16, 16, 2, 2])"),
    ("another build", false, |r| r.tool.kernels = "another".into(), Level::Unknown, "OtherBuild(kernels' source code)"),
    ("a quota", false, half, Level::Warning, "quota 8.00"),
    ("a quota and what it may slow", false, |r| { half(r); scaled(r, "arith", 0.4) }, Level::Critical, "arith-int, by a quota"),
    ("other programs", false, |r| delivers(r, 0.5), Level::Warning, "busy"),
    ("without memory", false, |r| lacks(r, "mem"), Level::Unknown, "missing {(mem-read, None), (mem-write-data, None)}{}"),
    ("without memory, quick", true, |r| lacks(r, "mem"), Level::Ok, "[17, 19]"),
    ("noisy", false, |r| suspect(r, "mem-read"), Level::Unknown, "missing {(mem-read, None)}{}"),
    ("noisy, quick", true, |r| suspect(r, "mem-read"), Level::Unknown, "missing {(mem-read, None)}{}"),
    ("noisy alone", false, |r| suspect(r, ""), Level::Unknown, "Nothing(Some(Unmeasured { cells: 19, is_pending: false }))"),
    ("small pages", false, |r| of(r, "mem").for_each(|cell| cell.point.pages = Some(PageKind::Small)), Level::Unknown, "missing {}{(mem-read, Some(16)), (mem-write-data, Some(16))}"),
    ("other configurations", false, |r| r.cells.iter_mut().for_each(|cell| cell.mapping = "dumb".into()), Level::Unknown, "Nothing(None)"),
    ("memory of a guest", false, |r| { r.host.virtual_machine = Some(true); scaled(r, "mem", 0.05) }, Level::Warning, "mem-write-data"),
    ("arithmetic of a guest", false, |r| { r.host.virtual_machine = Some(true); scaled(r, "arith", 0.05) }, Level::Critical, "arith-int"),
];

#[test]
fn a_check_comes_to_what_a_report_shows() {
    let reports =
        well(6, |_, report| of(report, "mem").for_each(|cell| cell.point.pages = Some(PageKind::Transparent)));
    let baseline = baseline(&reports);
    let found = CHECKS.iter().map(|(name, is_quick, alter, level, said)| {
        let mut report = reports[2].clone();
        alter(&mut report);
        let (found, is_said) = check(&baseline, &report, *is_quick);
        ((*name).to_owned(), vec![found.to_string(), is_said], vec![level.to_string(), (*said).to_owned()])
    });
    compare(found.collect());
}

#[test]
fn a_slow_part_is_named_before_what_it_slows_and_a_quota_of_all_is_no_fault() {
    let speed = |_: usize, _: usize, spot: &Spot| {
        [if spot.cpu == 5 && spot.kernel.starts_with("arith") { 0.9 } else { 1.0 }, 1.0]
    };
    let mut slow = drawn(5, SHAPE, [1, 1], speed, |_, _, _| {}).remove(0);
    let mut reports = well(6, |_, _| {});
    let of_well = baseline(&reports);
    assert_eq!(check(&of_well, &slow, false), (Level::Critical, "slow Core 5 -10 arith-float,arith-int".into()));
    scaled(&mut slow, "", 0.3);
    assert_eq!(check(&of_well, &slow, false), (Level::Critical, "slow Core 5 -10 arith-float,arith-int".into()));
    // A lone node is a baseline, and what its first core does is usual there.
    assert_eq!(check(&baseline(&reports[..1]), &reports[0], false).0, Level::Ok);
    reports.iter_mut().for_each(half);
    assert_eq!(check(&baseline(&reports), &reports[0], false).0, Level::Ok, "where all have the quota");
}

#[test]
fn what_a_site_keeps_on_all_nodes_makes_none_of_them_partial() {
    let speed = |host: usize, _: usize, spot: &Spot| {
        [if host == 7 && spot.cpu == 5 && spot.kernel.starts_with("arith") { 0.9 } else { 1.0 }, 1.0]
    };
    for (cpus, state, levels) in [
        (14, [1, 0, 0, 11], [Level::Critical, Level::Ok]),
        (12, [1, 0, 0, 11], [Level::Critical, Level::Ok]),
        (8, [0, 12, 0, 0], [Level::Warning; 2]),
        (1, [0, 12, 0, 0], [Level::Warning; 2]),
    ] {
        let reports = drawn(51, SHAPE, [12, 1], speed, |_, _, report| {
            lacks(report, "mem");
            lacks(report, "chase");
            first(report, cpus);
        });
        assert_eq!(states(&judged(&reports)), state, "{cpus}");
        let baseline = baseline(&reports);
        assert_eq!([7, 3].map(|host| check(&baseline, &reports[host], false).0), levels, "{cpus}");
    }
}

/// Which of how many nodes differ, how, and a warning of the baseline that is made of all of them.
#[test]
fn a_baseline_says_what_it_is_made_of() {
    let pending = |report: &mut Report| {
        report.complete = false;
        of(report, "mem-read").for_each(|cell| *cell = cell.clone().unmeasured(Status::Pending, ""));
    };
    let governed = |report: &mut Report| {
        report.host.frequency_governor = Some("powersave".into());
        scaled(report, "arith", 0.8);
    };
    type Alter<'a> = &'a dyn Fn(&mut Report);
    let rows: [(usize, usize, Alter<'_>, &str); 8] = [
        (0, 12, &|_| {}, ""),
        (6, 12, &governed, "6 of 12 nodes were left out as slow; the values are those of 6"),
        (5, 8, &|report| scaled(report, "arith", 0.5), "5 of 8 nodes may be slow; the values are those of 3"),
        (1, 4, &pending, "1 of 4 reports incomplete"),
        (4, 4, &pending, "4 of 4 reports incomplete, no values of mem-read"),
        (4, 12, &|report| first(report, 1), "4 of 12 reports are of a part of their CPUs, and were left out"),
        (12, 12, &|report| first(report, 1), "12 of 12 reports are of a part of their CPUs"),
        (1, 8, &|report| scaled(report, "arith", 0.5), ""),
    ];
    for (few, nodes, alter, warning) in rows {
        let reports = well(nodes, |host, report| {
            if host < few {
                alter(report)
            }
        });
        let made = Baseline::of(&visits_of(&reports)).unwrap();
        let warnings = words::warnings(&made);
        let is_said = warnings.iter().any(|own| own.contains(warning)) && words::text(&made).contains(warning);
        assert!(is_said || (warning.is_empty() && warnings.is_empty()), "{few} of {nodes}: {warnings:?}");
    }
}

#[test]
fn tolerances_are_those_of_nodes_and_not_of_their_reports() {
    let of = |nodes: &[usize], visits: usize| {
        let all = drawn(
            14,
            SHAPE,
            [2, 6],
            |_, _, _| [1.0; 2],
            |_, _, report| report.cells.retain(|cell| *cell.kernel == *"c2c-cas"),
        );
        all.into_iter()
            .enumerate()
            .filter(|(at, _)| nodes.contains(&(at / 6)) && at % 6 < visits)
            .map(|own| own.1)
            .collect::<Vec<_>>()
    };
    let text = |reports: &[Report]| words::text(&Baseline::of(&visits_of(reports)).unwrap());
    let twice = [of(&[0], 2), of(&[0], 2)].concat();
    assert_eq!(text(&twice), text(&of(&[0], 2)), "reports that come several times");
    let tolerances =
        |text: &str| text.lines().filter(|line| line.starts_with("warning = ")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(tolerances(&text(&of(&[0, 1], 6))), tolerances(&text(&of(&[0], 1))), "too few nodes for a spread");
}

#[test]
fn a_baseline_that_cannot_be_checked_is_refused_and_one_that_is_strict_is_obeyed() {
    let mut reports = well(12, |_, _| {});
    let text = words::text(&Baseline::of(&visits_of(&reports)).unwrap());
    let parts = "parts = { warning = 0.03";
    let configuration = text.lines().find(|line| line.starts_with("configuration")).unwrap();
    for (from, to) in [
        (parts, "parts = { warning = nan"),
        (parts, "parts = { warning = -0.03"),
        (parts, "parts = { warning = 0.5"),
        ("\nwarning = 0.", "\nwarning = 7."),
        (configuration, "configuration = \"rr\""),
        ("16 CPUs, ", ""),
    ] {
        assert!(text.contains(from), "{from:?}: {text}");
        assert!(Baseline::parse(&text.replacen(from, to, 1)).is_err(), "{from:?}, {to:?}");
    }
    for text in ["", "group = 1", "[[group]]\nname = 1", "[[group]]\nname = 'x'"] {
        assert!(Baseline::parse(text).is_err(), "{text:?}");
    }
    assert!(Baseline::of(&[]).is_err());
    let edited = text.replacen("nodes = 12", "nodes = 12\nfoo = 1", 1);
    let line = edited.lines().position(|line| line == "foo = 1").unwrap() + 1;
    let broken = Baseline::parse(&edited).unwrap_err().to_string();
    assert!(broken.contains(&format!("line {line}:")) && !broken.contains("\\n"), "{broken}");
    // A core that is 2% slower.
    let laps = of(&mut reports[7], "arith").flat_map(|cell| &mut cell.invocations).flat_map(|one| &mut one.runs);
    laps.flat_map(|run| &mut run.laps).filter(|lap| lap.seat == Some(5)).for_each(|lap| lap.end_ns += lap.end_ns / 50);
    let strict = text.replace(parts, "parts = { warning = 0.014");
    assert_eq!(check(&Baseline::parse(&text).unwrap(), &reports[7], false).0, Level::Ok);
    assert_eq!(
        check(&Baseline::parse(&strict).unwrap(), &reports[7], false),
        (Level::Warning, "slow Core 5 -2 arith-float,arith-int".into())
    );
}

#[test]
fn performance_data_has_no_exponents() {
    let reports = well(6, |_, _| {});
    let line = words::check_line(&baseline(&reports).check(&Visit::of(&reports[3], "file"), false));
    let data = line.split(" | ").nth(1).unwrap();
    let fields: Vec<&str> = data.split(' ').flat_map(|own| own.split('=').nth(1).unwrap().split(';')).collect();
    let is_plain = |field: &&str| field.trim_end_matches(':').chars().all(|mark| "-.0123456789".contains(mark));
    assert!(fields.len() > 30 && fields.iter().all(is_plain), "{line}");
}
