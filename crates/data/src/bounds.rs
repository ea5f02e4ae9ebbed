//! The values that a parameter takes.

use crate::quantity;

/// What a parameter's value is, and how large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// A whole number.
    Count(Bounds),
    /// A size: `48KiB`.
    Bytes(Bounds),
    /// A time: `50ms`.
    Nanoseconds(Bounds),
    /// One of a few words.
    Word,
}

impl Quantity {
    /// The smallest and the largest value as they are typed, and what each is a multiple of: `64B to 1PiB, in multiples of 64B`. Nothing of
    /// words.
    pub fn range(self) -> String {
        let (bounds, show): (_, fn(u64) -> String) = match self {
            Quantity::Count(bounds) => (bounds, |number| number.to_string()),
            Quantity::Bytes(bounds) => (bounds, quantity::show_bytes),
            Quantity::Nanoseconds(bounds) => (bounds, quantity::show_nanos),
            Quantity::Word => return String::new(),
        };
        let typed = |number| show(number).replace(' ', "");
        let multiples = if bounds.multiple_of > 1 {
            format!(", in multiples of {}", typed(bounds.multiple_of))
        } else {
            String::new()
        };
        format!("{} to {}{multiples}", typed(bounds.min), typed(bounds.max))
    }
}

/// The numbers that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// The smallest.
    pub min: u64,
    /// The largest.
    pub max: u64,
    /// What each is a multiple of, 1 for any.
    pub multiple_of: u64,
}

/// Bytes of a cache line on every processor that charz runs on, or a part of one. Kernels stream whole lines.
pub(crate) const LINE: u64 = 64;
pub(crate) const PETABYTE: u64 = 1 << 50;
/// The most threads that a runtime can be asked to keep: more than any has.
pub(crate) const MAX_POOL: u64 = 1 << 20;
/// The most rows of a matrix: it takes 8 GiB.
pub(crate) const MAX_ORDER: u64 = 32_768;
/// The most levels of the recursion: 8⁶ products.
pub(crate) const MAX_DEPTH: u64 = 6;
/// The most chains that a worker follows: their heads are registers.
pub const MAX_CHAINS: u64 = 16;
/// The most operations between two loads: 16 chains of them make a stretch of 20 µs.
pub const MAX_OPS: u64 = 4096;
/// The longest timeout: a worker that waits does not look at its watch.
pub const MAX_TIMEOUT_NS: u64 = 100_000_000;
/// Of the time between two samples.
pub(crate) const PERIOD_BOUNDS: Bounds = Bounds::new(1, 2_000_000_000, 1);
/// Ten minutes: the CMT article counted units of work for five.
pub(crate) const SPAN_BOUNDS: Bounds = Bounds::new(1, 600_000_000_000, 1);
pub(crate) const SECTION_BOUNDS: Bounds = Bounds::new(0, 1_000_000, 1);

impl Bounds {
    pub(crate) const fn new(min: u64, max: u64, multiple_of: u64) -> Bounds {
        Bounds { min, max, multiple_of }
    }

    /// The number, or a clause that says why it is none of these; `show` writes numbers as they are typed.
    fn check(self, number: u64, text: &str, show: fn(u64) -> String) -> Result<u64, String> {
        let Bounds { min, max, multiple_of } = self;
        if number < min {
            return Err(format!("{text:?} is below the minimum of {}", show(min)));
        }
        if number > max {
            return Err(format!("{text:?} exceeds the maximum of {}", show(max)));
        }
        if !number.is_multiple_of(multiple_of) {
            let next = show(number.next_multiple_of(multiple_of));
            return Err(format!("{text:?} is not a multiple of {}; the next one is {next}", show(multiple_of)));
        }
        Ok(number)
    }

    pub(crate) fn count(self, text: &str) -> Result<u64, String> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse::<u64>().ok().filter(|_| digits);
        let wrong = || format!("{text:?} is not a whole number from {} to {}", self.min, self.max);
        self.check(number.ok_or_else(wrong)?, text, |number| number.to_string())
    }

    pub(crate) fn bytes(self, text: &str) -> Result<u64, String> {
        self.check(quantity::bytes(text)?, text, quantity::show_bytes)
    }

    pub(crate) fn nanos(self, text: &str) -> Result<u64, String> {
        self.check(quantity::nanos(text)?, text, quantity::show_nanos)
    }

    /// Bytes with a unit, or as a plain number.
    pub(crate) fn bytes_or_count(self, text: &str) -> Result<u64, String> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if digits { self.count(text) } else { self.bytes(text) }
    }
}
