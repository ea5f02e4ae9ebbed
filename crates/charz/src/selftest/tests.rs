use proptest::prelude::*;

use super::*;

fn row(verdict: Verdict, effect: Option<f64>, reason: Option<&str>) -> Told {
    (verdict, effect, reason.map(str::to_owned))
}

#[test]
fn what_was_not_compared_teaches_nothing() {
    let mut tally = Tally::default();
    tally.count(&row(Verdict::Uncompared, Some(3.0), Some("in 12 of 99 repetitions")));
    tally.count(&row(Verdict::Uncompared, None, Some("in 3 of 7 repetitions")));
    assert_eq!((tally.floor(), tally.times(Verdict::Uncompared), tally.verdicts.len()), (None, 2, 2));
    assert_eq!(tally.reasons.into_iter().collect::<Vec<_>>(), [("in N of N repetitions".to_owned(), 2)]);
}

/// A letter in its place is nothing that a reader can do.
#[test]
fn the_runs_that_a_verdict_takes_are_printed() {
    let needed = charz_stats::runs_for_verdict(1, 0.01);
    let doubt = charz_stats::Doubt::TooFew { needed }.to_string();
    let mut tally = Tally::default();
    (0..3).for_each(|_| tally.count(&row(Verdict::Inconclusive, None, Some(&doubt))));
    let (reason, times) = tally.reasons.into_iter().next().unwrap();
    assert!(reason.contains(&needed.to_string()) && times == 3, "{reason}");
}

proptest! {
    #[test]
    fn the_floor_is_exceeded_by_one_in_twenty_at_most(effects in prop::collection::vec(0.5..2.0_f64, 1..200)) {
        let mut tally = Tally::default();
        effects.iter().for_each(|effect| tally.count(&row(Verdict::Same, Some(*effect), None)));
        let Some(floor) = tally.floor() else {
            prop_assert!(effects.len() < FLOOR_NEEDS, "a twentieth of them is one at least");
            return Ok(());
        };
        prop_assert!(effects.len() >= FLOOR_NEEDS);
        let beyond = tally.effects.iter().filter(|effect| **effect > floor).count();
        prop_assert!(beyond * 20 <= effects.len());
        prop_assert!(tally.effects.contains(&floor));
    }

    #[test]
    fn faster_and_slower_are_as_far(effect in 0.5..2.0_f64) {
        let mut tally = Tally::default();
        tally.count(&row(Verdict::Same, Some(effect), None));
        tally.count(&row(Verdict::Same, Some(1.0 / effect), None));
        prop_assert!((tally.effects[0] - tally.effects[1]).abs() < 1e-12);
    }
}
