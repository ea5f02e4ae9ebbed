//! What is left of a value after a reference has been taken off.

use super::{Interval, Method};

/// A value with the interval that says how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub interval: Interval,
}

impl Estimate {
    /// This minus an independently measured `reference`, both in the same unit.
    ///
    /// The interval is that of Zou and Donner, "Construction of Confidence Limits About Effect Measures: A General
    /// Approach", Statistics in Medicine 27 (2008), called MOVER: on each side the root of the squared distances from the
    /// values to those ends that pull this way. It needs no normal values, and keeps the lopsidedness of lopsided
    /// intervals. Its confidence is the lower one of the two. Simulated for medians of 6 to 30 normal and lognormal values,
    /// it holds the true difference in 95 % or more.
    pub fn minus(&self, reference: &Estimate) -> Estimate {
        let value = self.value - reference.value;
        let (own, theirs) = (&self.interval, &reference.interval);
        Estimate {
            value,
            interval: Interval {
                low: value - (self.value - own.low).hypot(theirs.high - reference.value),
                high: value + (own.high - self.value).hypot(reference.value - theirs.low),
                confidence: own.confidence.min(theirs.confidence),
                method: Method::Difference,
            },
        }
    }

    /// Whether it cannot be distinguished from 0: the interval covers 0. An interval wholly below 0 is not this, and where less
    /// than nothing makes no sense it says that the reference was not one.
    pub fn below_resolution(&self) -> bool {
        self.interval.covers(0.0)
    }
}

#[cfg(test)]
mod tests;
