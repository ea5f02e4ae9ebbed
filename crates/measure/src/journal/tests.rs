//! What a journal guarantees when its file is damaged or its disk fails.

use std::os::unix::fs::{PermissionsExt, symlink};

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Cell {
    name: String,
    rate: f64,
}

const HEADER: &str = "the plan";

fn cell(index: usize) -> Cell {
    Cell { name: format!("cell {index} of \"all\"\n"), rate: 1.0 / (index as f64 + 3.0) }
}

fn cells(count: usize) -> Vec<Cell> {
    (0..count).map(cell).collect()
}

fn file(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("r.json.journal")
}

fn written(path: &Path, count: usize) -> Vec<u8> {
    let mut journal = Journal::create(path, HEADER.to_owned()).unwrap();
    cells(count).iter().for_each(|cell| journal.append(cell).unwrap());
    fs::read(path).unwrap()
}

fn parsed(bytes: &[u8]) -> Result<Recovered<String, Cell>, JournalError> {
    parse(bytes, Path::new("journal"))
}

#[track_caller]
fn read_back(path: &Path) -> Recovered<String, Cell> {
    let recovered = parsed(&fs::read(path).unwrap()).unwrap();
    assert_eq!(recovered.header, HEADER);
    recovered
}

#[track_caller]
fn refuses(result: Result<impl Sized, JournalError>, part: &str) {
    let error = result.err().expect("it was accepted").to_string();
    assert!(error.contains(part), "{error}");
}

/// Where the lines of a journal begin, and its end.
fn starts(bytes: &[u8]) -> Vec<usize> {
    let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(newlines).collect()
}

#[test]
fn acknowledged_records_are_recovered_and_the_journal_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let before = written(&path, 2);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let (mut journal, recovered) = Journal::reopen::<String, Cell>(&path).unwrap();
    assert_eq!((recovered.records, recovered.damaged, recovered.unnamed), (cells(2), vec![], 0));
    assert_eq!(fs::read(&path).unwrap(), before, "opening writes nothing");
    journal.append(&cell(2)).unwrap();
    assert_eq!(read_back(&path).records, cells(3));
    assert!(fs::read(&path).unwrap().starts_with(&before), "a journal only grows");
}

/// As a crash or a full disk leaves it.
#[test]
fn any_prefix_holds_its_whole_lines_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let whole = written(&path, 3);
    let starts = starts(&whole);
    for end in 0..=whole.len() {
        // Anew: ext4 waits for the disk when a file that was cut is closed.
        let _ = fs::remove_file(&path);
        fs::write(&path, &whole[..end]).unwrap();
        // A line is whole when only its newline is missing.
        let Some(lines) = starts[1..].iter().filter(|start| **start <= end + 1).count().checked_sub(1) else {
            refuses(Journal::reopen::<String, Cell>(&path), if end == 0 { "is empty" } else { "journal" });
            assert_eq!(fs::read(&path).unwrap(), &whole[..end], "a refused file is left alone");
            assert!(remove_unbegun(&path) && !path.exists(), "nothing was recorded, cut at {end}");
            continue;
        };
        assert!(!remove_unbegun(&path) && path.exists(), "cut at {end}");
        let (mut journal, recovered) = Journal::reopen::<String, Cell>(&path).unwrap();
        assert_eq!(recovered.records, cells(lines), "cut at {end}");
        let torn = !starts.contains(&end) && !starts.contains(&(end + 1));
        let named: Vec<u64> = recovered.damaged.iter().map(|(line, _)| *line).collect();
        assert_eq!(named, Vec::from_iter(torn.then_some(lines as u64 + 2)), "cut at {end}");
        // Without waiting for the disk.
        journal.file.write_all(if journal.torn { b"\n" } else { b"" }).unwrap();
        journal.file.write_all(&whole[starts[1]..starts[2]]).unwrap();
        assert_eq!(read_back(&path).records, [cells(lines), cells(1)].concat(), "cut at {end}");
    }
}

/// A line that is hit is named, or holds what it says now; all other lines count. A bit can join two lines, or part one.
#[test]
fn a_flipped_bit_costs_no_other_line() {
    let folder = tempfile::tempdir().unwrap();
    let whole = written(&file(&folder), 3);
    let starts = starts(&whole);
    for bit in starts[1] * 8..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let hit = starts.iter().filter(|start| **start <= bit / 8).count() - 2;
        let joined = whole[bit / 8] == b'\n';
        let recovered = parsed(&bytes).unwrap();
        let others = cells(3).into_iter().enumerate().filter(|(at, _)| *at != hit && !(joined && *at == hit + 1));
        for (_, cell) in others {
            assert!(recovered.records.contains(&cell), "bit {bit}: {cell:?} was lost");
        }
        let silent = recovered.damaged.is_empty();
        assert!(recovered.records.len() == 3 || !silent, "bit {bit}: a loss that is not named");
        let near = |line: u64| (hit as u64 + 2..=hit as u64 + 3).contains(&line);
        assert!(recovered.damaged.iter().all(|(line, _)| near(*line)), "bit {bit}: {:?}", recovered.damaged);
    }
}

#[derive(Clone, Debug)]
enum Line {
    Record(usize),
    Other(Vec<u8>),
    Blank,
}

fn line() -> impl Strategy<Value = Line> {
    let other = prop::collection::vec(any::<u8>().prop_filter("one line", |byte| *byte != b'\n'), 1..40);
    prop_oneof![
        4 => (0..8_usize).prop_map(Line::Record),
        1 => other.prop_filter("not blank", |bytes| !bytes.trim_ascii().is_empty()).prop_map(Line::Other),
        1 => Just(Line::Blank),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn records_among_anything_else(lines in prop::collection::vec(line(), 0..24)) {
        let mut text = format!("{{\"journal\":\"{HEADER}\"}}\n").into_bytes();
        let (mut records, mut damaged) = (Vec::new(), Vec::new());
        for (number, line) in (2_u64..).zip(&lines) {
            match line {
                Line::Record(at) => {
                    text.extend(serde_json::to_vec(&cell(*at)).unwrap());
                    records.push(cell(*at));
                }
                Line::Other(bytes) => {
                    text.extend(bytes);
                    damaged.push(number);
                }
                Line::Blank => {}
            }
            text.push(b'\n');
        }
        let recovered = parsed(&text).unwrap();
        prop_assert_eq!(recovered.records, records);
        prop_assert_eq!(recovered.damaged.iter().map(|(line, _)| *line).collect::<Vec<_>>(), damaged);
    }

    #[test]
    fn any_bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..300), ours in any::<bool>()) {
        let start = if ours { format!("{{\"journal\":\"{HEADER}\"}}\n") } else { String::new() };
        let _ = parsed(&[start.as_bytes(), &bytes].concat());
    }
}

#[test]
fn a_hostile_file_has_only_so_many_lines_named() {
    let text = format!("{{\"journal\":\"{HEADER}\"}}\n{}", "x\n".repeat(107));
    let recovered = parsed(text.as_bytes()).unwrap();
    assert_eq!((recovered.records.len(), recovered.damaged.len(), recovered.unnamed), (0, 100, 7));
}

/// A device without room: the write fails, and so does each later one although there may be room again.
#[test]
fn the_first_failed_write_ends_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let mut journal = Journal::create(&path, HEADER.to_owned()).unwrap();
    journal.append(&cell(0)).unwrap();
    let working = std::mem::replace(&mut journal.file, OpenOptions::new().write(true).open("/dev/full").unwrap());
    refuses(journal.append(&cell(1)), "cannot write");
    journal.file = working;
    refuses(journal.append(&cell(1)), "no more records");
    assert_eq!(read_back(&path).records, cells(1));
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(&file(&folder), HEADER.to_owned()).unwrap();
    refuses(journal.append(&Cell { rate: f64::NAN, ..cell(0) }), "read again");
    journal.append(&cell(0)).unwrap();
    assert_eq!(read_back(&file(&folder)).records, cells(1));
}

#[test]
fn two_do_not_write_to_one_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let journal = Journal::create(&path, HEADER.to_owned()).unwrap();
    refuses(Journal::reopen::<String, Cell>(&path), "another charz");
    journal.file.set_len(0).unwrap();
    assert!(!remove_unbegun(&path), "it is about to be written");
    drop(journal);
    fs::remove_file(&path).unwrap();
    written(&path, 1);
    assert!(Journal::reopen::<String, Cell>(&path).is_ok());
}

#[test]
fn nothing_is_created_where_something_has_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let (mine, link) = (folder.path().join("mine"), folder.path().join("link"));
    fs::write(&mine, "mine").unwrap();
    symlink(folder.path().join("target"), &link).unwrap();
    for path in [&mine, &link] {
        let refused = Journal::create(path, HEADER.to_owned()).unwrap_err();
        let JournalError::System { source, .. } = refused else { panic!("{refused}") };
        assert_eq!(source.kind(), io::ErrorKind::AlreadyExists);
    }
    assert!(!remove_unbegun(&mine) && !remove_unbegun(&link));
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
    assert!(!folder.path().join("target").exists(), "a link was followed");
}

#[test]
fn only_regular_files_of_a_journals_size_are_journals() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, link) = (folder.path().join("pipe"), folder.path().join("link"));
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    written(&file(&folder), 1);
    symlink(file(&folder), &link).unwrap();
    for path in [folder.path(), &pipe, Path::new("/dev/zero"), &folder.path().join("absent"), &link] {
        refuses(Journal::reopen::<String, Cell>(path), "cannot open");
        assert!(path == link || !is_journal(path));
    }
    OpenOptions::new().write(true).open(file(&folder)).unwrap().set_len(MAX_BYTES + 1).unwrap();
    refuses(Journal::reopen::<String, Cell>(&file(&folder)), "at most");
    assert!(is_journal(&file(&folder)), "its first bytes decide");
}
