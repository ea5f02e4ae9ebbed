//! The seal of a report: whether this user's charz wrote it on this host, for the program that it names.
//!
//! A seal is an authentication code under a secret key of the user, by SipHash-2-4 with 128 bits (J.-P. Aumasson and D. J. Bernstein,
//! *SipHash: a fast short-input PRF*, INDOCRYPT 2012): without the key nobody makes one that holds.

use std::env;
use std::fs::{File, OpenOptions};
use std::hash::Hasher;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use siphasher::sip128::{Hasher128, SipHasher24};

use crate::noise::user_file;
use charz_data::Program;
use charz_measure::atomic_file::{self, create_private_folder, open_regular};
use charz_system::file::word;
use charz_system::origin::{Invoker, exposure};

/// Changes when what is sealed does: older seals are then none.
const VERSION: &str = "charz-seal-1";

type Key = [u8; 16];

/// The seal of a report with this id; `None` where the user has no key and no place for one.
pub(crate) fn seal(id: &str, program: &Program) -> Option<String> {
    let path = key_file()?;
    let key = read(&path).or_else(|| create(&path).ok().and_then(|()| read(&path)))?;
    Some(sealed(&key, id, program))
}

/// Whether a report has the seal of this user and host.
pub(crate) fn is_sealed(id: &str, program: &Program, seal: Option<&str>) -> bool {
    let key = key_file().and_then(|path| read(&path));
    key.is_some_and(|key| seal == Some(&sealed(&key, id, program)))
}

fn key_file() -> Option<PathBuf> {
    user_file("XDG_STATE_HOME", ".local/state", "charz/key", |name| env::var_os(name))
}

fn sealed(key: &Key, id: &str, program: &Program) -> String {
    let host = ["/proc/sys/kernel/hostname", "/etc/machine-id"].map(word);
    let Program { command, setup, .. } = program.recorded();
    // As JSON, in which no two lists of texts look alike.
    let sealed = serde_json::to_vec(&(VERSION, id, host, command, setup)).expect("texts can be written");
    let mut hasher = SipHasher24::new_with_key(key);
    hasher.write(&sealed);
    format!("{:032x}", hasher.finish128().as_u128())
}

/// The key in a file that nobody else can read or replace.
fn read(path: &Path) -> Option<Key> {
    let mut file = open_regular(path, OpenOptions::new().read(true), OFlags::NOFOLLOW).ok()?;
    let (about, invoker) = (file.metadata().ok()?, Invoker::current());
    let is_private = about.uid() == invoker.effective() && about.mode() & 0o077 == 0;
    if !is_private || !matches!(exposure(&file, path, &invoker), Ok(None)) {
        return None;
    }
    let mut key = Key::default();
    file.read_exact(&mut key).ok()?;
    Some(key)
}

fn create(path: &Path) -> io::Result<()> {
    create_private_folder(path)?;
    let mut key = Key::default();
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    let draft = atomic_file::temporary(path, 0o600)?;
    draft.as_file().write_all(&key)?;
    match atomic_file::keep(draft, path) {
        // Another charz was first.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        kept => kept,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use charz_data::{Better, ProgramValue, ReportedUnit};

    fn program(command: &str) -> Program {
        let unit = ReportedUnit::new("s", Better::Lower).unwrap();
        Program {
            command: command.into(),
            setup: None,
            value: ProgramValue::Wall,
            unit,
            verify: None,
            timeout_ns: None,
        }
    }

    #[test]
    fn a_seal_is_of_one_key_report_and_program() {
        let (program, id) = (program("./bench"), "0".repeat(32));
        let seal = sealed(&[1; 16], &id, &program);
        assert_eq!((seal.len(), sealed(&[1; 16], &id, &program)), (32, seal.clone()));
        let set_up = Program { setup: Some("./bench".into()), ..program.clone() };
        let other = Program { command: "./bench2".into(), ..program.clone() };
        for other in [
            sealed(&[2; 16], &id, &program),
            sealed(&[1; 16], &"1".repeat(32), &program),
            sealed(&[1; 16], &id, &set_up),
            sealed(&[1; 16], &id, &other),
        ] {
            assert_ne!(seal, other);
        }
    }

    #[test]
    fn a_key_that_others_may_read_or_replace_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("charz/key");
        create(&path).unwrap();
        let key = read(&path).unwrap();
        create(&path).unwrap();
        assert_eq!(read(&path), Some(key), "it is made once");
        for (named, mode) in [(&*path, 0o640), (&*path, 0o606), (path.parent().unwrap(), 0o777)] {
            let before = named.metadata().unwrap().permissions();
            fs::set_permissions(named, Permissions::from_mode(mode)).unwrap();
            assert_eq!(read(&path), None, "{named:?} {mode:o}");
            fs::set_permissions(named, before).unwrap();
        }
        fs::write(&path, "short").unwrap();
        assert_eq!(read(&path), None);
    }
}
