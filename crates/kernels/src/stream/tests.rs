use charz_data::{Layout, PageKind, Params};
use proptest::collection::vec;
use proptest::prelude::*;

use super::read::{Reader, Reading};
use super::write::{Way, Writer, Writing, zeros};
use super::*;
use crate::block::Block;
use crate::kernel::Worker;
use crate::sys::stream::{Ahead, TURN, Vectors, doubles, fill, fill_nt, sum, transfer_nt};
use crate::tests::{check_noticed, verdict, watch};

fn lines(words: &[[u64; Line::WORDS]]) -> Vec<Line> {
    words.iter().copied().map(Line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sums_agree(words in vec(any::<[u64; Line::WORDS]>(), 0..100)) {
        let lines = lines(&words);
        let whole = &lines[..lines.len() / (3 * TURN) * (3 * TURN)];
        let expected = whole.iter().flat_map(|line| line.0).fold(0_u64, u64::wrapping_add);
        let (first, rest) = whole.split_at(whole.len() / 3);
        let (second, third) = rest.split_at(whole.len() / 3);
        for vectors in [Vectors::widest(), Vectors::BASE] {
            prop_assert_eq!(sum(vectors, Ahead::Pages, [whole]), expected, "{}", vectors.name());
            prop_assert_eq!(sum(vectors, Ahead::Pages, [first, second, third]), expected, "{}", vectors.name());
        }
    }

    #[test]
    fn fills_fill(length in 0..100_usize, before: u64, word: u64) {
        let expected = vec![Line([word; Line::WORDS]); length];
        for vectors in [Vectors::widest(), Vectors::BASE] {
            for pass in [fill, fill_nt] {
                let mut lines = vec![Line([before; Line::WORDS]); length];
                pass(vectors, Ahead::Pages, &mut lines, word);
                prop_assert_eq!(&lines, &expected, "{}", vectors.name());
            }
        }
    }

    #[test]
    fn transfers_transfer(words in vec(any::<[[f64; Line::WORDS]; 2]>(), 0..50), factor: f64) {
        let bits = |of: usize| words.iter().map(|pair| Line(pair[of].map(f64::to_bits))).collect::<Vec<_>>();
        let (b, c) = (bits(0), bits(1));
        for vectors in [Vectors::widest(), Vectors::BASE] {
            let mut a = vec![Line([0; Line::WORDS]); words.len()];
            transfer_nt(vectors, Ahead::Nothing, &mut a, [&b], |[b]| *b);
            prop_assert_eq!(&a, &b, "{}", vectors.name());
            transfer_nt(vectors, Ahead::Nothing, &mut a, [&b, &c], |from| doubles(from, |[b, c]| b + factor * c));
            for (found, [b, c]) in a.iter().zip(&words) {
                for ((found, b), c) in found.0.iter().zip(b).zip(c) {
                    let (found, expected) = (f64::from_bits(*found), b + factor * c);
                    prop_assert!(found == expected || found.is_nan() && expected.is_nan(), "{} {}", found, expected);
                }
            }
        }
    }
}

fn params(size: u64) -> Params {
    Params { iterations: 1, size_bytes: size, pages: PageKind::Small, layout: Layout::default(), ..Params::SMALL }
}

#[test]
fn wrong_sums_are_noticed() {
    let size = params(1 << 20);
    check_noticed(&mut Reader::new(Reading::<1>::new("one", &size).unwrap(), 2).unwrap(), None, |reader| {
        reader.found += 1
    });
    check_noticed(&mut Reader::new(Reading::<8>::new("eight", &size).unwrap(), 0).unwrap(), None, |reader| {
        reader.found = 0
    });
}

fn writer(way: Way, size: u64) -> Writer {
    Writer::new(Writing::new("test", way, &params(size)).unwrap()).unwrap()
}

/// Spoils every 37th line, so marks as far apart as they are meet one.
fn spoil(block: &mut Block) {
    block.lines_mut().iter_mut().step_by(37).for_each(|line| line.0[7] ^= 1);
}

#[test]
fn wrong_stores_are_noticed() {
    let vectors = Vectors::widest();
    let others = [
        Way::Vectors(vectors, 5),
        Way::NonTemporal(vectors, 7),
        Way::Memset(usize::MAX),
        Way::Memset(3),
        Way::Copy(vectors),
    ];
    let others = others.into_iter().chain([Way::Scale(vectors), Way::Add(vectors), Way::Triad(vectors)]);
    for way in zeros().into_iter().chain(others) {
        check_noticed(&mut writer(way, 12 << 20), None, |writer| spoil(&mut writer.block));
    }
}

#[test]
fn a_single_wrong_line_is_noticed_the_first_time() {
    for index in [0, 1, 4097, 16383] {
        let mut writer = writer(zeros().unwrap(), 1 << 20);
        let error = verdict(&mut writer, None, |writer| writer.block.lines_mut()[index].0[3] = 9).unwrap_err();
        assert!(error.to_string().contains(&format!("line {index} ")), "{error}");
    }
}

#[test]
fn a_run_that_stores_nothing_is_noticed_every_time() {
    let mut writer = writer(zeros().unwrap(), 1 << 20);
    verdict(&mut writer, None, |_| ()).unwrap();
    for repetition in 2..300 {
        writer.prepare();
        assert!(writer.verify().is_err(), "repetition {repetition}");
        writer.run(&watch(None));
        writer.verify().expect("an honest run");
    }
}
