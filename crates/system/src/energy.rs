//! What processor packages took of energy, as the system counts it: powercap's zones (RAPL on Intel and on AMD since Zen), or the sockets of the
//! hwmon driver `amd_energy`. Counts are in microjoules and are renewed about every millisecond (Intel, "64 and IA-32 Architectures Software
//! Developer's Manual", volume 3, "Platform Specific Power Management Support").

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, io};

use crate::file::{number, word};

/// The counter of one package.
#[derive(Debug, PartialEq, Eq)]
struct Counter {
    name: String,
    file: PathBuf,
    /// After so many microjoules it begins again at 0, where that is known.
    range_uj: Option<u64>,
}

/// The counters of all packages.
#[derive(Debug, PartialEq, Eq)]
pub struct Meter(Vec<Counter>);

/// No package takes more: the largest of 2025 are made for 500 W.
const MOST_WATTS: u64 = 1000;

/// Microjoules by package since some moment.
pub type Reading = Box<[u64]>;

/// The meter of this machine, or why there is none: a clause.
pub fn meter() -> Result<&'static Meter, &'static str> {
    static METER: LazyLock<Result<Meter, String>> = LazyLock::new(|| Meter::find(Path::new("/sys/class")));
    METER.as_ref().map_err(String::as_str)
}

/// The names of the packages whose energy is counted, or `unavailable: ` and why none is.
pub fn told() -> String {
    match meter() {
        Ok(meter) => meter.0.iter().map(|counter| counter.name.as_str()).collect::<Vec<_>>().join(", "),
        Err(why) => format!("unavailable: {why}"),
    }
}

impl Meter {
    /// The one below such a folder as `/sys/class`.
    fn find(class: &Path) -> Result<Self, String> {
        let mut counters = zones(&class.join("powercap"));
        if counters.is_empty() {
            counters = sockets(&class.join("hwmon"));
        }
        counters.sort_by(|one, other| one.name.cmp(&other.name));
        if counters.is_empty() {
            return Err(
                "the system counts none (there is no powercap zone of a package; guests seldom have one)".into()
            );
        }
        for Counter { file, .. } in &counters {
            fs::read_to_string(file).map_err(|error| match error.kind() {
                io::ErrorKind::PermissionDenied => format!("only root may read {}", file.display()),
                _ => format!("{} cannot be read: {error}", file.display()),
            })?;
        }
        Ok(Meter(counters))
    }

    /// `None` where a counter does not answer.
    pub fn read(&self) -> Option<Reading> {
        self.0.iter().map(|counter| number(&counter.file)).collect()
    }

    /// What was added since an earlier reading so many nanoseconds before; `None` where a counter may have gone round more than once, and where
    /// one stepped back that does not go round.
    pub fn since(&self, later: &Reading, earlier: &Reading, time_ns: u64) -> Option<Reading> {
        let most_uj = time_ns / 1000 * MOST_WATTS;
        let each = self.0.iter().zip(later).zip(earlier);
        each.map(|((counter, later), earlier)| match later.checked_sub(*earlier) {
            _ if counter.range_uj.is_some_and(|range| range <= most_uj) => None,
            Some(rise) => Some(rise),
            None => Some((counter.range_uj?.saturating_sub(*earlier)).saturating_add(*later)),
        })
        .collect()
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Zones that are whole packages: `intel-rapl:0` is one, `intel-rapl:0:1` a part of it, and `psys` the whole board.
fn zones(powercap: &Path) -> Vec<Counter> {
    let counter = |folder: PathBuf| {
        let name = word(folder.join("name")).filter(|name| name.starts_with("package"))?;
        let range_uj = number(folder.join("max_energy_range_uj"));
        // The same packages are in `intel-rapl-mmio` again.
        let is_package =
            folder.file_name()?.to_str()?.strip_prefix("intel-rapl:")?.bytes().all(|byte| byte.is_ascii_digit());
        is_package.then(|| Counter { name, file: folder.join("energy_uj"), range_uj })
    };
    entries(powercap).filter_map(counter).collect()
}

/// The sockets of `amd_energy`, whose driver makes 64 bits of the counts.
fn sockets(hwmon: &Path) -> Vec<Counter> {
    let drivers = entries(hwmon).filter(|folder| word(folder.join("name")).as_deref() == Some("amd_energy"));
    let counter = |label: PathBuf| {
        let name = word(&label).filter(|name| name.starts_with("Esocket"))?;
        let file = label.to_str()?.strip_suffix("_label")?.to_owned() + "_input";
        Some(Counter { name, file: file.into(), range_uj: None })
    };
    drivers.flat_map(|folder| entries(&folder).collect::<Vec<_>>()).filter_map(counter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder such as `/sys/class` with these files.
    fn class(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn packages_are_read_and_go_round() {
        let folder = class(&[
            ("powercap/intel-rapl:1/name", "package-1\n"),
            ("powercap/intel-rapl:1/energy_uj", "900\n"),
            ("powercap/intel-rapl:1/max_energy_range_uj", "1000\n"),
            ("powercap/intel-rapl:0/name", "package-0\n"),
            ("powercap/intel-rapl:0/energy_uj", "5\n"),
            ("powercap/intel-rapl:0/max_energy_range_uj", "1000\n"),
            ("powercap/intel-rapl:0:0/name", "core\n"),
            ("powercap/intel-rapl:0:0/energy_uj", "3\n"),
            ("powercap/intel-rapl:2/name", "psys\n"),
            ("powercap/intel-rapl:2/energy_uj", "7\n"),
            ("powercap/intel-rapl-mmio:0/name", "package-0\n"),
            ("powercap/intel-rapl-mmio:0/energy_uj", "5\n"),
        ]);
        let meter = Meter::find(folder.path()).unwrap();
        let before = meter.read().unwrap();
        assert_eq!(*before, [5, 900]);
        fs::write(folder.path().join("powercap/intel-rapl:0/energy_uj"), "45\n").unwrap();
        fs::write(folder.path().join("powercap/intel-rapl:1/energy_uj"), "20\n").unwrap();
        let after = meter.read().unwrap();
        assert_eq!(meter.since(&after, &before, 500), Some([40, 120].into()));
        assert_eq!(
            meter.since(&after, &before, 2000),
            None,
            "in 2 µs a package may take 2000 µJ, and goes round twice"
        );
        fs::remove_file(folder.path().join("powercap/intel-rapl:1/energy_uj")).unwrap();
        assert_eq!(meter.read(), None, "a count that is missing is no zero");
    }

    #[test]
    fn sockets_of_amd_stand_in() {
        let folder = class(&[
            ("hwmon/hwmon0/name", "k10temp\n"),
            ("hwmon/hwmon3/name", "amd_energy\n"),
            ("hwmon/hwmon3/energy1_label", "Ecore000\n"),
            ("hwmon/hwmon3/energy1_input", "1\n"),
            ("hwmon/hwmon3/energy65_label", "Esocket0\n"),
            ("hwmon/hwmon3/energy65_input", "12345678\n"),
        ]);
        let meter = Meter::find(folder.path()).unwrap();
        let reading = meter.read().unwrap();
        assert_eq!(*reading, [12_345_678]);
        assert_eq!(meter.since(&[7].into(), &reading, 0), None, "it stepped back");
    }

    #[test]
    fn none_has_a_reason() {
        let none = Meter::find(class(&[("powercap/other/name", "package-0")]).path()).unwrap_err();
        assert!(none.contains("counts none"), "{none}");
        let unreadable =
            class(&[("powercap/intel-rapl:0/name", "package-0"), ("powercap/intel-rapl:0/energy_uj/x", "")]);
        let why = Meter::find(unreadable.path()).unwrap_err();
        assert!(why.contains("cannot be read"), "{why}");
    }
}
