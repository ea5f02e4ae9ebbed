//! From parts that are stretches of strands to parts inside each other.

use std::cmp::Reverse;
use std::iter::Peekable;

use crate::figure::What;

/// A part that holds strands which are next to each other in logical order.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) what: What,
    /// What such parts are called: `package`, `L3`.
    pub(super) kind: String,
    pub(super) number: Option<u32>,
    /// What else tells it from others: a size.
    pub(super) detail: String,
    /// Its first strand, by place.
    pub(super) from: usize,
    /// The one behind its last.
    pub(super) to: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    pub(super) id: u32,
    pub(super) usable: bool,
    pub(super) kind: Option<u32>,
}

/// A piece, or a strand, with what lies inside.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) what: What,
    pub(super) kind: String,
    pub(super) number: Option<u32>,
    pub(super) detail: String,
    pub(super) leaf: Option<Leaf>,
    /// How many it stands for.
    pub(super) times: usize,
    pub(super) inside: Vec<Tree>,
}

/// Stretches with the same number, with their first place and the one behind their last; those without a number are left out.
pub(super) fn runs(count: usize, number: impl Fn(usize) -> Option<u32>) -> Vec<(u32, usize, usize)> {
    let mut runs: Vec<(Option<u32>, usize, usize)> = Vec::new();
    for at in 0..count {
        let own = number(at);
        match runs.last_mut() {
            Some((last, _, to)) if *last == own => *to = at + 1,
            _ => runs.push((own, at, at + 1)),
        }
    }
    runs.into_iter().filter_map(|(number, from, to)| Some((number?, from, to))).collect()
}

/// Pieces inside each other: whichever begins first, then the longer one, then the one that is further out by its nature. Where two
/// overlap, the later one ends with the earlier.
pub(super) fn nested(mut pieces: Vec<Piece>, leaves: &[Leaf]) -> Vec<Tree> {
    let cores = stretches(&pieces, What::Core);
    pieces = pieces.into_iter().flat_map(|piece| slots(piece, &cores)).collect();
    let rank = |what: What| match what {
        What::Package => 0,
        What::NumaNode => 1,
        What::Group => 2,
        What::Cache => 3,
        What::Core => 4,
        What::Alu => 5,
        What::Strand => 6,
    };
    // Of caches that hold the same strands, those of a higher level are further out. Stable: groups are as they were named.
    let level = |piece: &Piece| if piece.what == What::Cache { piece.kind.clone() } else { String::new() };
    let key = |piece: &Piece| (piece.from, usize::MAX - piece.to, rank(piece.what), Reverse(level(piece)));
    pieces.sort_by_cached_key(key);
    inside(0, leaves.len(), &mut pieces.into_iter().peekable(), leaves)
}

fn stretches(pieces: &[Piece], what: What) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> =
        pieces.iter().filter(|piece| piece.what == what).map(|piece| (piece.from, piece.to)).collect();
    found.sort_unstable();
    found
}

/// A slot ends with its core, although that of the next one has the same number; a slot that is all of its core, or a strand alone,
/// says nothing.
fn slots(piece: Piece, cores: &[(usize, usize)]) -> Vec<Piece> {
    if piece.what != What::Alu {
        return vec![piece];
    }
    let first = cores.partition_point(|(_, to)| *to <= piece.from);
    let own = cores[first..].iter().take_while(|(from, _)| *from < piece.to);
    own.filter_map(|&(core_from, core_to)| {
        let (from, to) = (piece.from.max(core_from), piece.to.min(core_to));
        let telling = to - from > 1 && (from, to) != (core_from, core_to);
        telling.then(|| Piece { from, to, ..piece.clone() })
    })
    .collect()
}

fn inside(from: usize, to: usize, pieces: &mut Peekable<impl Iterator<Item = Piece>>, leaves: &[Leaf]) -> Vec<Tree> {
    let mut trees = Vec::new();
    let mut at = from;
    while let Some(piece) = pieces.next_if(|piece| piece.from < to) {
        // What overlapped with one that is done begins behind it.
        let (begin, end) = (piece.from.max(at), piece.to.min(to));
        if begin >= end {
            continue;
        }
        trees.extend(leaves[at..begin].iter().map(strand));
        let parts = inside(begin, end, pieces, leaves);
        let Piece { what, kind, number, detail, .. } = piece;
        trees.push(Tree { what, kind, number, detail, leaf: None, times: 1, inside: parts });
        at = end;
    }
    trees.extend(leaves[at..to].iter().map(strand));
    trees
}

fn strand(leaf: &Leaf) -> Tree {
    Tree {
        what: What::Strand,
        kind: "strand".into(),
        number: Some(leaf.id),
        detail: String::new(),
        leaf: Some(*leaf),
        times: 1,
        inside: Vec::new(),
    }
}
