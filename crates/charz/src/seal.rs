//! The seal of a report: whether this user's charz began it on this host, in this folder, with this plan and program.
//!
//! A seal is an authentication code under a secret key of the user, by SipHash-2-4 with 128 bits (J.-P. Aumasson and D. J. Bernstein,
//! *SipHash: a fast short-input PRF*, INDOCRYPT 2012): without the key no user makes one that holds.

mod siphash;

use std::env;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use siphash::siphash;

use crate::settings::user_file;
use charz_data::Program;
use charz_data::report::{Plan, Report};
use charz_measure::atomic_file::{create_private_folder, open_regular, replace_private};
use charz_system::file::word;
use charz_system::origin::{Invoker, exposure};

/// Changes when what is sealed does: older seals are then none.
const VERSION: &str = "charz-seal-2";

type Key = [u8; 16];

/// The seal of a report whose plan has this program.
///
/// # Errors
/// Why the user has no key, as a clause.
pub(crate) fn seal(report: &Report, program: &Program) -> Result<String, String> {
    let path = key_file()?;
    let key = match read(&path)? {
        Some(key) => key,
        None => create(&path)?,
    };
    Ok(sealed(&key, report, program))
}

/// Whether a report has the seal of this user, host and folder for this program.
///
/// # Errors
/// Why not, as a clause.
pub(crate) fn check(report: &Report, program: &Program) -> Result<(), String> {
    let key = key_file().and_then(|path| read(&path)?.ok_or_else(|| format!("there is no key {path:?}")));
    match key {
        Ok(key) if report.seal.as_deref() == Some(&*sealed(&key, report, program)) => Ok(()),
        Ok(_) => Err("this user did not begin it so in this folder on this host".to_owned()),
        Err(why) => Err(format!("whether this user began it is not known, since {why}")),
    }
}

fn key_file() -> Result<PathBuf, String> {
    let path = user_file("XDG_STATE_HOME", ".local/state", "charz/key", |name| env::var_os(name));
    path.ok_or_else(|| "neither XDG_STATE_HOME nor HOME is an absolute path".to_owned())
}

/// The code of all that decides what is started and with what it is filled.
fn sealed(key: &Key, report: &Report, program: &Program) -> String {
    let place = ["/proc/sys/kernel/hostname", "/etc/machine-id"].map(word);
    let folder = env::current_dir().ok().map(|folder| folder.to_string_lossy().into_owned());
    let plan = Plan { program: Some(program.clone()), ..report.plan.clone() };
    let cells = report.floor.iter().chain(&report.cells);
    let cells: Vec<_> = cells.map(|cell| (&cell.kernel, cell.point, &cell.mapping, &cell.seats)).collect();
    // As JSON, in which no two lists of texts look alike.
    let sealed = serde_json::to_vec(&(VERSION, &report.id, place, folder, plan, cells)).expect("it can be written");
    format!("{:032x}", siphash(*key, &sealed))
}

/// The key in a file that only this user can read or replace; `None` where there is none, or one that a crash has cut short.
fn read(path: &Path) -> Result<Option<Key>, String> {
    let mut file = match open_regular(path, OpenOptions::new().read(true), OFlags::NOFOLLOW) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("the key {path:?} cannot be read: {error}")),
    };
    is_private(&file, path)?;
    let mut key = Key::default();
    Ok(file.read_exact(&mut key).is_ok().then_some(key))
}

/// Whether a file or a folder is the effective user's alone.
fn is_private(file: &File, path: &Path) -> Result<(), String> {
    let (about, invoker) = (file.metadata().map_err(|error| error.to_string())?, Invoker::current());
    let closed = about.is_dir() || about.mode() & 0o077 == 0;
    match exposure(file, path, &invoker) {
        Ok(None) if about.uid() == invoker.effective() && closed => Ok(()),
        Ok(Some(exposure)) => Err(exposure.to_string()),
        _ => Err(format!("{path:?} is not of this user alone")),
    }
}

/// Makes the key, if the folder that is there already is this user's own: what root made in the home of another user would shut that
/// user out.
fn create(path: &Path) -> Result<Key, String> {
    let there = path.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
    let opened = File::open(there).map_err(|error| format!("{there:?} cannot be read: {error}"))?;
    is_private(&opened, there)?;
    let made = create_private_folder(path).and_then(|()| {
        let mut key = Key::default();
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        replace_private(path, |out| out.write_all(&key))
    });
    made.map_err(|error| format!("the key {path:?} cannot be made: {error}"))?;
    // Of two that made one at once the later counts.
    read(path)?.ok_or_else(|| format!("the key {path:?} cannot be read"))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use charz_data::report::{Unit, fixtures};
    use charz_data::{Better, ProgramValue, ReportedUnit};

    fn program(command: &str) -> Program {
        let unit = ReportedUnit::new("s", Better::Lower).unwrap();
        Program::new(command, ProgramValue::Wall, unit)
    }

    #[test]
    fn a_seal_is_of_one_key_report_and_program() {
        let program = program("K=v ./bench");
        let report = fixtures::report(vec![fixtures::cell("arith-int", 2, Unit::OpsPerSecond, 1e9)]);
        let report = Report { id: "0".repeat(32), ..report };
        let seal = sealed(&[1; 16], &report, &program);
        assert_eq!((seal.len(), sealed(&[1; 16], &report, &program)), (32, seal.clone()));
        let measured = Report { complete: true, wall_ns: 7, ..report.clone() };
        assert_eq!(sealed(&[1; 16], &measured, &program), seal, "of what is measured it does not depend");
        let mut mapped = report.clone();
        mapped.cells[0].mapping = "dumb;id".into();
        let mut longer = report.clone();
        longer.plan.budget_ns += 1;
        let set_up = Program { setup: Some("./bench".into()), ..program.clone() };
        let other = Program { command: "K=w ./bench".into(), ..program.clone() };
        for other in [
            sealed(&[2; 16], &report, &program),
            sealed(&[1; 16], &Report { id: "1".repeat(32), ..report.clone() }, &program),
            sealed(&[1; 16], &mapped, &program),
            sealed(&[1; 16], &longer, &program),
            sealed(&[1; 16], &report, &set_up),
            sealed(&[1; 16], &report, &other),
        ] {
            assert_ne!(seal, other);
        }
    }

    #[test]
    fn a_key_that_others_may_read_or_replace_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/charz/key");
        assert_eq!(read(&path), Ok(None));
        let key = create(&path).unwrap();
        assert_eq!(read(&path), Ok(Some(key)));
        for (named, mode) in [(&*path, 0o640), (&*path, 0o606), (path.parent().unwrap(), 0o777)] {
            let before = named.metadata().unwrap().permissions();
            fs::set_permissions(named, Permissions::from_mode(mode)).unwrap();
            assert!(read(&path).is_err(), "{named:?} {mode:o}");
            fs::set_permissions(named, before).unwrap();
        }
        // As a crash may leave it.
        fs::write(&path, "short").unwrap();
        assert_eq!(read(&path), Ok(None));
        assert!(create(&path).is_ok_and(|again| again != key));
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(create(&folder.path().join("b/key")).is_err() && !folder.path().join("b").exists());
    }
}
