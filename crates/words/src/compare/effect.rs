//! How many times as fast, and by how much.

use charz_data::units;

/// `1.31 ±0.04 times as fast`, or `0.46 to 0.95 times as fast` where the ends are not as far from the middle, or too far for one number;
/// of very little how many times as slow, as `0.004` shows fewer digits.
pub fn times(effect: f64, ends: Option<[f64; 2]>, [fast, slow]: [&str; 2]) -> String {
    let (effect, ends, word) = match effect < LITTLE {
        true => (effect.recip(), ends.map(|[low, high]| [high.recip(), low.recip()]), slow),
        false => (effect, ends, fast),
    };
    let Some([low, high]) = ends else { return format!("{} times as {word}", units::ratio(effect)) };
    // Of the last digit that is shown.
    let digits = [10.0, 100.0].iter().filter(|more| effect < **more).count();
    let step = 0.1_f64.powi(digits as i32);
    let [less, more] = [effect - low, high - effect];
    if (less - more).abs() > LOPSIDED * step || less.max(more) > WIDE * effect {
        return format!("{} to {} times as {word}", units::ratio(low), units::ratio(high));
    }
    // Rounded up, so none seems to be certain.
    let half = (less.max(more) / step - SAME).ceil().max(1.0) * step;
    format!("{} ±{half:.digits$} times as {word}", units::ratio(effect))
}

/// Below so many times as fast it is said how many times as slow.
const LITTLE: f64 = 0.1;
/// What two ends may differ by in digits that are shown.
const LOPSIDED: f64 = 1.5;
/// What makes two numbers different in spite of their arithmetic, in digits that are shown.
const SAME: f64 = 1e-6;
/// The widest half of an interval that is given as one, as a fraction.
const WIDE: f64 = 0.3;

/// A change in percent: `+4.2%`, and `0.0%` without a sign.
pub fn signed(share: f64) -> String {
    let text = format!("{:+.1}%", share * 100.0);
    if ["+0.0%", "-0.0%"].contains(&text.as_str()) { "0.0%".to_owned() } else { text.replace('-', "−") }
}

#[cfg(test)]
mod tests {
    use super::super::sentence;
    use super::*;
    use charz_claims::compare::{Options, compare};
    use charz_data::report::{Unit, fixtures};
    use charz_data::{Better, ReportedUnit};

    #[test]
    fn a_ratio_keeps_its_digits_however_far_it_is_from_one() {
        for (effect, ends, expected) in [
            (1.31, Some([1.27, 1.35]), "1.31 ±0.04 times as fast"),
            (1.5, Some([1.5, 1.5]), "1.50 ±0.01 times as fast"),
            (20.0, Some([19.8, 20.2]), "20.0 ±0.2 times as fast"),
            (0.004, Some([0.0039, 0.0041]), "250 ±7 times as slow"),
            (0.8, Some([0.46, 0.95]), "0.46 to 0.95 times as fast"),
            (0.8, Some([0.5, 1.1]), "0.50 to 1.10 times as fast"),
            (0.8, None, "0.80 times as fast"),
        ] {
            assert_eq!(times(effect, ends, ["fast", "slow"]), expected);
        }
        assert_eq!([-0.0004, 0.0004, 0.042, -0.042].map(signed), ["0.0%", "0.0%", "+4.2%", "−4.2%"]);
    }

    #[test]
    fn joules_are_taken_and_not_fast() {
        let joules = Unit::Reported(ReportedUnit::new("J", Better::Lower).unwrap());
        let [base, new] = [1.0, 0.8].map(|value| fixtures::report(vec![fixtures::cell("a", 1, joules, value)]));
        let sentence = sentence(&compare([&base, &new], &Options::default()).unwrap(), "new");
        assert!(sentence.starts_with("new takes 0.80 ±0.02 times as much at a "), "{sentence}");
    }
}
