//! Help texts that follow from the tables of mappers, kernels, formats and exit codes.

use charz_topology::mappers;

use crate::exit::EXITS;

pub(super) fn mappings(first: &str) -> String {
    let lines = mappers().map(|mapper| {
        let parameter = mapper.parameter.map(|parameter| format!(":{parameter}")).unwrap_or_default();
        format!("  {}{parameter}: {}", mapper.name, mapper.about)
    });
    format!("{first}\n\n{}", lines.collect::<Vec<_>>().join("\n"))
}

pub(super) fn kernels() -> String {
    "Kernels, separated by commas, by name or by how names begin, e.g. arith-int or ring-*; charz kernels lists them"
        .into()
}

pub(super) fn formats<'a>(names: impl Iterator<Item = &'a str>) -> String {
    format!("How: {}", names.collect::<Vec<_>>().join(", "))
}

pub(super) fn explained_formats<'a>(formats: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let lines: Vec<_> = formats.map(|(name, about)| format!("  {name}: {about}")).collect();
    format!("How\n\n{}", lines.join("\n"))
}

pub(super) fn after(examples: &str) -> String {
    let codes: Vec<_> = EXITS.iter().map(|(exit, meaning)| format!("  {:<4} {meaning}", exit.code())).collect();
    format!("{examples}\n\nExit codes:\n{}", codes.join("\n"))
}
