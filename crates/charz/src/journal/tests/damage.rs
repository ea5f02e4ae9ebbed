//! Files as they come back from crashes, disks and people.

use proptest::prelude::*;

use super::*;
use crate::disk::faulty::{Fault, Faulty};

const RUN: &str = "00112233445566ff";

/// The lines of a journal of `count` cells, newlines included.
fn lines(count: usize) -> Vec<Vec<u8>> {
    let records = (1..).zip(cells(count)).map(|(number, cell)| line::record(RUN, number, &cell).unwrap());
    std::iter::once(line::header(RUN, &plan()).unwrap()).chain(records).collect()
}

/// Writes a file anew. A file that is cut and rewritten is put on the disk by ext4 when it is closed, which takes long.
fn put(path: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(path);
    fs::write(path, bytes).unwrap();
}

/// Appends to a journal as it is, on a disk that works, and checks that nothing else has changed.
#[track_caller]
fn goes_on(path: &Path) {
    let bytes = fs::read(path).unwrap();
    let disk = Faulty::new(usize::MAX, Fault::Short);
    let (mut journal, recovered) = Journal::reopen_on::<Plan, Cell>(&disk, path).unwrap();
    journal.append(&cell(99)).unwrap();
    let mut expected = recovered.records;
    expected.push(cell(99));
    assert_eq!(read(path).records, expected);
    assert!(fs::read(path).unwrap().starts_with(&bytes), "something was written over");
}

#[test]
fn cut_at_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let lines = lines(3);
    let whole = lines.concat();
    let ends: Vec<usize> = lines.iter().scan(0, |end, line| (*end += line.len(), Some(*end - 1)).1).collect();
    for at in 0..=whole.len() {
        put(&path, &whole[..at]);
        if at < ends[0] {
            refuses(recover::<Plan, Cell>(&path), "journal");
            refuses(Journal::reopen::<Plan, Cell>(&path), "journal");
            assert_eq!(fs::read(&path).unwrap(), &whole[..at], "a refused file is left alone");
            continue;
        }
        let intact = ends[1..].iter().filter(|end| **end <= at).count();
        let recovered = read(&path);
        assert_eq!(recovered.records, cells(intact), "cut at {at}");
        let torn = !ends.iter().any(|end| at == *end || at == end + 1);
        let expected = torn.then_some(Dropped { line: intact as u64 + 2, why: Cause::Torn });
        assert_eq!(recovered.dropped, Vec::from_iter(expected), "cut at {at}");
        goes_on(&path);
    }
}

#[test]
fn every_bit_flipped() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let lines = lines(3);
    let whole = lines.concat();
    let line_of = |byte: usize| whole[..byte].iter().filter(|b| **b == b'\n').count();
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        put(&path, &bytes);
        let line = line_of(bit / 8);
        if line == 0 {
            refuses(recover::<Plan, Cell>(&path), "journal");
            continue;
        }
        let recovered = read(&path);
        let others: Vec<Cell> =
            cells(3).into_iter().enumerate().filter(|(at, _)| at + 1 != line).map(|(_, c)| c).collect();
        if recovered.dropped.is_empty() {
            assert_eq!(recovered.records, cells(3), "bit {bit}");
            assert_eq!(bit / 8, line_end(&lines, line), "a flipped bit within a line was not seen");
        } else {
            assert_eq!(recovered.records, others, "bit {bit}");
            // A bit can make a newline of a letter.
            let named = |dropped: &Dropped| [line + 1, line + 2].contains(&(dropped.line as usize));
            assert!(recovered.dropped.iter().all(named), "bit {bit}: {:?}", recovered.dropped);
            let number = line as u64;
            assert!(line == 3 || recovered.missing == [number..=number], "bit {bit}: {:?}", recovered.missing);
        }
    }
}

/// Where a line's newline is.
fn line_end(lines: &[Vec<u8>], line: usize) -> usize {
    lines[..=line].iter().map(Vec::len).sum::<usize>() - 1
}

#[test]
fn every_dropped_line_is_named_with_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let of = |run: &str, number: u64| line::record(run, number, &cell(number as usize - 1)).unwrap();
    let other = line::record(RUN, 9, &"no cell").unwrap();
    let mut damaged = of(RUN, 3);
    damaged[60] ^= 1;
    let torn = &of(RUN, 4)[..30];
    let lines = [
        lines(1).concat(),
        of("ffffffffffffffff", 2),
        of(RUN, 1),
        b"\n# a note\n".to_vec(),
        other,
        damaged,
        of(RUN, 5),
        of(RUN, 2),
        torn.to_vec(),
    ];
    fs::write(&path, lines.concat()).unwrap();
    let recovered = read(&path);
    assert_eq!(recovered.records, [cell(0), cell(1), cell(4)]);
    assert_eq!(recovered.missing, [3..=4]);
    let dropped: Vec<(u64, Cause)> = recovered.dropped.iter().map(|d| (d.line, d.why.clone())).collect();
    let unknown = dropped.iter().find_map(|(_, why)| matches!(why, Cause::Unknown(_)).then(|| why.clone())).unwrap();
    let expected = [
        (3, Cause::Foreign),
        (4, Cause::Repeated(2)),
        (6, Cause::Damaged),
        (7, unknown),
        (8, Cause::Damaged),
        (11, Cause::Torn),
    ];
    assert_eq!(dropped, expected);
    assert!(recovered.dropped[3].to_string().starts_with("line 7: it is intact"), "{}", recovered.dropped[3]);
    goes_on(&path);
}

#[test]
fn a_hostile_file_names_only_so_many_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    fs::write(&path, [lines(1).concat(), b"x\n".repeat(10_007)].concat()).unwrap();
    let recovered = read(&path);
    assert_eq!((recovered.records.len(), recovered.dropped.len(), recovered.unnamed), (1, 10_000, 7));
}

#[test]
fn the_last_number_is_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let last = line::record(RUN, u64::MAX, &cell(1)).unwrap();
    fs::write(&path, [lines(1).concat(), last].concat()).unwrap();
    let (mut journal, recovered) = Journal::reopen::<Plan, Cell>(&path).unwrap();
    assert_eq!(recovered.missing, [2..=u64::MAX - 1]);
    refuses(journal.append(&cell(2)), "no numbers left");
}

#[derive(Clone, Debug)]
enum Piece {
    /// The cell of this index.
    Record(usize),
    /// The same of another run.
    Foreign(usize),
    /// Bytes of nobody.
    Noise(Vec<u8>),
}

fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        4 => (0..8_usize).prop_map(Piece::Record),
        1 => (0..8_usize).prop_map(Piece::Foreign),
        1 => prop::collection::vec(any::<u8>().prop_filter("one line", |byte| *byte != b'\n'), 1..40).prop_map(Piece::Noise),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Lines that are repeated, left out, in any order, of another run or of nobody.
    #[test]
    fn any_mixture_of_lines(pieces in prop::collection::vec(piece(), 0..24)) {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder);
        let mut text = lines(0).concat();
        let mut present = std::collections::BTreeSet::new();
        let mut dropped = Vec::new();
        for (number, piece) in (2_u64..).zip(&pieces) {
            let line = match piece {
                Piece::Record(at) => line::record(RUN, *at as u64 + 1, &cell(*at)).unwrap(),
                Piece::Foreign(at) => line::record("ffffffffffffffff", *at as u64 + 1, &cell(*at)).unwrap(),
                Piece::Noise(bytes) => [&bytes[..], b"\n"].concat(),
            };
            text.extend(line);
            if !matches!(piece, Piece::Record(at) if present.insert(*at)) {
                dropped.push(number);
            }
        }
        fs::write(&path, text).unwrap();
        let recovered = read(&path);
        prop_assert_eq!(recovered.records, present.iter().map(|at| cell(*at)).collect::<Vec<_>>());
        prop_assert_eq!(recovered.dropped.iter().map(|d| d.line).collect::<Vec<_>>(), dropped);
        goes_on(&path);
    }

    /// Whatever stands in a file, reading it ends and invents nothing.
    #[test]
    fn any_bytes(
        start in prop_oneof![Just(Vec::new()), Just(lines(0).concat()), Just(lines(2).concat())],
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b'{'), Just(b'"')], 0..300),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder);
        fs::write(&path, [start, bytes].concat()).unwrap();
        if let Ok(recovered) = recover::<Plan, Cell>(&path) {
            prop_assert!(cells(2).starts_with(&recovered.records));
        }
    }
}
