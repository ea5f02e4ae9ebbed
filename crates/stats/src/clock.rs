//! Do values follow the clock of the cores?
//!
//! What a core does by itself takes so many cycles, whatever the clock. Turbo and the neighbours of a guest move the clock in steps of
//! 4%, and values that are compared in cycles are as close as they would be on a machine whose clock stands still.

use super::Sample;
use super::robust::DEVIATIONS_BETWEEN_QUARTILES;

/// By chance alone a division by something unrelated makes values differ by more.
const FOLLOWING: f64 = 0.5;

/// Whether rates follow the clock that each was measured at: each of the sets, by itself, differs by no more than half as much at one
/// clock. All rates and clocks are positive.
pub fn follow_the_clock(sets: &[&[(f64, f64)]]) -> bool {
    let spread = |value: fn(&(f64, f64)) -> f64| {
        let relative = |set: &&[(f64, f64)]| {
            let values = Sample::new(set.iter().map(value).collect())?;
            Some(values.values().iter().map(|value| value / values.median()).collect::<Vec<_>>())
        };
        let all: Option<Vec<_>> = sets.iter().map(relative).collect();
        let all = Sample::new(all?.concat()).filter(|all| all.len() > 1)?;
        // A step of the clock that is not in the middle of a set moves its quartiles only.
        Some(all.deviation().max(all.quartile_range() / DEVIATIONS_BETWEEN_QUARTILES))
    };
    let (as_they_are, in_cycles) = (spread(|pair| pair.0), spread(|pair| pair.0 / pair.1));
    as_they_are.zip(in_cycles).is_some_and(|(moving, still)| moving > 0.0 && still <= FOLLOWING * moving)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of 16 cycles on a core whose clock steps, read with an error of 0.2%.
    fn chain(clocks: &[f64]) -> Vec<(f64, f64)> {
        clocks.iter().enumerate().map(|(at, clock)| (clock / 16.0 * (1.0 + 0.002 * (at % 3) as f64), *clock)).collect()
    }

    const STEPS: [f64; 8] = [2.2, 2.4, 2.3, 2.2, 2.6, 2.5, 2.3, 2.7];

    #[test]
    fn work_of_a_core_follows_its_clock() {
        assert!(follow_the_clock(&[&chain(&STEPS)]));
        for slow in 3..=7 {
            let dropped: Vec<f64> = (0..10).map(|at| if at < slow { 2.4 } else { 3.0 }).collect();
            assert!(follow_the_clock(&[&chain(&dropped)]), "{slow} of 10");
        }
        // Two sets at clocks of their own.
        assert!(follow_the_clock(&[&chain(&STEPS), &chain(&STEPS.map(|clock| clock * 0.7))]));
    }

    #[test]
    fn other_values_do_not() {
        let memory: Vec<_> =
            STEPS.iter().enumerate().map(|(at, clock)| (30.0 + (at % 3) as f64 * 0.1, *clock)).collect();
        let against: Vec<_> = STEPS.iter().map(|clock| (clock.recip(), *clock)).collect();
        for set in [&memory, &against, &chain(&[2.4; 8]), &Vec::new()] {
            assert!(!follow_the_clock(&[set]), "{set:?}");
        }
    }
}
