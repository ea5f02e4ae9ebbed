use charz_data::Sharing;
use charz_data::report::Unit;
use charz_data::report::fixtures::{cell, report};

use super::*;

fn shares(text: &str, cpus: usize, elapsed_s: Option<f64>) -> Vec<String> {
    read(text).unwrap().waits.iter().map(|wait| format!("{:.3}", wait.share(cpus, elapsed_s).unwrap())).collect()
}

/// The two listings of the blog on Solaris' scalability, with its own results.
#[test]
fn published_listings_give_their_published_shares() {
    let first = "Adaptive mutex spin: 9181733 events in 10.135 seconds (905943 events/sec)\n\
        Count indv cuml rcnt     nsec Lock                   Caller\n\
        -------------------------------------------------------------------------\n\
        557331   6%   6% 0.00    88454 0x60033047000          timeout_common+0x4\n...\n";
    assert_eq!(shares(first, 256, None), ["0.019"]);
    let second = "Adaptive mutex spin: 1713116 events in 30.214 seconds (56700 events/sec)\n\n\
        Count indv cuml rcnt     nsec Hottest Lock           Caller\n\
        1170899  68%  68% 0.00 11444141 pcf                  page_create_wait\n\
        202679  12%  80% 0.00   332996 pcf+0x380             page_free\n\
        86959   5%  85% 0.00  8840242 pcf                    page_reclaim\n\
        64565   4%  89% 0.00    25301 0x604ec13c650          ufs_lockfs_begin_getpage\n";
    assert_eq!(shares(second, 512, None), ["0.866", "0.004", "0.050", "0.000"]);
    assert_eq!(read(second).unwrap().unknown, 0);
}

#[test]
fn what_is_no_waiting_of_cpus_is_left_out_and_said() {
    let text = "Adaptive mutex hold: 10 events in 1.0 seconds (10 events/sec)\n\
        Count indv cuml rcnt     nsec Lock                   Caller\n\
        10   6%   6% 0.00    88454 held                      there\n\
        Spin lock spin: 10 events in 2.0 seconds (5 events/sec)\n\
        Count indv cuml rcnt     nsec Lock                   Caller\n\
        10   6%   6% 0.00 100000000 spun                     there+0x4\n\
        Thread lock spin: 10 events in 2.0 seconds (5 events/sec)\n\
        Count indv cuml rcnt     spin Lock                   Caller\n\
        10   6%   6% 0.00       17 old                       there\n\
        what is this\n";
    let found = read(text).unwrap();
    assert_eq!(found.waits.iter().map(|wait| wait.lock.as_str()).collect::<Vec<_>>(), ["spun"]);
    assert_eq!(shares(text, 1, None), ["0.500"]);
    assert_eq!((found.notes.len(), found.unknown, found.first_unknown[0].as_str()), (2, 1, "what is this"));
}

#[test]
fn perf_and_lock_stat_are_read_with_the_time_that_is_told() {
    let perf = " contended   total wait     max wait     avg wait         type   caller\n\n\
          238      1.41 s      29.20 us      5.94 us     spinlock   update_blocked_averages+0x4c\n\
           13    412.00 us     90.00 us     31.69 us      rwsem:W   do_mmap+0x1 (mm)\n";
    let found = read(perf).unwrap();
    assert_eq!(shares(perf, 2, Some(10.0))[0], "0.070", "1.41 s of 20 s, as 0.0705 is printed");
    assert_eq!((found.waits[0].sleeps, found.waits[1].sleeps, found.unknown), (Some(false), Some(true), 0));
    assert_eq!(found.waits[1].caller, "do_mmap+0x1 (mm)");
    assert_eq!(found.waits[0].share(2, None), None, "perf does not tell how long it watched");
    let lock_stat = "lock_stat version 0.4\n-----\n   class name    con-bounces    contentions   waittime-min\n-----\n\n\
           &mm->mmap_sem-W:            46            184           0.26         939.10       5000000.0         194.90  1 1 1 1 1 1\n\
           &mm->mmap_sem-R:            46              0           0.00           0.00             0.0           0.00  1 1 1 1 1 1\n\
           ---------------\n\
           &mm->mmap_sem              1          [<ffffffff811502a7>] khugepaged_scan_mm_slot+0x57/0x280\n\
           &mm->mmap_sem             96          [<ffffffff815351c4>] other+0x1 [kvm]\n\
           ---------------\n\
           &mm->mmap_sem              1          [<ffffffff811502a7>] holder+0x57/0x280\n\
           &quiet:     0    0    0.0   0.0   0.0  0.0 1 1 1 1 1 1\n";
    let found = read(lock_stat).unwrap();
    assert_eq!((found.waits.len(), found.unknown), (1, 0), "{found:?}");
    let wait = &found.waits[0];
    assert_eq!((wait.lock.as_str(), wait.sleeps), ("&mm->mmap_sem-W", None));
    // The row is of all callers, and more than this one waited.
    assert!(wait.caller.starts_with("other+0x1 [kvm]") && wait.caller.contains("96 of 184"), "{wait:?}");
    assert!(found.notes.iter().any(|note| note.contains("caller")), "{found:?}");
    assert_eq!(shares(lock_stat, 1, Some(10.0)), ["0.500"]);
}

#[test]
fn the_columns_of_perf_are_those_of_its_heading() {
    let shares = |heading: &str, row: &str| shares(&format!("{heading}\n\n{row}\n"), 1, Some(10.0));
    let swapped = " contended     max wait   total wait     avg wait         type   caller";
    assert_eq!(shares(swapped, "2300  5.01 ms  9.00 s  3.91 ms  spinlock  x"), ["0.900"]);
    assert_eq!(shares("total wait  contended  type  caller", "9.00 s  2300  spinlock  x"), ["0.900"]);
    assert!(read("contended  avg wait  type  caller\n").is_err_and(|why| why.contains("-F")));
    assert!(read("# output: contended, total wait, type, caller\n").is_err_and(|why| why.contains("-x")));
}

#[test]
fn waiters_of_perf_sleep_by_the_kind_of_their_lock() {
    let kinds = ["spinlock", "rwlock:R", "mutex", "rt=mutex", "unknown", "rwlock-rt:W", "pcpu-sem:R", "semaphore"];
    let rows: String = kinds.iter().map(|kind| format!("1  1.00 s  {kind}  f+0x1 (mm)\n")).collect();
    let sleeps = |text: &str| read(text).unwrap().waits.iter().map(|wait| wait.sleeps).collect::<Vec<_>>();
    let (spins, sleep) = (Some(false), Some(true));
    let found = sleeps(&format!("contended  total wait  type  caller\n{rows}"));
    assert_eq!(found, [spins, spins, None, None, None, sleep, sleep, sleep], "mutexes spin while their owner runs");
    let heading = "contended  total wait  address  symbol\n";
    let by_address = ["mmap_lock (rwsem)", "(percpu-rwsem)", "rq (spinlock)"];
    let rows: String = by_address.iter().map(|rest| format!("1  1.00 s  ffff9b1c42a0d1a8   {rest}\n")).collect();
    assert_eq!(sleeps(&format!("{heading}{rows}")), [sleep, sleep, spins]);
    assert_eq!(read(&format!("{heading}{rows}")).unwrap().notes.len(), 0);
    for unknown in
        [format!("{heading}1  1.00 s  ffff9b1c  rq\n"), "contended  total wait  pid  comm\n1 1 s 7 sh\n".into()]
    {
        let found = read(&unknown).unwrap();
        assert!(found.notes[0].contains("sleep") && found.waits[0].sleeps.is_none(), "{unknown}");
    }
}

/// As builtin-lock.c of Linux prints them with `-v` and `-o`.
#[test]
fn waits_by_the_stack_of_the_owner_are_those_of_the_callers_again() {
    let text = " contended   total wait         type   caller\n\n\
         \x20      171      2.00 s     spinlock   pipe_read+0x57\n\
         \x20                        0xffffffffac6318e7  pipe_read+0x57\n\n\
         === owner stack trace ===\n\n\
         \x20      170      1.90 s     spinlock   pipe_write+0x348\n\
         === output for debug ===\n\nbad: 0, total: 13\nbad rate: 0.00 %\n";
    let found = read(text).unwrap();
    assert_eq!((found.waits.len(), found.unknown), (1, 0), "{found:?}");
    assert!(found.notes[0].contains("owner"), "{found:?}");
}

/// As lockstat.c of illumos prints them.
#[test]
fn every_option_of_lockstat_is_read_or_named() {
    let begun = "Adaptive mutex spin: 1000 events in 10.000 seconds (100 events/sec)\n";
    let rates = format!(
        "{begun}ops/s indv cuml rcnt     nsec Lock                   Caller\n  100  68%  68% 0.00 10000000 pcf  f\n"
    );
    assert_eq!((shares(&rates, 1, None), read(&rates).unwrap().unknown), (vec!["1.000".to_owned()], 0));
    let callers = format!("{begun}Count genr cuml rcnt     nsec Lock  Caller\n 1000  68% ---- 0.00 1000000 pcf  f\n");
    let found = read(&callers).unwrap();
    assert_eq!((shares(&callers, 1, None), found.is_apart, found.unknown), (vec!["0.100".to_owned()], true, 0));
    assert!(found.notes[0].contains("-g"), "{found:?}");
    let one = "-----\nCount indv cuml rcnt     nsec Lock   Caller\n 1000  68%  68% 0.00 1000000 pcf  f\n\n      \
        nsec ------ Time Distribution ------ count     Stack\n      1024 |@@@@@      12    f+0x4\n      2048 |  1\n     g\n";
    let found = read(&format!("{begun}{one}{one}")).unwrap();
    assert_eq!((found.waits.len(), found.unknown), (2, 0), "{found:?}");
    let untimed = "-----\nCount indv cuml rcnt          Lock   Caller\n 1000  68%  68% 0.00          pcf  f\n";
    let found = read(&format!("{begun}{untimed}{untimed}")).unwrap();
    assert_eq!((found.waits.len(), found.unknown, found.notes.len()), (0, 0, 1), "{found:?}");
    assert!(found.notes[0].contains("-b"), "{found:?}");
    assert!(read("0 557331 0x60033047000 f+0x4 0.000000 49298156274\n").is_err_and(|why| why.contains("-p")));
    let row = " 3   368268      407      275      120.822        0.000        0.894 Mx.--.\n";
    assert!(read(row).is_ok_and(|found| found.unknown == 1), "of mutrace, without its heading");
    let heading = " Mutex #   Locked  Changed    Cont. tot.Time[ms] avg.Time[ms] max.Time[ms]  Flags\n";
    assert!(read(&format!("{heading}{row}")).is_err_and(|why| why.contains("mutrace")));
}

#[test]
fn a_report_without_timed_waits_says_what_it_has() {
    let sharing =
        |waited| Sharing { attempts_per_success: 1.0, waited, wait_share: None, fairness: 1.0, most_to_least: None };
    let of = |kernel: &str| cell(kernel, 2, Unit::OpsPerSecond, 1.0);
    let cell = || of("pool-std");
    for (cells, word) in [
        (vec![], "no result"),
        (vec![cell()], "kernel"),
        (vec![of("counter-atomic").contention(sharing(0.0077)), of("arith-int")], "no result of a lock kernel"),
        (vec![cell().contention(sharing(0.0))], "no thread"),
        (vec![cell().contention(sharing(0.0077)), cell()], "none was timed"),
    ] {
        assert!(of_report(&report(cells)).is_err_and(|why| why.contains(word)), "{word}");
    }
}

#[test]
fn waits_of_a_report_are_of_the_cpus_that_a_quota_has_time_for() {
    let met =
        Sharing { attempts_per_success: 1.0, waited: 1.0, wait_share: Some(0.4), fairness: 1.0, most_to_least: None };
    let mut report = report(vec![cell("pool-std", 4, Unit::OpsPerSecond, 1.0).contention(met)]).on(4);
    let waited = |report: &Report| of_report(report).unwrap().waits[0].waited_s;
    let without = waited(&report);
    report.machine.usable.quota_cpus = Some(1.0);
    assert!((without / waited(&report) - 4.0).abs() < 1e-9);
    assert_eq!(of_report(&report).unwrap().notes.len(), 0);
    // Of waits that were longer than the others more than all of the time.
    report.cells[0].contention = Some(Sharing { wait_share: Some(1.05), ..met });
    let cut = of_report(&report).unwrap();
    assert_eq!((cut.waits[0].share(1, None), cut.notes.len()), (Some(1.0), 1));
    // Whether they use those is known only where they do not block.
    for (blocks, expected) in [(false, Some(false)), (true, None)] {
        report.cards.iter_mut().for_each(|card| card.blocks_in_kernel = blocks);
        assert_eq!(of_report(&report).unwrap().waits[0].sleeps, expected);
    }
}

#[test]
fn garbage_is_counted_and_kills_nothing() {
    let odd = "Spin lock spin: 1 events in 2.0 seconds (1 events/sec)\nNaN 6% 6% 0.00 1 a b\n-1 6% 6% 0.00 1e999 a b\n";
    let found = read(odd).unwrap();
    assert_eq!((found.waits.len(), found.unknown), (0, 2));
    let found = read("a\n\u{1b}[2J: x\nCount\n1 2 3\n: 5 events in 0 seconds\n").unwrap();
    assert_eq!((found.waits.len(), found.unknown), (0, 5));
    assert_eq!(read(""), Ok(LockWaits::default()));
    let long = "é".repeat(1 << 20);
    assert_eq!(read(&long).unwrap().first_unknown[0].chars().count(), LONGEST + 1);
}
