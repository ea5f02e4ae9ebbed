//! Parts that are alike and next to each other as one, where there are too many to be seen.

use std::collections::HashMap;

use super::pieces::Tree;
use crate::figure::{Part, What};

/// The trees as parts. Where they have more strands than `most`, neighbours that are alike become one: first the parts next to the
/// strands, then those around them, and strands themselves at last.
pub(super) fn folded(mut trees: Vec<Tree>, most: usize) -> Vec<Part> {
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

/// How many strands are drawn.
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

/// What trees that are alike have in common: everything but their numbers, and how many they stand for.
type Shape = (What, String, String, bool, Option<u32>, Vec<(usize, usize)>);

/// Every shape that was met, by number.
#[derive(Default)]
struct Shapes(HashMap<Shape, usize>);

impl Shapes {
    fn of(&mut self, tree: &Tree) -> usize {
        let inside = tree.inside.iter().map(|inner| (self.of(inner), inner.times)).collect();
        let (usable, kind) = tree.leaf.map_or((false, None), |leaf| (leaf.usable, leaf.kind));
        let next = self.0.len();
        *self.0.entry((tree.what, tree.kind.clone(), tree.detail.clone(), usable, kind, inside)).or_insert(next)
    }
}

fn part(tree: Tree) -> Part {
    let parts: Vec<Part> = tree.inside.into_iter().map(part).collect();
    let number = tree.number.filter(|_| tree.times == 1).map(|number| number.to_string());
    let label = match (tree.what, number) {
        (What::Strand, Some(number)) => number,
        (_, Some(number)) => format!("{} {number}", tree.kind),
        (_, None) => tree.kind,
    };
    Part {
        what: tree.what,
        label: match (tree.what, tree.detail.as_str()) {
            (_, "") => label,
            (What::Cache, detail) => format!("{label} {detail}"),
            (_, detail) => format!("{label} ({detail})"),
        },
        strand: tree.leaf.map(|leaf| leaf.id),
        usable: tree.leaf.map_or_else(|| parts.iter().any(|part| part.usable), |leaf| leaf.usable),
        times: tree.times,
        parts,
    }
}
