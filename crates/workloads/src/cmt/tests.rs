use std::time::Duration;
use std::{env, fs, process};

use proptest::prelude::*;

use super::*;
use charz_kernels::tests::{Look, check_noticed, stage_laps};

fn find(name: &str) -> &'static dyn Kernel {
    crate::find(name).unwrap()
}

fn mix(compute: u64, working_set: u64, io: u64) -> Mix {
    Mix { compute, working_set, io }
}

const PARAMS: Params = Params { span_ns: 1_000_000, size_bytes: 1 << 20, ..Params::SMALL };

fn doer<U: Unit>(unit: U) -> Doer<U> {
    Doer { of: Of { name: "cmt", counts: true }, unit, pace: Pace::up_to(MOST_UNITS), done: 0, refused: None }
}

#[test]
fn units_too_few_or_too_many_are_noticed() {
    let span = Some(Duration::from_millis(1));
    check_noticed(&mut doer(Compute::new(3)), span, |doer| doer.done += 1);
    check_noticed(&mut doer(WorkingSet::new(1000, PARAMS.pages, 3).unwrap()), span, |doer| doer.done -= 1);
    check_noticed(&mut doer(WorkingSet::new(1, PARAMS.pages, 3).unwrap()), span, |doer| {
        doer.unit.unit().unwrap();
    });
}

#[test]
fn a_block_that_is_not_the_one_written_is_noticed() {
    for files in [Files::PerUnit, Files::Once, Files::Synced] {
        let folder = Arc::new(Folder::find("cmt-io").unwrap());
        let unit = files.open("cmt-io", folder, 1).unwrap();
        check_noticed(&mut doer(unit), Some(Duration::from_millis(1)), |doer| doer.unit.spoil());
    }
}

/// In a mix each kernel counts its own kind alone, in the workers that do it.
#[test]
fn a_kernel_counts_units_of_its_kind() {
    let params = Params { mix: mix(1, 2, 1), ..PARAMS };
    for (name, counted) in [("cmt-compute", 0..1), ("cmt-working-set", 1..3), ("cmt-io-open", 3..4), ("cmt-io", 3..4)] {
        let stage = find(name).stage(&params, 8).unwrap();
        let laps = stage_laps(stage.as_ref(), 8, 1, |_, _| Look::whole(stage.span()));
        for (rank, lap) in laps.iter().flatten().enumerate() {
            assert_eq!(lap.verdict, Ok(()), "{name}: worker {rank}");
            assert_eq!(lap.work.ops.0 > 0, counted.contains(&(rank % 4)), "{name}: worker {rank}: {:?}", lap.work);
        }
    }
}

#[test]
fn a_mix_without_the_kind_or_the_workers_is_refused() {
    for (name, mix, workers, part) in [
        ("cmt-compute", mix(0, 1, 1), 2, "counts compute units, and a mix of 0:1:1 has no thread for them"),
        ("cmt-io", mix(2, 1, 0), 3, "counts io units"),
        ("cmt-compute", mix(2, 1, 1), 6, "multiples of 4 workers in a mix of 2:1:1, not 6"),
    ] {
        match find(name).stage(&Params { mix, ..PARAMS }, workers).err() {
            Some(Error::Unavailable(reason)) => assert!(reason.contains(part), "{reason}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// A refused file ends the run at once, and its reason is the verdict; the folder is not touched again.
#[test]
fn a_refused_unit_ends_the_run() {
    struct Third(u64);
    impl Unit for Third {
        const ALIKE: bool = false;
        fn prepare(&mut self) {}
        fn unit(&mut self) -> Result<(), Error> {
            self.0 += 1;
            if self.0 < 3 { Ok(()) } else { Err(Error::Refused("the disk is full".into())) }
        }
        fn fault(&mut self, _: u64) -> Option<String> {
            None
        }
    }
    let mut doer = doer(Third(0));
    doer.prepare();
    assert_eq!(doer.run(&charz_kernels::tests::watch(None)), Work::ops(2));
    assert_eq!(doer.verify(), Err(Error::Refused("the disk is full".into())));
}

/// After the workers are gone so are their files.
#[test]
fn no_file_stays_open() {
    // Other tests of this process have files in the usual folder.
    let own = env::temp_dir().join(format!("charz-cmt-files-{}", process::id()));
    fs::create_dir(&own).unwrap();
    let open = || fs::read_dir("/proc/self/fd").unwrap().filter_map(|file| fs::read_link(file.unwrap().path()).ok());
    let count = || open().filter(|path| path.starts_with(&own)).count();
    for (files, kept) in [(Files::PerUnit, 0), (Files::Once, 2), (Files::Synced, 2)] {
        let folder = Arc::new(Folder::at(own.clone(), "cmt-io").unwrap());
        let mut workers = [0, 1].map(|rank| doer(files.open("cmt-io", Arc::clone(&folder), rank).unwrap()));
        for worker in &mut workers {
            worker.prepare();
            worker.run(&charz_kernels::tests::watch(Some(Duration::from_millis(1))));
        }
        assert_eq!(count(), kept, "{files:?}");
        drop(workers);
        assert_eq!(count(), 0, "{files:?}");
    }
    fs::remove_dir(&own).unwrap();
}

proptest! {
    /// The parts of a set together are the set, but for a line each; the footprint has room for them.
    #[test]
    fn parts_of_a_set_are_no_more_than_the_set(bytes in 64..1_u64 << 40, workers in 1..300_usize) {
        let (lines, parts) = (bytes / 64, workers as u64);
        let part = working_set::part_lines(bytes, parts);
        prop_assert!(part >= 1 && (part * parts <= lines || part == 1));
        prop_assert!((part + 1) * parts > lines);
        let params = Params { size_bytes: bytes, ..PARAMS };
        let footprint = find("cmt-working-set").footprint_together(&params, workers).0;
        prop_assert!(footprint >= part * parts * 64);
        prop_assert_eq!(find("cmt-compute").footprint_together(&params, workers).0, 2 * 8192 * parts);
    }

    #[test]
    fn a_mix_deals_its_kinds_in_turn(compute in 0..9_u64, working_set in 0..9_u64, io in 1..9_u64, rounds in 1..4_u64) {
        let mix = mix(compute, working_set, io);
        let all = mix.threads() * rounds;
        let count = |kind| (0..all).filter(|rank| mix.kind(*rank) == kind).count() as u64;
        let found = [UnitKind::Compute, UnitKind::WorkingSet, UnitKind::Io].map(count);
        prop_assert_eq!(found, [compute, working_set, io].map(|threads| threads * rounds));
    }
}
