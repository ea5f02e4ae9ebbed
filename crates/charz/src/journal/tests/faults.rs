//! Every call of the system fails once, in every way.

use rustix::io::Errno;

use super::*;
use crate::disk::faulty::{ERRORS, Fault, Faulty};

const CELLS: usize = 4;

/// What the sweep loop does. The cells that were acknowledged.
fn sweep(disk: &Faulty, path: &Path) -> Result<Vec<Cell>, JournalError> {
    let mut journal = Journal::create_on(disk, path, &plan())?;
    let mut acknowledged = Vec::new();
    for cell in cells(CELLS) {
        let room = journal.reserve(100);
        if let Err(error) = journal.append(&cell) {
            // Refused room loses nothing; a failed write is the end, though the disk may work again.
            for again in [journal.append(&cell), journal.reserve(1).map(drop)] {
                assert_eq!(
                    again.map_err(|again| (again.to_string(), again.kind())),
                    Err((error.to_string(), error.kind()))
                );
            }
            break;
        }
        acknowledged.push(cell);
        if room.is_err() {
            break;
        }
    }
    Ok(acknowledged)
}

/// The law for one fault; whether it happened.
#[track_caller]
fn check(at: usize, fault: Fault) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let disk = Faulty::new(at, fault);
    let what = || format!("{fault:?} at call {at}, {:?}", disk.failed_call());
    let Ok(acknowledged) = sweep(&disk, &path) else {
        assert!(!path.exists() || !matches!(fault, Fault::Once(_)), "a file is left after {}", what());
        return true;
    };
    let recovered = read(&path);
    let and_one: Vec<Cell> = cells(CELLS).into_iter().take(acknowledged.len() + 1).collect();
    // Only where the disk never answers again can the record in doubt not be taken back.
    let in_doubt = matches!(fault, Fault::Forever(_)) && recovered.records == and_one;
    assert!(recovered.records == acknowledged || in_doubt, "{}: {recovered:?}", what());

    // A power cut leaves at least what was synchronised.
    let bytes = fs::read(&path).unwrap();
    let cut = folder.path().join("cut.jsonl");
    fs::write(&cut, &bytes[..usize::try_from(disk.synced()).unwrap().min(bytes.len())]).unwrap();
    assert_eq!(read(&cut).records, acknowledged, "after a power cut and {}", what());

    // On a disk that works again the sweep goes on.
    let well = Faulty::new(usize::MAX, Fault::Short);
    let (mut journal, recovered) = Journal::reopen_on::<Plan, Cell>(&well, &path).unwrap();
    let mut all = recovered.records;
    journal.append(&cell(99)).unwrap();
    all.push(cell(99));
    assert_eq!(read(&path).records, all, "after {}", what());
    assert!(fs::read(&path).unwrap().starts_with(&bytes), "something was written over after {}", what());
    disk.happened()
}

#[test]
fn whatever_fails_what_was_acknowledged_is_recovered() {
    let of_each = ERRORS.into_iter().flat_map(|errno| [Fault::Once(errno), Fault::Forever(errno), Fault::Torn(errno)]);
    for fault in of_each.chain([Fault::Short]) {
        let calls = (0..).take_while(|at| check(*at, fault)).count();
        assert!(calls >= 3 * CELLS, "{fault:?} was tried at {calls} calls only");
    }
}

#[test]
fn an_interrupted_write_is_taken_up_again() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Faulty::new(1, Fault::Once(Errno::INTR));
    assert_eq!(sweep(&disk, &file(&folder)).unwrap(), cells(CELLS));
    assert_eq!(disk.failed_call(), Some("write"));
}

#[test]
fn without_room_to_take_ahead_one_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Faulty::new(4, Fault::Once(Errno::OPNOTSUPP));
    let mut journal = Journal::create_on(&disk, &file(&folder), &plan()).unwrap();
    assert_eq!(journal.reserve(100).unwrap(), Room::Unknown);
    assert_eq!(disk.failed_call(), Some("allocate"));
    journal.append(&cell(0)).unwrap();
    assert_eq!(read(&file(&folder)).records, cells(1));
}

/// Whoever appends in spite of it, on a file system without locks, loses nothing by our failure.
#[test]
fn what_others_wrote_is_not_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let disk = Faulty::new(5, Fault::Once(Errno::IO));
    let mut journal = Journal::create_on(&disk, &path, &plan()).unwrap();
    journal.alone = false;
    let line = line::record(journal.run(), 7, &cell(7)).unwrap();
    disk::write_all(&System, &journal.file, &line).unwrap();
    refuses(journal.append(&cell(0)), "cannot write");
    assert_eq!(disk.failed_call(), Some("sync"));
    assert!(read(&path).records.contains(&cell(7)));
}
