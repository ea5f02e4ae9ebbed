//! From parts that are stretches of strands to parts inside each other; parts that are alike and next to each other become one
//! where there are too many to be seen.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::iter::Peekable;

use crate::figure::{Part, What};

/// A part that holds strands which are next to each other in logical order.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) what: What,
    /// What such parts are called: `package`, `L3`.
    pub(super) kind: String,
    pub(super) number: Option<u32>,
    /// Its size, if it has one.
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
struct Tree {
    piece: Piece,
    leaf: Option<Leaf>,
    /// How many parts alike it represents.
    times: usize,
    inside: Vec<Tree>,
}

/// Pieces inside each other: whichever begins first, then the longer one, then the one that is further out by its nature. Where two
/// overlap, the later one ends with the earlier.
fn nested(mut pieces: Vec<Piece>, leaves: &[Leaf]) -> Vec<Tree> {
    let cores = pieces.iter().filter(|piece| piece.what == What::Core).map(|piece| (piece.from, piece.to));
    let mut cores: Vec<(usize, usize)> = cores.collect();
    cores.sort_unstable();
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
        trees.push(Tree { piece, leaf: None, times: 1, inside: parts });
        at = end;
    }
    trees.extend(leaves[at..to].iter().map(strand));
    trees
}

fn strand(leaf: &Leaf) -> Tree {
    let (kind, number, detail) = ("strand".to_owned(), Some(leaf.id), String::new());
    let piece = Piece { what: What::Strand, kind, number, detail, from: 0, to: 0 };
    Tree { piece, leaf: Some(*leaf), times: 1, inside: Vec::new() }
}

/// Pieces as parts inside each other. Where these have more strands than `most`, neighbours that are alike become one: first the parts next to the
/// strands, then those around them, and strands themselves at last.
pub(super) fn folded(pieces: Vec<Piece>, leaves: &[Leaf], most: usize) -> Vec<Part> {
    let mut trees = nested(pieces, leaves);
    let height = trees.iter().map(depth).max().unwrap_or(0);
    let mut shapes = Shapes::default();
    for level in (1..=height).chain([0]) {
        if trees.iter().map(drawn).sum::<usize>() <= most {
            break;
        }
        trees = merged(trees, level, &mut shapes);
    }
    trees.into_iter().map(part).collect()
}

/// How many levels lie inside; 0 for a strand.
fn depth(tree: &Tree) -> usize {
    tree.inside.iter().map(|inner| depth(inner) + 1).max().unwrap_or(0)
}

fn drawn(tree: &Tree) -> usize {
    if tree.leaf.is_some() { 1 } else { tree.inside.iter().map(drawn).sum() }
}

fn merged(trees: Vec<Tree>, level: usize, shapes: &mut Shapes) -> Vec<Tree> {
    let mut kept: Vec<(Option<usize>, Tree)> = Vec::new();
    for mut tree in trees {
        if depth(&tree) != level {
            tree.inside = merged(tree.inside, level, shapes);
            kept.push((None, tree));
            continue;
        }
        let shape = shapes.of(&tree);
        match kept.last_mut() {
            Some((Some(last), one)) if *last == shape => one.times = one.times.saturating_add(tree.times),
            _ => kept.push((Some(shape), tree)),
        }
    }
    kept.into_iter().map(|(_, tree)| tree).collect()
}

/// What trees that are alike have in common: everything but their numbers, and how many they represent.
type Shape = (What, String, String, bool, Option<u32>, Vec<(usize, usize)>);

#[derive(Default)]
struct Shapes(HashMap<Shape, usize>);

impl Shapes {
    fn of(&mut self, tree: &Tree) -> usize {
        let inside = tree.inside.iter().map(|inner| (self.of(inner), inner.times)).collect();
        let (usable, kind) = tree.leaf.map_or((false, None), |leaf| (leaf.usable, leaf.kind));
        let next = self.0.len();
        let Piece { what, kind: name, detail, .. } = tree.piece.clone();
        *self.0.entry((what, name, detail, usable, kind, inside)).or_insert(next)
    }
}

fn part(tree: Tree) -> Part {
    let parts: Vec<Part> = tree.inside.into_iter().map(part).collect();
    let Piece { what, kind, number, detail, .. } = tree.piece;
    let label = match number.filter(|_| tree.times == 1) {
        Some(number) if what == What::Strand => number.to_string(),
        Some(number) => format!("{kind} {number}"),
        None => kind,
    };
    Part {
        what,
        label: match detail.as_str() {
            "" => label,
            detail if what == What::Cache => format!("{label} {detail}"),
            detail => format!("{label} ({detail})"),
        },
        strand: tree.leaf.map(|leaf| leaf.id),
        usable: tree.leaf.map_or_else(|| parts.iter().any(|part| part.usable), |leaf| leaf.usable),
        times: tree.times,
        parts,
    }
}
