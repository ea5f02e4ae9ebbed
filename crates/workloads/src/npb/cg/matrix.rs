//! The matrix: a sum of products of sparse random vectors with themselves, of weights that go down from 1 to 0.1, with 0.1 less the shift
//! added to the diagonal.

use std::ops::Range;

use crate::npb::random::{Random, SEED};
use crate::npb::{Member, Over};

/// The smallest weight, and what is added to the diagonal.
const CONDITION: f64 = 0.1;
/// What each vector has at its own number.
const OWN: f64 = 0.5;
/// Non-zeros between two looks at the watch: some 20 µs.
const GROUP: usize = 1 << 14;
/// Sums of a row that are made at once.
const LANES: usize = 4;

/// The vectors that the matrix is made of.
pub(super) struct Generators {
    /// The non-zeros of each, by place, with the number of its first one.
    starts: Vec<usize>,
    places: Vec<u32>,
    values: Vec<f64>,
    /// For each place the vectors that have it.
    holder_starts: Vec<usize>,
    holders: Vec<u32>,
}

impl Generators {
    /// So many vectors, with so many random non-zeros each.
    pub(super) fn new(rows: usize, non_zeros: usize) -> Self {
        let mut random = Random::new(SEED);
        // The specification's program draws one number before the matrix.
        random.next();
        let mask = rows.next_power_of_two() as f64;
        let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
        for own in 0..rows as u32 {
            let first = places.len();
            while places.len() < first + non_zeros {
                let value = random.next();
                let place = (mask * random.next()) as u32;
                if (place as usize) < rows && !places[first..].contains(&place) {
                    places.push(place);
                    values.push(value);
                }
            }
            match places[first..].iter().position(|place| *place == own) {
                Some(at) => values[first + at] = OWN,
                None => {
                    places.push(own);
                    values.push(OWN);
                }
            }
            starts.push(places.len());
        }
        let mut holder_starts = vec![0; rows + 1];
        places.iter().for_each(|place| holder_starts[*place as usize + 1] += 1);
        for row in 0..rows {
            holder_starts[row + 1] += holder_starts[row];
        }
        let (mut next, mut holders) = (holder_starts.clone(), vec![0; places.len()]);
        for vector in 0..rows {
            for place in &places[starts[vector]..starts[vector + 1]] {
                let next = &mut next[*place as usize];
                holders[*next] = vector as u32;
                *next += 1;
            }
        }
        Generators { starts, places, values, holder_starts, holders }
    }

    fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The non-zeros of a vector: places and values.
    fn vector(&self, number: usize) -> impl Iterator<Item = (u32, f64)> + Clone {
        let range = self.starts[number]..self.starts[number + 1];
        self.places[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// These rows of the matrix.
    pub(super) fn matrix(&self, rows: Range<usize>, shift: f64) -> Rows {
        let ratio = CONDITION.powf(1.0 / self.rows() as f64);
        let weights: Vec<f64> =
            std::iter::successors(Some(1.0), |weight| Some(weight * ratio)).take(self.rows()).collect();
        let holders = |row: usize| &self.holders[self.holder_starts[row]..self.holder_starts[row + 1]];
        let length = |holder: &u32| self.starts[*holder as usize + 1] - self.starts[*holder as usize];
        let most = rows.clone().flat_map(holders).map(length).sum();
        let mut matrix = Rows {
            starts: Vec::with_capacity(rows.len() + 1),
            columns: Vec::with_capacity(most),
            values: Vec::with_capacity(most),
        };
        matrix.starts.push(0);
        let mut row_values: Vec<(u32, f64)> = Vec::new();
        for row in rows {
            row_values.clear();
            for holder in holders(row).iter().map(|holder| *holder as usize) {
                let own = self.vector(holder).find(|(place, _)| *place as usize == row).map_or(0.0, |(_, value)| value);
                let scale = weights[holder] * own;
                row_values.extend(self.vector(holder).map(|(place, value)| (place, value * scale)));
                if holder == row {
                    row_values.push((row as u32, CONDITION - shift));
                }
            }
            row_values.sort_by_key(|(column, _)| *column);
            for group in row_values.chunk_by(|one, next| one.0 == next.0) {
                matrix.columns.push(group[0].0);
                matrix.values.push(group.iter().map(|(_, value)| value).sum());
            }
            matrix.starts.push(matrix.columns.len());
        }
        matrix
    }
}

/// Rows of a sparse matrix.
pub(super) struct Rows {
    /// The number of the first non-zero of each row, and of all.
    starts: Vec<usize>,
    columns: Vec<u32>,
    pub(super) values: Vec<f64>,
}

impl Rows {
    /// The products of the rows with a vector.
    pub(super) fn multiply(&self, vector: &[f64], products: &mut [f64], member: &Member<'_>) -> Result<(), Over> {
        let mut next_look = GROUP;
        for (product, range) in products.iter_mut().zip(self.starts.windows(2)) {
            let range = range[0]..range[1];
            *product = row_product(&self.columns[range.clone()], &self.values[range.clone()], vector);
            if range.end >= next_look {
                member.look()?;
                next_look = range.end + GROUP;
            }
        }
        Ok(())
    }
}

#[inline]
fn row_product(columns: &[u32], values: &[f64], vector: &[f64]) -> f64 {
    let ((columns, columns_rest), (values, values_rest)) = (columns.as_chunks::<LANES>(), values.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (columns, values) in columns.iter().zip(values) {
        for ((sum, column), value) in sums.iter_mut().zip(columns).zip(values) {
            *sum += value * vector[*column as usize];
        }
    }
    let rest: f64 = columns_rest.iter().zip(values_rest).map(|(column, value)| value * vector[*column as usize]).sum();
    sums.into_iter().sum::<f64>() + rest
}
