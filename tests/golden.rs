//! Lists that an earlier version of this program wrote, under `tests/golden`.

use std::path::Path;

/// Compares with a file, or writes it where `CHARZ_GOLDEN=update` is set.
#[track_caller]
pub(crate) fn check(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name);
    if std::env::var_os("CHARZ_GOLDEN").is_some_and(|value| value == "update") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let only = |these: &str, those: &str, sign: char| -> String {
        let those: Vec<&str> = those.lines().collect();
        these.lines().filter(|line| !those.contains(line)).take(20).map(|line| format!("{sign} {line}\n")).collect()
    };
    assert!(
        found == expected,
        "{name} differs; cargo xtask golden rewrites it\n{}{}",
        only(&expected, found, '-'),
        only(found, &expected, '+')
    );
}
