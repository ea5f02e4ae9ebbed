//! Marks in a block that is to be written: what makes a store that did not happen visible.
//!
//! Before each repetition, one line in every [`SPACING`] lines is overwritten with something that the pass never writes,
//! and after it those lines must hold what the pass writes. The marked lines move on with each repetition. A check of
//! every line would take as long as the pass, so it is done once, after the first repetition: a pass that leaves out
//! lines leaves out the same ones each time.

use crate::block::Line;
use crate::kernel::Error;

use super::check_line;

/// Lines between two marks: 16 KiB. At 256 MiB that is 16,384 marks.
const SPACING: usize = 256;

/// By how many lines the marks move each time: odd, so that they come by every line.
const MOVE: usize = 37;

const MARK: Line = Line([0xdead_beef_0bad_cafe; Line::WORDS]);

#[derive(Debug, Default)]
pub(super) struct Marks {
    repetition: usize,
}

impl Marks {
    /// Moves on and overwrites the marked lines.
    pub(super) fn set(&mut self, lines: &mut [Line]) {
        self.repetition += 1;
        for i in self.places(lines.len()) {
            lines[i] = MARK;
        }
    }

    /// The verdict on a run of the kernel `name`: whether the lines hold what they should.
    pub(super) fn check(&self, name: &str, lines: &[Line], expected: impl Fn(usize) -> Line) -> Result<(), Error> {
        let check = |i: usize| check_line(name, i, expected(i), lines[i]);
        match self.repetition {
            0 | 1 => (0..lines.len()).try_for_each(check),
            _ => self.places(lines.len()).try_for_each(check),
        }
    }

    fn places(&self, lines: usize) -> impl Iterator<Item = usize> + use<> {
        let offset = self.repetition * MOVE % SPACING;
        (0..lines).step_by(SPACING).map(move |first| first + offset % SPACING.min(lines - first))
    }
}
