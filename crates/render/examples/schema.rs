//! Prints a JSON Schema as its types have it, for `cargo xtask docs`.

use charz_data::{report::File, schema_of};
use charz_replicate::Replication;
use charz_words::compare::wire::Comparison;

#[allow(clippy::print_stdout)]
fn main() {
    let schema = match std::env::args().nth(1).as_deref() {
        Some("report") => schema_of::<File<'_>>(),
        Some("comparison") => schema_of::<Comparison>(),
        Some("replication") => schema_of::<Replication>(),
        other => panic!("no schema of {other:?}: name report, comparison or replication"),
    };
    print!("{schema}");
}
