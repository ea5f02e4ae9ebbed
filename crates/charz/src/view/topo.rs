//! A machine in words: one format a line in [`FORMATS`].

mod boxes;
mod psrinfo;
mod table;
mod tree;

use std::io::{self, Write};

use charz_topology::Machine;

use charz_analysis::figure::Figure;
use charz_render::json;
use charz_render::look::Look;

/// A way to show a machine.
pub struct Format {
    /// The word on the command line.
    pub name: &'static str,
    /// One sentence: what it shows.
    pub about: &'static str,
    /// Writes a machine.
    pub write: fn(&Machine, &Look, &mut dyn Write) -> io::Result<()>,
}

/// All formats; the first is the default where nobody is known to look.
#[rustfmt::skip]
pub static FORMATS: &[Format] = &[
    Format { name: "tree", about: "Packages, memory, caches, cores and strands inside each other, then what this process may use.", write: |machine, _, out| tree::write(machine, out) },
    Format { name: "boxes", about: "The same drawn as boxes, as wide as the terminal; what is alike is drawn once and counted where all of it has no room.", write: boxes::write },
    Format { name: "table", about: "A row a strand: its id, its place at each level, the caches it shares, and whether this process may use it.", write: |machine, _, out| table::write(machine, out) },
    Format { name: "psrinfo", about: "The text of Solaris' psrinfo -pv.", write: |machine, _, out| psrinfo::write(machine, out) },
    Format { name: "json", about: "Everything that is known, for programs.", write: |machine, _, out| json(machine, out) },
];

/// What else there is, with what it shows.
pub const OTHERS: [(&str, &str); 3] = [
    (
        "xml",
        "hwloc XML, which lstopo reads; with --measured also the latency and the bandwidth of memory, as distances and attributes.",
    ),
    ("svg", "Boxes as a scalable picture."),
    ("png", "Boxes as a bitmap for a file, where charz was built with it."),
];

/// The format for a terminal: boxes where they have room, else a tree.
pub fn fitting(machine: &Machine, look: &Look) -> &'static Format {
    let wanted = if boxes::fits(machine, look) { "boxes" } else { "tree" };
    FORMATS.iter().find(|format| format.name == wanted).unwrap_or(&FORMATS[0])
}

/// The machine as a picture.
pub fn figure(machine: &Machine) -> Figure {
    boxes::figure(machine)
}

fn json(machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
    json::write_compact(machine, out)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use charz_topology::{Machine, Source, discover};

    use super::{FORMATS, Look};

    /// What a format makes of a machine.
    #[track_caller]
    pub(super) fn show(name: &str, machine: &Machine) -> String {
        let format = FORMATS.iter().find(|format| format.name == name).unwrap();
        let mut bytes = Vec::new();
        (format.write)(machine, &Look::PLAIN, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    pub(super) fn synthetic(text: &str) -> Machine {
        discover(&Source::Synthetic(text.to_owned())).unwrap()
    }

    #[test]
    fn the_json_is_the_machine() {
        let machine = synthetic("Package:2 Core:2 Group:2 PU:2");
        let json: serde_json::Value = serde_json::from_str(&show("json", &machine)).unwrap();
        let strand = &json["strands"][7];
        let place = ["os_id", "package", "numa", "core", "alu", "slot"].map(|name| strand[name].as_u64());
        assert_eq!(place, [7, 0, 0, 1, 1, 1].map(Some));
        let coreless: serde_json::Value = serde_json::from_str(&show("json", &synthetic("pu:2"))).unwrap();
        assert!(coreless["strands"][1]["core"].is_null() && coreless["strands"][1]["package"].is_null());
        assert_eq!(serde_json::from_value::<Machine>(json).unwrap(), machine);
    }

    #[test]
    fn names_out_of_files_cannot_steer_the_terminal() {
        let mut machine = synthetic("pack:1 core:2 pu:1");
        let evil = "\u{1b}[2J\u{202e}\n";
        machine.name = Some(evil.to_owned());
        machine.source = evil.to_owned();
        machine.packages[0].model = Some(evil.to_owned());
        machine.numa_nodes[0].subtype = Some(evil.to_owned());
        let info = charz_topology::Info { name: evil.to_owned(), value: evil.to_owned() };
        let how_known = evil.to_owned();
        machine.kinds = vec![charz_topology::Kind { speed_rank: Some(0), how_known, infos: vec![info], strands: 2 }];
        for format in FORMATS {
            let shown = show(format.name, &machine);
            assert!(!shown.contains('\u{1b}'), "{}", format.name);
            assert!(format.name == "json" || !shown.contains('\u{202e}'), "{}", format.name);
        }
    }
}
