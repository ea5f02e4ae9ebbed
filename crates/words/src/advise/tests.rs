//! Advice on synthetic machines of which the best placement is known.

use charz_claims::advise::{advise, validate};
use charz_data::cpulist;
use charz_data::report::fixtures::{cell, report};
use charz_data::report::{Point, Report, Severity, Unit};
use charz_data::{Better, Program, ProgramValue, ReportedUnit};
use charz_estimate::fixtures::valued;
use charz_estimate::{AUTO, Estimate, Estimates, SATURATED};
use charz_stats::ratio_of_estimates;
use fastrand::Rng;
use proptest::prelude::*;

use super::*;
use crate::launch::PROGRAM;

fn rate(mapping: &str, threads: u64, value: f64) -> Cell {
    let cell = cell("mem-read", threads, Unit::BytesPerSecond, value * 1e9).under(mapping);
    let seats: Vec<u32> = (0..threads as u32).map(|rank| rank ^ u32::from(mapping != "rr")).collect();
    if mapping == AUTO { cell } else { cell.seated(&seats) }
}

/// Has a look at the only advice on these cells, on a machine with so many CPUs.
#[track_caller]
fn only<T>(cpus: u32, cells: Vec<Cell>, look: impl Fn(&Advice<'_>) -> T) -> T {
    let report = report(cells).on(cpus);
    let advice = advise(&Estimates::of(&report));
    assert_eq!(advice.len(), 1, "{advice:#?}");
    look(&advice[0])
}

#[track_caller]
fn check_placement(cpus: u32, cells: Vec<Cell>, expected: (&str, u64)) {
    let found = only(cpus, cells, |advice| (advice.best.cell.mapping.clone(), advice.best.cell.workers));
    assert_eq!((found.0.as_str(), found.1), expected);
}

#[test]
fn the_fewest_threads_within_5_percent_of_the_best_are_advised() {
    let of = |two: f64, width: f64| {
        [(1, 10.0), (2, two), (4, 20.0)].map(|(threads, value)| rate("rr", threads, value).within(width)).into()
    };
    check_placement(4, of(19.2, 0.005), ("rr", 2));
    check_placement(4, of(18.8, 0.005), ("rr", 4));
    // Its interval reaches beyond: it may lose 7%.
    check_placement(4, of(19.2, 0.02), ("rr", 4));
    // The more threads, the more loads, until each takes as many times longer.
    let time =
        |mapping, threads, ns| cell("chase-random", threads, Unit::NanosecondsPerStep, ns).under(mapping).within(0.005);
    check_placement(4, vec![time("rr", 4, 104.0), time("dumb", 4, 120.0), time("rr", 1, 100.0)], ("rr", 4));
    check_placement(4, vec![time("rr", 4, 420.0), time("rr", 1, 104.0), time("dumb", 1, 120.0)], ("rr", 1));
}

#[test]
fn more_threads_than_cpus_have_to_be_surely_better() {
    check_placement(2, vec![rate("rr", 2, 20.0), rate("rr", 4, 20.5)], ("rr", 2));
    check_placement(2, vec![rate("rr", 2, 20.0), rate("rr", 4, 25.0).suspect()], ("rr", 2));
    check_placement(2, vec![rate("rr", 2, 20.0), rate("rr", 4, 25.0)], ("rr", 4));
}

#[test]
fn threads_are_bound_where_that_is_no_worse() {
    let cells = vec![rate("rr", 2, 19.8), rate(AUTO, 2, 20.0), rate("dumb", 2, 15.0)];
    let (mapping, alike, line) = only(2, cells, |it| (it.best.cell.mapping.clone(), it.alike.len(), paste(it)));
    assert_eq!((mapping.as_str(), alike, line), ("rr", 1, None), "a line with all CPUs does nothing");
    check_placement(2, vec![rate("rr", 2, 20.0).suspect(), rate("dumb", 2, 19.8), rate(AUTO, 2, 20.1)], ("dumb", 2));
    let stacked = vec![rate("list:0,0,1", 3, 20.0).seated(&[0, 0, 1]), rate(AUTO, 3, 15.0)];
    assert!(only(2, stacked, paste).is_some_and(|line| line.contains(" --allow-stack ")));
    let cells = vec![rate("rr", 2, 15.0), rate(AUTO, 2, 20.0)];
    assert_eq!(only(2, cells.clone(), |advice| wire(advice).launch["taskset"].clone()), PROGRAM);
    let found = |it: &Advice<'_>| (it.is_clear(), paste(it), it.gain_over_auto());
    assert_eq!(only(2, cells, found), (true, None, Some((0.0, None))));
}

#[test]
fn too_few_runs_advise_nothing_and_say_what_would() {
    let single = |threads: u64, value: f64| {
        let mut cell = rate("rr", threads, value).without_interval();
        cell.invocations.truncate(1);
        cell
    };
    let fix = |complete| {
        let report = Report { complete, ..report(vec![single(1, 10.0), single(2, 19.0)]).on(2) };
        (sentence(&advise(&Estimates::of(&report))[0]), paste(&advise(&Estimates::of(&report))[0]))
    };
    assert!(fix(false).0.contains("too few runs to advise: 1 of 6; charz sweep --resume FILE --budget "));
    assert!(!fix(true).0.contains("--resume") && fix(true).1.is_none(), "{:?}", fix(true));
    let wide = Cell { invocations: rate("rr", 1, 1.0).invocations, ..single(2, 19.0) };
    let sentence = only(2, vec![rate("rr", 1, 10.0), wide], sentence);
    assert!(sentence.contains("too noisy to advise: 10 runs"), "{sentence}");
    // A number that is far from deciding needs no interval.
    assert!(only(2, vec![single(1, 10.0), rate("rr", 2, 19.0)], |advice| advice.too_few.is_none()));
}

/// With such a share of the time on CPUs for which its threads asked.
#[test]
fn a_program_beside_others_is_advised_on_where_what_they_used_cannot_decide() {
    let advised = |two: f64, had: f64| {
        let of = |threads: u64, seconds: f64| {
            let mut cell = cell("command", threads, Unit::Reported(ReportedUnit::SECONDS), seconds).in_order();
            if threads == 2 {
                cell = cell.marked("V34", Severity::Suspect, "other programs used CPUs");
            }
            for lap in cell.invocations.iter_mut().flat_map(|one| &mut one.runs).flat_map(|run| &mut run.laps) {
                lap.counts.cpu_ns = Some((1e6 * had) as u64);
                lap.counts.run_delay_ns = Some((1e6 * (1.0 - had)) as u64);
            }
            cell
        };
        let mut report = report(vec![of(1, 0.14), of(2, two)]).on(2);
        report.cards.iter_mut().filter(|card| card.name == "command").for_each(|card| card.role = Role::Program);
        let advice = advise(&Estimates::of(&report));
        (advice[0].best.cell.workers, advice[0].occupied().is_some())
    };
    assert_eq!(advised(0.077, 0.86), (2, false));
    assert_eq!([advised(0.13, 0.86), advised(0.3, 0.4)], [(2, true), (1, true)]);
}

#[test]
fn a_quota_is_a_limit() {
    let cases = [(0.5, 20, 1, true), (1.5, 20, 2, true), (1.5, 12, 1, true), (1.5, 10, 1, false), (3.5, 20, 4, false)];
    for (quota, two, threads, is_reason) in cases {
        let cells = [(1, 10), (2, two), (4, 40)].map(|(threads, value)| rate("rr", threads, f64::from(value)));
        let mut report = report(cells.into()).on(4);
        report.machine.usable.quota_cpus = Some(quota);
        let (advice, said) = (&advise(&Estimates::of(&report))[0], sentence(&advise(&Estimates::of(&report))[0]));
        assert!(advice.best.cell.workers == threads && said.contains("CPU quota") == is_reason, "{quota}: {said}");
    }
}

#[test]
fn a_quota_that_leaves_no_number_of_threads_is_named_beside_the_best_of_all() {
    let mut report = report(vec![rate("rr", 4, 40.0), rate("rr", 8, 60.0)]).on(16);
    report.machine.usable.quota_cpus = Some(3.0);
    let estimates = Estimates::of(&report);
    let advice = &advise(&estimates)[0];
    assert_eq!((advice.best.cell.workers, advice.quota), (4, Some(3.0)));
}

#[test]
fn a_load_goes_by_the_role_of_its_kernel() {
    let two = |kernel: &'static str, unit| {
        let cells = [1.0e9, 1.9e9].into_iter().zip(1..);
        cells.map(move |(value, n)| cell(kernel, n, unit, value))
    };
    let ops = |kernel| two(kernel, Unit::OpsPerSecond);
    let cells = ops("pool-std").chain(two("chase-random", Unit::NanosecondsPerStep)).chain(ops("arith-float"));
    let report = report(
        cells.chain(two("mem-copy", Unit::BytesPerSecond)).chain(two("level-read", Unit::BytesPerSecond)).collect(),
    );
    let loads: Vec<Load> = advise(&Estimates::of(&report)).iter().map(|advice| advice.load).collect();
    assert_eq!(loads, [Load::Compute, Load::Bandwidth, Load::Latency, Load::Contended]);
}

#[test]
fn what_a_second_strand_adds_is_by_the_same_cores() {
    let seated = |seats: &[u32], value: f64| {
        cell("arith-int", seats.len() as u64, Unit::OpsPerSecond, value).under("rr").seated(seats)
    };
    let mut of = charz_estimate::fixtures::report("Core:2 PU:2");
    of.cells = vec![seated(&[0], 1e9), seated(&[0, 2], 2e9), seated(&[0, 1], 1.1e9), seated(&[0, 1, 2, 3], 2.5e9)];
    of.cards = report(of.cells.clone()).cards;
    // A mapping that is worse on the same CPUs.
    of.cells.push(seated(&[1, 0, 2, 3], 1.5e9).under("dumb"));
    let advice = advise(&Estimates::of(&of));
    let strands = advice[0].strands.unwrap();
    assert_eq!((strands.cores, strands.per_core, (strands.gain() * 100.0).round()), (2, 2, 25.0));
    assert!(strands.is_shown() && strands.interval().is_some_and(|gain| gain.low < 0.25 && gain.high > 0.25));
    let said = &extras(&advice[0])[0];
    let expected = ["second thread per core, on 2 cores, adds 25.0% (", "arith-int-ilp"];
    assert!(expected.iter().all(|words| said.contains(words)), "{said}");
    of.machine.usable.quota_cpus = Some(1.5);
    assert!(advise(&Estimates::of(&of))[0].strands.is_none());
}

#[test]
fn memory_elsewhere_is_a_cost_and_no_placement_of_threads() {
    let on = |memory, value| {
        let point = Point { memory: Some(memory), ..Point::default() };
        [1, 2].map(|threads| rate("rr", threads, value * threads as f64).at(point))
    };
    let cells = [on(MemoryHome::Remote, 6.0), on(MemoryHome::Local, 10.0), on(MemoryHome::Interleaved, 8.0)].concat();
    only(2, cells, |advice| {
        assert_eq!(advice.best.cell.point.memory, Some(MemoryHome::Local));
        let costs: Vec<String> = advice.memory.iter().map(|loss| format!("{:.2}", loss.share)).collect();
        assert_eq!((advice.regret.len(), costs), (1, vec!["0.40".to_owned(), "0.20".to_owned()]));
        assert!(extras(advice)[0].starts_with("remote memory loses 40.0%"), "{:?}", extras(advice));
    });
    let of_nodes = [0, 1].map(|node| on(MemoryHome::Node(node), 10.0)).concat();
    assert!(advise(&Estimates::of(&report(of_nodes))).is_empty(), "which node has the memory is no placement");
}

#[test]
fn the_line_to_paste_has_memory_where_it_was_measured() {
    let exec = "charz exec --mapping list:0-1 --threads 2 --memory remote -- PROGRAM";
    for (kernel, mapping, memory, expected, of_all) in [
        ("mem-read", "rr", MemoryHome::Remote, Some(exec), ", memory remote"),
        ("mem-read", AUTO, MemoryHome::Interleaved, Some("numactl --interleave=0 PROGRAM"), ", memory interleaved"),
        ("mem-read", "rr", MemoryHome::Local, None, "%"),
        ("arith-int", "rr", MemoryHome::Remote, None, "%"),
    ] {
        let cells = [1, 2].map(|threads| rate(mapping, threads, threads as f64));
        let mut report = report(cells.map(|cell| Cell { kernel: kernel.to_owned(), ..cell }).to_vec());
        report.plan.params.memory = memory;
        let advice = &advise(&Estimates::of(&report))[0];
        assert_eq!(paste(advice).as_deref(), expected, "{kernel}");
        assert!(evidence(advice).ends_with(of_all), "{}", evidence(advice));
        // Each of the two threads is on a node of its own: no line has memory remote to both.
        report.machine = charz_estimate::fixtures::report("NUMA:2 Core:1 PU:1").machine;
        assert_eq!(paste(&advise(&Estimates::of(&report))[0]).is_some(), mapping == AUTO, "{kernel}");
    }
}

#[test]
fn threads_that_each_do_work_of_their_own_are_compared_by_the_work() {
    let on = |memory, ns: f64| {
        let point = Point { memory: Some(memory), ..Point::default() };
        [1, 2].map(|threads| cell("chase-random", threads, Unit::NanosecondsPerStep, ns).under("rr").at(point))
    };
    let cells = [on(MemoryHome::Remote, 150.0), on(MemoryHome::Local, 100.0)].concat();
    only(2, cells.clone(), |advice| {
        assert!(extras(advice)[0].starts_with("remote memory takes 50.0% longer"), "{:?}", extras(advice));
        let one = lost(&advice.regret[0], Subject::One);
        assert!(one.starts_with("does 50.0% less work in the same time (4"), "{one}");
        let again = report(cells.clone()).on(2);
        let [validation] = &validate(std::slice::from_ref(advice), &again)[..] else { panic!("one advice") };
        assert_eq!((validation.checks[0].holds(), validation.regret), (Some(true), Some(0.0)));
    });
}

#[test]
fn only_the_time_of_copies_is_shared_by_them() {
    let regret = |symbol| {
        let unit = ReportedUnit::new(symbol, Better::Lower).unwrap();
        let cells = [(1, 500.0), (4, 510.0)].map(|(threads, value)| rate("rr", threads, value));
        let cells = cells.map(|cell| Cell { unit: Unit::Reported(unit), ..cell }).to_vec();
        let mut report = report(cells).on(4);
        report.cards.iter_mut().for_each(|card| card.role = Role::Program);
        report.plan.program = Some(Program::new("./a", ProgramValue::Last, unit));
        let regret = advise(&Estimates::of(&report))[0].regret[0];
        let lost = lost(&regret, Subject::One);
        format!("x{} {}", regret.estimate.cell.workers, lost.split(" (").next().unwrap())
    };
    assert_eq!(regret("MB"), "x4 takes 2.0% more");
    assert_eq!(regret("ms"), "x1 does 74.5% less work in the same time");
}

#[test]
fn contenders_are_the_advised_one_and_three_others() {
    let mut cells: Vec<Cell> =
        (1..=4).flat_map(|n| [rate("rr", n, 10.0 * n as f64), rate("dumb", n, 8.0 * n as f64)]).collect();
    cells.push(rate(AUTO, 4, 30.0));
    cells.push(rate("rr", 8, 20.0));
    let names = only(4, cells, |advice| advice.contenders().into_iter().map(crate::point::name).collect::<Vec<_>>());
    assert_eq!(names, ["mem-read rr x4", "mem-read auto x4", "mem-read dumb x4", "mem-read dumb x1"]);
    assert_eq!(only(2, vec![rate("rr", 1, 1.0), rate("rr", 2, 2.0)], |advice| advice.contenders().len()), 2);
}

/// A machine on which it is known what each placement gives.
struct Truth {
    cpus: u64,
    rates: Vec<(&'static str, u64, f64)>,
}

impl Truth {
    /// Threads that share a resource (N. Gunther, "A New Interpretation of Amdahl's Law and Geometric Scalability", 2002), under mappings
    /// that give up to 30% less.
    fn draw(random: &mut Rng) -> Self {
        let cpus = 1 << random.u64(1..5);
        let (shared, crosstalk) = (0.3 * random.f64(), 0.01 * random.f64());
        let factors = ["rr", "dumb", AUTO].map(|mapping| (mapping, 1.0 - 0.3 * random.f64() * random.f64()));
        let counts: Vec<u64> = (0..=5).map(|power| 1 << power).filter(|threads| *threads <= 2 * cpus).collect();
        let rates = factors.iter().flat_map(|(mapping, factor)| {
            counts.iter().map(move |threads| {
                let n = threads.min(&cpus);
                let n = *n as f64;
                let over = if *threads > cpus { 0.97 } else { 1.0 };
                (*mapping, *threads, over * factor * n / (1.0 + shared * (n - 1.0) + crosstalk * n * (n - 1.0)))
            })
        });
        Truth { cpus, rates: rates.collect() }
    }

    fn of(&self, cell: &Cell) -> f64 {
        self.rates
            .iter()
            .find(|(mapping, threads, _)| (*mapping, *threads) == (&*cell.mapping, cell.workers))
            .unwrap()
            .2
    }

    /// A sweep of it, of which each placement has a noise of its own, and a drift of its own now and then.
    fn swept(&self, random: &mut Rng) -> Report {
        let cells = self.rates.iter().map(|(mapping, threads, truth)| {
            let (noise, count) = (0.002 + 0.03 * random.f64(), random.usize(6..20));
            let values = (0..count).map(|_| {
                let normal = (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos();
                truth * (noise * normal).exp()
            });
            valued(rate(mapping, *threads, 1.0), values.collect())
        });
        report(cells.collect()).on(self.cpus as u32)
    }
}

/// 400 machines, swept once each.
#[test]
fn advice_is_near_the_best_and_its_intervals_hold_what_others_lose() {
    let mut random = Rng::with_seed(7);
    let (mut regrets, mut held, mut all) = (Vec::new(), 0, 0);
    for _ in 0..400 {
        let truth = Truth::draw(&mut random);
        let swept = truth.swept(&mut random);
        let advice = advise(&Estimates::of(&swept));
        let advised = truth.of(advice[0].best.cell);
        let most = truth.rates.iter().map(|(.., rate)| *rate).fold(0.0, f64::max);
        regrets.push(1.0 - advised / most);
        for loss in &advice[0].regret {
            let lost = 1.0 - truth.of(loss.estimate.cell) / advised;
            let interval = loss.interval.unwrap();
            held += usize::from(interval.low <= lost && lost <= interval.high);
            all += 1;
        }
    }
    regrets.sort_by(f64::total_cmp);
    let most = regrets[regrets.len() * 95 / 100];
    let share = held as f64 / all as f64;
    assert!(most <= 0.03, "one in twenty loses {most} or more");
    assert!(share >= 0.9, "{share} of {all} intervals");
}

/// The same machine again, and one that has become another in between.
#[test]
fn a_prediction_holds_on_the_same_machine_only() {
    let mut random = Rng::with_seed(8);
    let (mut held, mut all, mut caught) = (0, 0, 0);
    for _ in 0..100 {
        let mut truth = Truth::draw(&mut random);
        let swept = truth.swept(&mut random);
        let advice = advise(&Estimates::of(&swept));
        let again = truth.swept(&mut random);
        let checks = |again: &Report| {
            let all = validate(&advice, again);
            all[0].checks.iter().map(|check| check.holds().unwrap()).collect::<Vec<bool>>()
        };
        let same = checks(&again);
        (held, all) = (held + same.iter().filter(|held| **held).count(), all + same.len());
        let advised = advice[0].best.cell;
        for (mapping, threads, rate) in &mut truth.rates {
            if (*mapping, *threads) != (&*advised.mapping, advised.workers) {
                *rate *= 1.3;
            }
        }
        caught += usize::from(checks(&truth.swept(&mut random)).contains(&false));
    }
    assert!(held as f64 >= 0.9 * all as f64, "{held} of {all}");
    assert!(caught >= 98, "{caught} of 100");
}

#[test]
fn a_prediction_that_failed_by_far_needs_no_second_interval() {
    let swept = |auto: f64| {
        report(["rr", AUTO].into_iter().zip([10.0, auto]).map(|(by, value)| rate(by, 2, value)).collect()).on(2)
    };
    let first = report(swept(8.7).cells.into_iter().map(|cell| cell.within(0.02)).collect()).on(2);
    let advice = advise(&Estimates::of(&first));
    for (again, expected) in [(4.8, Some(false)), (14.0, Some(false)), (8.5, None), (8.7, None)] {
        let mut again = swept(again);
        again.cells = again.cells.into_iter().map(Cell::without_interval).collect();
        let [check] = &validate(&advice, &again)[0].checks[..] else { panic!("one other placement") };
        assert_eq!(check.holds(), expected, "{check:?}");
    }
}

#[test]
fn noise_beats_no_advice() {
    let swept = |auto: f64, width: f64| {
        let cells = [("rr", 10.0), (AUTO, auto)].map(|(by, value)| rate(by, 2, value).within(width));
        report(cells.to_vec()).on(2)
    };
    let first = swept(9.0, 0.005);
    for (auto, width, expected) in [(10.04, 0.005, false), (11.0, 0.005, true), (11.0, 0.2, false), (9.0, 0.005, false)]
    {
        let again = swept(auto, width);
        assert_eq!(validate(&advise(&Estimates::of(&first)), &again)[0].is_beaten(), expected, "{auto} within {width}");
    }
}

/// Reports of one kernel on two CPUs; noisy, missing and invalid numbers among them.
fn reports() -> impl Strategy<Value = Report> {
    let one = (1.0_f64..4.0, 0.001_f64..0.4, 0..6_u8);
    prop::collection::vec(one, 12).prop_map(|drawn| {
        let places = ["rr", "dumb", AUTO].into_iter().flat_map(|mapping| (1..5).map(move |threads| (mapping, threads)));
        let cells = places.zip(drawn).map(|((mapping, threads), (value, width, fate))| {
            let cell = rate(mapping, threads, value).within(width);
            match fate {
                0 => cell.suspect(),
                1 => cell.invalid(),
                _ => cell,
            }
        });
        report(cells.collect()).on(2)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn advice_obeys_its_rule_whatever_was_measured(report in reports()) {
        for advice in advise(&Estimates::of(&report)) {
            let numbers = || report.cells.iter().filter(|cell| cell.value().is_some());
            let (best, peak) = (advice.best.cell, advice.peak.value);
            prop_assert!(advice.best.value >= SATURATED * peak);
            let lost = |cell: &Cell| {
                let (base, new) = (advice.peak.around().unwrap(), Estimate::of(cell).unwrap().around().unwrap());
                1.0 - ratio_of_estimates(base, new).unwrap().0
            };
            let is_shown = |cell: &Cell| std::ptr::eq(cell, advice.peak.cell) || lost(cell) <= 1.0 - SATURATED;
            prop_assert!(numbers().any(|cell| cell.workers == best.workers && is_shown(cell)), "not shown to be near");
            for cell in numbers().filter(|cell| cell.workers < best.workers) {
                prop_assert!(!is_shown(cell), "{} x{} is enough", cell.mapping, cell.workers);
            }
            if best.workers > 2 {
                let ends = |cell: &Cell| cell.capacity.unwrap().interval.unwrap();
                let below = |cell: &Cell| ends(cell).high < ends(advice.peak.cell).low;
                let within = numbers().filter(|cell| cell.workers <= 2).all(below);
                prop_assert!(within);
            }
            prop_assert_eq!(advice.regret.len() + 1, numbers().count(), "every other placement once");
            for loss in &advice.regret {
                let interval = loss.interval.unwrap();
                prop_assert!(interval.low <= loss.share && loss.share <= interval.high);
            }
            let mut seats: Option<Vec<u32>> = best.seats.iter().copied().collect();
            seats.iter_mut().for_each(|seats| seats.sort_unstable());
            // Where unpinned threads lose, a set of CPUs for all of them would too.
            let must_pin = advice.auto.is_some_and(|auto| auto.share > 0.0 && !auto.estimate.meets(&advice.best));
            let line = seats.and_then(|seats| match must_pin && seats.len() > 1 {
                true => Some(format!("charz exec --mapping {} --threads {} -- PROGRAM", best.mapping, seats.len())),
                // Of both CPUs it would do nothing.
                false if [0, 1].iter().all(|cpu| seats.contains(cpu)) => None,
                false => Some(format!("taskset -c {} PROGRAM", cpulist::print(&seats))),
            });
            prop_assert_eq!(paste(&advice), line);
            let wire = wire(&advice);
            prop_assert_eq!((wire.mapping, wire.threads, wire.regret.len()), (&*best.mapping, best.workers, advice.regret.len()));
        }
    }
}

#[test]
fn contention_advises_no_single_thread_and_nothing_from_wide_intervals() {
    let of = |two: f64, width: f64| {
        let cells = [(1, 40e6), (2, two)]
            .map(|(threads, value)| cell("pool-deque", threads, Unit::OpsPerSecond, value).in_order().within(width));
        advise(&Estimates::of(&report(cells.into()))).into_iter().map(|advice| sentence(&advice)).collect::<Vec<_>>()
    };
    assert_eq!(of(10e6, 0.02), [""; 0]);
    assert_eq!(of(160e6, 0.7), [""; 0]);
    let gains = of(76e6, 0.02);
    assert!(gains.len() == 1 && gains[0].contains("2 threads") && gains[0].contains("pool-deque"), "{gains:?}");
}

/// Programs differ in what they do: each has its own advice.
#[test]
fn every_program_of_a_workload_report_is_advised() {
    let of = |kernel: &str, two: f64| {
        [(1, 1e9), (2, two)].map(|(threads, value)| cell(kernel, threads, Unit::OpsPerSecond, value).in_order())
    };
    let product =
        |two, depth| of("matmul-mutex", two).map(|cell| cell.at(Point { depth: Some(depth), ..Point::default() }));
    let (deep, shallow) = (product(5e9, 3), product(0.9e9, 9));
    let cells = [of("fft-mutex", 0.5e9), deep, shallow].concat();
    let report = report(cells);
    let advice: Vec<_> = advise(&Estimates::of(&report))
        .iter()
        .map(|advice| (advice.best.cell.kernel.clone(), advice.best.cell.workers))
        .collect();
    assert_eq!(advice, [("fft-mutex".to_owned(), 1), ("matmul-mutex".to_owned(), 2)]);
    assert!(sentence(&advise(&Estimates::of(&report))[0]).starts_with("fft-mutex: 1 thread"));
}
