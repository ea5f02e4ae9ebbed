use std::thread;

use charz_data::PageKind;
use proptest::prelude::*;

use super::reader::Reader;
use super::rounds::Rounds;
use super::*;
use crate::kernel::Worker;
use crate::tests::watch;

fn going(form: Form, workers: usize, lines: usize) -> Setting {
    let (pages, span) = (PageKind::Small, Duration::from_millis(3));
    Setting { name: "words", form, lines, pages, span, shared: Shared::of(workers) }
}

proptest! {
    #[test]
    fn sums_are_those_of_their_words(first: u64, lines in 1_u64..50) {
        let words = 8 * lines;
        let sum = (0..words).fold(0_u64, |sum, i| sum.wrapping_add(first.wrapping_add(i)));
        prop_assert_eq!(sum_of(first, words), sum);
    }
}

#[test]
fn readers_tell_wrong_sums() {
    for form in [Form::Read, Form::Compiled] {
        let stage = going(form, 1, 100);
        let mut reader = Reader::new(&stage, 3).unwrap();
        for _ in 0..2 {
            assert!(reader.run(&watch(Some(stage.span))).ops.0 >= 800);
            assert_eq!(reader.verify(), Ok(()));
        }
        reader.passes += 1;
        assert!(matches!(reader.verify(), Err(Error::Wrong(_))), "a pass that was not made");
    }
}

#[test]
fn no_list_grows_while_rounds_are_made() {
    let stage = going(Form::Own, 1, 100);
    let mut worker = Rounds::new(&stage, 0).unwrap();
    worker.prepare();
    let before = (worker.phases.as_ptr(), worker.phases.capacity());
    assert!(worker.run(&watch(Some(stage.span))).ops.0 > 0);
    assert!(worker.phases.len() > 1, "{} rounds", worker.phases.len());
    assert_eq!((worker.phases.as_ptr(), worker.phases.capacity()), before);
}

/// Two workers in rounds; the second one leaves when it likes.
#[test]
fn a_worker_that_leaves_early_releases_the_other() {
    let stage = going(Form::Cross, 2, 100);
    let long =
        Setting { span: Duration::from_secs(60), shared: Arc::clone(&stage.shared), ..going(Form::Cross, 2, 100) };
    let mut workers = [0, 1].map(|rank| Rounds::new(&stage, rank).unwrap());
    workers.iter_mut().for_each(Worker::prepare);
    let [mut first, mut second] = workers;
    let works = thread::scope(|scope| {
        let first = scope.spawn(|| first.run(&watch(Some(long.span))));
        [second.run(&watch(Some(stage.span))), first.join().unwrap()]
    });
    assert!(works[0].ops.0.abs_diff(works[1].ops.0) <= 2 * 800, "{works:?}");
    assert_eq!((first.verify(), second.verify()), (Ok(()), Ok(())));
    let samples = first.samples().unwrap();
    assert_eq!(samples.count * 2 * 800, works[1].ops.0, "a pair of times a round");
    first.found = first.found.wrapping_add(1);
    assert!(matches!(first.verify(), Err(Error::Wrong(_))));
}
