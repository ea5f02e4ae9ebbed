//! Loads that wait for each other: rings of places in memory, each of which holds the address of the next.
//!
//! A place holds the whole address of the next, so a load is a single instruction and nothing is added to its latency:
//! `mov r, [r]` on x86_64 and `ldr x, [x]` on aarch64. The loads are volatile, which a compiler neither leaves out nor
//! reorders, and each needs the result of the one before it, so a processor cannot begin it any earlier.

use std::array;
use std::ptr;

use super::stream::prefetch;
use crate::block::{Block, Line};

pub const MOST_RINGS: usize = charz_data::params::MAX_CHAINS as usize;

/// Loads of each ring between two looks at the number of turns, which the compiler unrolls. The counting hides behind them.
pub const TURN: u64 = 16;

/// The same by [`Rings::follow_long`]: as many load instructions as the loop of lmbench's `lat_mem_rd` has, which are more than a
/// prefetcher that goes by the address of the load has entries for.
pub const LONG_TURN: u64 = 100;

/// The word of a place that holds the address of the next.
const NEXT: usize = 0;

/// The word of a place that holds its rank, from 1: a place with 0 is in no ring yet.
const RANK: usize = 1;

/// Rings of equal length over one block of memory, with a head on each that moves from place to place.
pub struct Rings {
    block: Block,
    /// The addresses of the places at which the heads are. Those behind `rings` are 0.
    heads: [usize; MOST_RINGS],
    rings: usize,
    length: usize,
    /// Pairs of operations that make the address of the next place out of the word of a place.
    pairs: u64,
}

/// What follows so many rings at once. They stay in registers, but for the last one or two of 16 on x86_64, which has 15 to
/// give away: the detour of those over the stack takes a few cycles, which only rings in the first-level cache show.
#[rustfmt::skip]
const FOLLOW: [unsafe fn(&mut [usize; MOST_RINGS], u64); MOST_RINGS] = [
    follow::<1, TURN>, follow::<2, TURN>, follow::<3, TURN>, follow::<4, TURN>, follow::<5, TURN>, follow::<6, TURN>,
    follow::<7, TURN>, follow::<8, TURN>, follow::<9, TURN>, follow::<10, TURN>, follow::<11, TURN>, follow::<12, TURN>,
    follow::<13, TURN>, follow::<14, TURN>, follow::<15, TURN>, follow::<16, TURN>,
];

/// The same, where the words of places take operations to become addresses.
#[rustfmt::skip]
const COMPUTE: [unsafe fn(&mut [usize; MOST_RINGS], u64, u64); MOST_RINGS] = [
    compute::<1>, compute::<2>, compute::<3>, compute::<4>, compute::<5>, compute::<6>, compute::<7>, compute::<8>,
    compute::<9>, compute::<10>, compute::<11>, compute::<12>, compute::<13>, compute::<14>, compute::<15>, compute::<16>,
];

impl Rings {
    /// Links `rings` rings of `length` places each through a block of zeros: the line `place(i)` is followed by the line
    /// `place(i + 1)`, and the last one of a ring by its first. The heads are on the first ones.
    ///
    /// `None` unless each of these lines is there and comes by once: so a ring that is made has its full length.
    pub fn link(mut block: Block, rings: usize, length: usize, place: impl Fn(usize) -> usize) -> Option<Rings> {
        if length == 0 || !(1..=MOST_RINGS).contains(&rings) {
            return None;
        }
        let lines = block.lines_mut();
        // The loop that follows a ring gets its places by their addresses alone.
        let start = lines.as_mut_ptr().expose_provenance();
        let address = |line: usize| start + line * Line::BYTES;
        let mut heads = [0; MOST_RINGS];
        for (ring, head) in heads[..rings].iter_mut().enumerate() {
            let (mut first, mut last) = (None, None::<usize>);
            for rank in ring * length..(ring + 1) * length {
                // Asked once: what is linked is what was looked at.
                let here = place(rank);
                let line = lines.get_mut(here).filter(|line| line.0[RANK] == 0)?;
                line.0[RANK] = rank as u64 + 1;
                if let Some(last) = last.replace(here) {
                    lines[last].0[NEXT] = address(here) as u64;
                }
                first.get_or_insert(here);
            }
            let (first, last) = first.zip(last)?;
            lines[last].0[NEXT] = address(first) as u64;
            *head = address(first);
        }
        Some(Rings { block, heads, rings, length, pairs: 0 })
    }

    /// The same rings, of which the word of a place becomes the address of the next by `pairs` pairs of operations: no load can begin before
    /// they have ended.
    pub fn computing(mut self, pairs: u64) -> Rings {
        for line in self.block.lines_mut().iter_mut().filter(|line| line.0[RANK] != 0) {
            line.0[NEXT] = (self.pairs..pairs).fold(line.0[NEXT], |word, _| before(word));
        }
        Rings { pairs: self.pairs.max(pairs), ..self }
    }

    /// Moves each head on by `turns` times [`TURN`] places.
    pub fn follow(&mut self, turns: u64) {
        assert_eq!(self.pairs, 0, "the words of these rings are no addresses");
        // SAFETY: `link` put the first `rings` heads on places, each of which holds the address of a place; nothing writes to
        // the block, which `self` owns, afterwards, but for `computing`, which says so by `pairs`.
        // SAFETY: the function that was chosen looks at `rings` heads.
        unsafe { FOLLOW[self.rings - 1](&mut self.heads, turns) }
    }

    /// Moves the first head on by `turns` times [`LONG_TURN`] places.
    pub fn follow_long(&mut self, turns: u64) {
        assert_eq!(self.pairs, 0, "the words of these rings are no addresses");
        // SAFETY: as in `follow`; there is at least one ring, and one head is looked at.
        unsafe { follow::<1, LONG_TURN>(&mut self.heads, turns) }
    }

    /// Moves each head on by `turns` places, one after the other: each asks for its next place, and the next head computes meanwhile, as
    /// hardware threads do that a core switches between.
    pub fn compute(&mut self, turns: u64) {
        // SAFETY: as in `follow`; `computing` left each place a word that becomes such an address by `pairs` pairs of operations.
        unsafe { COMPUTE[self.rings - 1](&mut self.heads, turns, self.pairs) }
    }

    /// The rank of the place at which each head is, as its place says: those of a ring follow those of the ring before.
    pub fn ranks(&self) -> impl Iterator<Item = u64> {
        let lines = self.block.lines();
        let start = lines.as_ptr().addr();
        self.heads[..self.rings].iter().map(move |head| lines[(head - start) / Line::BYTES].0[RANK] - 1)
    }

    pub fn rings(&self) -> usize {
        self.rings
    }

    pub fn length(&self) -> usize {
        self.length
    }

    pub fn block(&self) -> &Block {
        &self.block
    }
}

/// Moves the first `N` heads on by `turns` times `LOADS` places.
///
/// # Safety
/// Each of them is the address of a place of some ring, and the memory of the ring is there.
#[inline(never)]
unsafe fn follow<const N: usize, const LOADS: u64>(heads: &mut [usize; MOST_RINGS], turns: u64) {
    let mut at: [usize; N] = array::from_fn(|ring| heads[ring]);
    for _ in 0..turns {
        for _ in 0..LOADS {
            for head in &mut at {
                // SAFETY: the caller vouches for the first place; each place holds the address of another in its first word.
                *head = unsafe { ptr::with_exposed_provenance::<usize>(*head).read_volatile() };
            }
        }
    }
    heads[..N].copy_from_slice(&at);
}

/// Moves the first `N` heads on by `turns` places, each by `pairs` pairs of operations on what the load found.
///
/// # Safety
/// Each of them is the address of a place of some ring, whose word becomes such an address by these operations, and the memory of the ring is
/// there.
#[inline(never)]
unsafe fn compute<const N: usize>(heads: &mut [usize; MOST_RINGS], turns: u64, pairs: u64) {
    let mut at: [usize; N] = array::from_fn(|ring| heads[ring]);
    for _ in 0..turns {
        for head in &mut at {
            // SAFETY: the caller vouches for the first place, and that the word of each becomes the address of another.
            let word = unsafe { ptr::with_exposed_provenance::<u64>(*head).read_volatile() };
            *head = (0..pairs).fold(word, |word, _| after(word)) as usize;
            // The next head need not wait for it: behind a load that waits a core has room for a few hundred instructions, which
            // are the operations of two or three heads.
            prefetch(ptr::with_exposed_provenance::<u64>(*head));
        }
    }
    heads[..N].copy_from_slice(&at);
}

/// A pair of operations, a cycle each: compilers fold operations of one kind into one, but not a rotation and an addition. A rotation by 1 takes
/// two on Intel's processors (Agner Fog, "Instruction tables").
#[inline]
const fn after(word: u64) -> u64 {
    word.rotate_left(TURNED).wrapping_add(ADDED)
}

/// The word that such a pair makes this one of.
const fn before(word: u64) -> u64 {
    word.wrapping_sub(ADDED).rotate_right(TURNED)
}

/// Half of the word: two pairs add the constant's halves, added up, to both halves. By an odd rotation 64 pairs subtract
/// no more than the bits of the constant, and what they hide is an address again.
const TURNED: u32 = 32;

/// The increment of Knuth's MMIX generator. Its halves add up to 191,691,982, which has no factor in common with 2^32 - 1, so no number of
/// pairs adds nothing.
const ADDED: u64 = 1_442_695_040_888_963_407;
