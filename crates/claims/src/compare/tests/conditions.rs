//! Under which conditions two reports are compared, and how surely.

use super::*;

#[test]
fn what_was_delivered_is_compared_on_demand() {
    let base = fixtures::report(vec![fixtures::cell("a", 1, Unit::OpsPerSecond, 1e9)]);
    let mut new = base.clone();
    // Half of the time went to others, which blocks do not show.
    new.cells[0].invocations.iter_mut().flat_map(|one| &mut one.runs).for_each(|run| run.interval_ns *= 2);
    // One long run that lost most of its time weighs more in all work over all time than among the runs, which are compared.
    new.cells[0].delivered = new.cells[0].delivered.map(|found| Measured { value: found.value / 9.0, ..found });
    new.cells[0].estimator = Estimator::Best;
    for (quantity, verdict, share) in
        [(Quantity::Capacity, Verdict::Same, 1.0), (Quantity::Delivered, Verdict::Slower, 0.5)]
    {
        let found = compare([&base, &new], &Options { quantity, ..CROSS }).unwrap();
        let row = &found.rows[0];
        assert_eq!((row.verdict, row.shown.despite.is_empty()), (verdict, quantity == Quantity::Delivered), "{row:?}");
        let [base, new] = row.sides.map(|side| side.unwrap().value.unwrap());
        assert!((new / base / share - 1.0).abs() < 1e-9, "{new} and {base}");
    }
}

/// On a host that moves virtual CPUs, in between and on either side.
#[test]
fn what_was_measured_elsewhere_is_not_compared_and_open() {
    let of = |ns, value| fixtures::cell("mem-read", 2, Unit::BytesPerSecond, value).seated(&[0, 1]).apart(ns);
    let report = |ns, value| fixtures::report(vec![of(ns, value), fixtures::cell("calm", 1, Unit::OpsPerSecond, 1e9)]);
    let (base, near, far) = (report(64.0, 47e9), report(75.0, 47e9), report(235.0, 79e9));
    let expected = "Uncompared Unlike(Apart([64.0, 235.0]), Some(OtherMachine)), Same";
    check(&base, &far, &Options::default(), expected);
    assert_eq!(compare([&base, &far], &Options::default()).unwrap().totals.open, 1);
    check(&base, &near, &Options::default(), "Same, Same");
    check(&base, &far, &CROSS, "Faster, Same");
    let turns = interleaved([&base, &far], &Options::default());
    assert_eq!(turns.rows[0].reason, Some(Reason::Unlike(Unlike::Apart([64.0, 235.0]), None)), "no option allows it");
    // Sides that sit elsewhere on purpose are as far apart as they are.
    let mut elsewhere = far.clone();
    elsewhere.cells[0] = of(235.0, 79e9).seated(&[0, 2]);
    assert_eq!(interleaved([&base, &elsewhere], &Options::default()).rows[0].verdict, Verdict::Faster);
}

/// A thread bound to each of two CPUs, and two that share one of them most of the time.
#[test]
fn a_capacity_does_not_show_what_sharing_a_cpu_costs() {
    let side = |mapping: &str, factor: f64, share: f64, strands: [u32; 2]| {
        let cell = fixtures::cell("arith-int", 2, Unit::OpsPerSecond, 1e9).under(mapping);
        let cell = charz_estimate::fixtures::valued(cell, around(factor * 1e9)).delivering(share).seated(&strands);
        let seats = if mapping == "rr" { vec![Some(0), Some(1)] } else { vec![None; 2] };
        fixtures::report(vec![Cell { seats, ..cell }])
    };
    let bound = side("rr", 1.0, 0.9, [0, 1]);
    let [shared, little, slow] =
        [(1.0, 0.5), (1.0, 0.92), (0.8, 0.5)].map(|(factor, share)| side("auto", factor, share, [0, 0]));
    let floating = side("auto", 1.0, 0.99, [0, 1]);
    for (base, new, expected) in [
        (&bound, &side("auto", 1.0, 0.9, [0, 1]), Verdict::Same),
        (&bound, &shared, Verdict::Inconclusive),
        (&bound, &little, Verdict::Inconclusive),
        // What is slower even so is slower.
        (&bound, &slow, Verdict::Slower),
        // Of two sides that float the one shared a CPU.
        (&floating, &shared, Verdict::Inconclusive),
        (&shared, &floating, Verdict::Inconclusive),
        (&slow, &floating, Verdict::Faster),
        (&side("auto", 1.0, 0.57, [0, 0]), &shared, Verdict::Same),
    ] {
        let row = interleaved([base, new], &Options::default()).rows.remove(0);
        assert_eq!(row.verdict, expected, "{row:?}");
    }
}

/// Under a mapping without seats only the allowed CPUs say where threads may have been.
#[test]
fn threads_that_float_over_other_cpus_are_not_compared() {
    let of = |allowed: u32| {
        let floating = fixtures::cell("arith-int", 2, Unit::OpsPerSecond, 1e9).under("auto");
        let mut report = fixtures::report(vec![floating, cell("a", &around(1.0))]).on(4);
        report.machine.strands.iter_mut().for_each(|strand| strand.usable = strand.os_id < allowed);
        report
    };
    let (base, new) = (of(4), of(2));
    let expected = "Uncompared Unlike(Allowed([Cpus([0, 1, 2, 3]), Cpus([0, 1])]), Some(OtherMachine)), Same";
    check(&base, &new, &Options::default(), expected);
    check(&base, &new, &CROSS, "Same, Same");
}

#[test]
fn what_is_worth_knowing() {
    let notes = |base: &Report, new: &Report| format!("{:?}", compare([base, new], &CROSS).unwrap().notes);
    let mut base = report(&[("a", &around(1.0)[..6])]);
    base.plan.program = Some(Program::new("./a", ProgramValue::Last, ReportedUnit::RATE));
    base.host.kernel = Some("Linux 6.8.0-45-generic".into());
    let other = Report { id: "2".into(), ..base.clone() };
    let hidden = anonymous(other.clone());
    assert_eq!([notes(&base, &base), notes(&base, &other), notes(&base, &hidden)], ["[Same]", "[]", "[]"]);
    assert_eq!(notes(&hidden, &anonymous(Report { id: "3".into(), ..base.clone() })), "[Unnamed]");
    check(&base, &hidden, &Options::default(), "refused Term(\"command\"");
    type Change = fn(&mut Report);
    let table: [(Change, &str); 6] = [
        (|r| r.host.frequency_governor = Some("powersave".into()), "Surroundings(\"frequency governor\""),
        (
            |r| r.host.cpu_quota = Some("0.50".into()),
            "Surroundings(\"CPU quota\", [Some(Text(\"none\")), Some(Text(\"0.50\"))",
        ),
        (|r| r.host.timer_slack_ns = Some(1), ""),
        (|r| r.complete = false, "Incomplete { side: 1 }"),
        (|r| r.schema.minor += 1, "Later { side: 1, minor: "),
        // As a system of a later version describes the machine of an earlier one.
        (
            |r| r.machine.strands.iter_mut().for_each(|cpu| (cpu.groups, cpu.caches) = (vec![9], vec![9])),
            "Described([Caches, Groups])",
        ),
    ];
    for (change, expected) in table {
        let mut new = other.clone();
        new.schema.minor = charz_data::report::SCHEMA_MINOR;
        change(&mut new);
        let found = notes(&base, &new);
        assert!(found.starts_with(&format!("[{expected}")), "{found} instead of {expected}");
    }
}

#[test]
fn no_verdict_is_finer_than_stamped_times() {
    let sampled = |nanos: f64, resolution_ns: u64| {
        let mut report = report(&[]);
        report.cells = vec![Cell { unit: Unit::NanosecondsSampled, ..cell("a", &around(nanos)) }];
        report.timer = Some(Timer { overhead_ns: 20, resolution_ns, worst_gap_ns: 1000, skew_ns: None });
        report
    };
    for (base, new, step, expected) in [
        (24.0, 25.5, 1, "Inconclusive Coarse"),
        (24.0, 24.0, 1, "Inconclusive Coarse"),
        (24.0, 48.0, 1, "Slower"),
        // Bins of 1.3%.
        (2400.0, 2550.0, 1, "Slower"),
        (2400.0, 2400.0, 1, "Same"),
        (2400.0, 2550.0, 100, "Inconclusive Coarse"),
    ] {
        check(&sampled(base, step), &sampled(new, step), &Options::default(), expected);
    }
}

#[test]
fn the_margin_is_widened_by_what_one_placement_shows_under_two_names() {
    let one =
        |kernel: &str, mapping: &str, value: f64| Cell { mapping: mapping.into(), ..cell(kernel, &around(value)) };
    let [base, new] =
        [1.0, 0.9].map(|value| fixtures::report(vec![one("a", "round-robin", value), one("b", "round-robin", value)]));
    let apart = || one("b", "dumb", 1.2);
    for (more, side, margin, verdict) in [
        (None, 0, 0.02, Verdict::Slower),
        (Some(one("b", "dumb", 1.01)), 0, 0.02, Verdict::Slower),
        (Some(apart()), 0, 0.2, Verdict::Same),
        (Some(one("b", "dumb", 1.08)), 1, 0.2, Verdict::Same),
        (Some(apart().seated(&[1])), 0, 0.02, Verdict::Slower),
        (Some(Cell { seats: vec![None], ..apart() }), 0, 0.02, Verdict::Slower),
        (Some(apart().suspect()), 0, 0.02, Verdict::Slower),
        (Some(apart().at(Point { size_bytes: Some(64), ..Point::default() })), 0, 0.02, Verdict::Slower),
    ] {
        let mut sides = [base.clone(), new.clone()];
        sides[side].cells.extend(more);
        let found = compare([&sides[0], &sides[1]], &Options::default()).unwrap();
        let [a, b] = [0, 1].map(|at| (found.rows[at].shown.margin, found.rows[at].verdict));
        assert_eq!((found.margin, a), (0.02, (0.02, Verdict::Slower)));
        assert!((b.0 - margin).abs() < 1e-9 && b.1 == verdict, "{b:?}");
        let shown = found
            .repeat
            .filter(|repeat| repeat.difference > 0.02)
            .map(|repeat| (repeat.side, repeat.cells.map(|cell| &*cell.kernel)));
        assert_eq!(shown, (margin > 0.02).then_some((side, ["b", "b"])));
    }
    // Threads that share nothing are the same on the same CPUs in any order; of those that pass something on, neighbours matter.
    for (kernel, margin) in [("mem-read", 0.2), ("ring-mutex", 0.02)] {
        let one = |mapping: &str, seats: &[u32], value| cell(kernel, &around(value)).under(mapping).seated(seats);
        let mut report = fixtures::report(vec![one("round-robin", &[0, 1], 1.0), one("dumb", &[1, 0], 1.2)]);
        report.cells.iter_mut().for_each(|cell| cell.workers = 2);
        let found = compare([&report; 2], &Options::default()).unwrap().rows[0].shown.margin;
        assert!((found - margin).abs() < 1e-9, "{kernel}: {found}");
    }
}

prop_compose! {
    /// Two reports with the same cells, the second one up to a tenth better or worse.
    fn two_reports()(cells in prop::collection::vec(
        (1..16_usize, 1..16_usize, 0.0..0.2_f64, 0.9..1.1_f64, any::<[u8; 16]>(), any::<bool>()), 1..12,
    )) -> [Report; 2] {
        [false, true].map(|new| fixtures::report(cells.iter().enumerate().map(|(at, (few, many, spread, factor, draws, times))| {
            let (count, factor) = if new { (*many, *factor) } else { (*few, 1.0) };
            let draw = |draw: &u8| 1e9 * factor * (1.0 + spread * f64::from(*draw) / 256.0);
            let draws = draws.iter().cycle().skip(usize::from(new) * 5);
            let unit = if *times { Unit::Nanoseconds } else { Unit::OpsPerSecond };
            Cell { unit, ..cell(&format!("kernel-{at}"), &draws.map(draw).take(count).collect::<Vec<f64>>()) }
        }).collect()))
    }
}

proptest! {
    #[test]
    fn a_report_does_not_differ_from_itself([one, other] in two_reports()) {
        for report in [one, other] {
            let totals = compare([&report; 2], &Options::default()).unwrap().totals;
            prop_assert_eq!((totals.slower, totals.faster), (0, 0));
        }
    }

    #[test]
    fn exchanging_the_reports_exchanges_the_verdicts([one, other] in two_reports()) {
        let there = compare([&one, &other], &Options::default()).unwrap();
        let back = compare([&other, &one], &Options::default()).unwrap();
        for (there, back) in there.rows.iter().zip(&back.rows) {
            let exchanged = match there.verdict {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                verdict => verdict,
            };
            prop_assert_eq!(exchanged, back.verdict);
            prop_assert_eq!(&there.reason, &back.reason);
            if let (Some(there), Some(back)) = (there.shown.effect, back.shown.effect) {
                prop_assert!((there * back - 1.0).abs() < 1e-9, "{} and {}", there, back);
            }
        }
    }

    #[test]
    fn neither_the_direction_of_time_nor_the_scale_matters([one, other] in two_reports(), scale in 0.5..2.0_f64) {
        let shown = |[base, new]: &[Report; 2]| -> Vec<(Verdict, Shown)> {
            compare([base, new], &Options::default()).unwrap().rows.iter().map(|row| (row.verdict, row.shown.clone())).collect()
        };
        let mut turned = [one, other];
        let found = shown(&turned);
        for invocations in turned.iter_mut().flat_map(|report| &mut report.cells).map(|cell| &mut cell.invocations) {
            invocations.reverse();
        }
        prop_assert_eq!(&shown(&turned), &found);
        let values = turned.iter_mut().flat_map(|report| &mut report.cells).flat_map(|cell| &mut cell.invocations);
        values.filter_map(|invocation| invocation.value.as_mut()).for_each(|value| *value *= scale);
        for ((_, own), (_, scaled)) in found.iter().zip(&shown(&turned)) {
            prop_assert!((own.effect.unwrap() / scaled.effect.unwrap() - 1.0).abs() < 1e-9);
        }
    }

    /// Each cell of either report is in exactly one row.
    #[test]
    fn no_cell_is_lost(ours in prop::collection::btree_set(0..20_u8, 1..20), theirs in prop::collection::btree_set(0..20_u8, 1..20)) {
        let [one, other] = [&ours, &theirs]
            .map(|names| fixtures::report(names.iter().map(|name| cell(&name.to_string(), &around(1.0))).collect()));
        let Ok(found) = compare([&one, &other], &Options::default()) else {
            prop_assert!(ours.is_disjoint(&theirs));
            return Ok(());
        };
        let mut named: Vec<u8> = found.rows.iter().map(|row| row.cell().kernel.parse().unwrap()).collect();
        named.sort_unstable();
        prop_assert!(named.iter().eq(ours.union(&theirs)), "{:?}", named);
        prop_assert_eq!(found.totals.compared(), ours.intersection(&theirs).count());
    }
}
