//! What runtimes of parallel programs take from the environment.

use charz_data::Follow;

/// The variable of ours with the number of seats: the program's, whatever was set around it.
pub const SEATS: &str = "CHARZ_SEATS";

/// Variables from which runtimes take their number of threads. Without them these count CPUs, of which there may be fewer than seats, or
/// take one: OpenMP, OpenBLAS, Rust's rayon and tokio, Polars, Go, Julia, Python.
const COUNTS: [&str; 9] = [
    SEATS,
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
    "POLARS_MAX_THREADS",
    "GOMAXPROCS",
    "JULIA_NUM_THREADS",
    "PYTHON_CPU_COUNT",
];

/// Variables and values with which runtimes use as many threads as there are seats, and leave these where they are.
///
/// Of a program that is followed, a runtime that binds would move threads off their seats. LLVM's sets masks even with `OMP_PROC_BIND`
/// unset or `false`, unless its affinity is `disabled`; beside that it warns of `OMP_PROC_BIND`. Where no thread is followed the runtime
/// has to bind.
#[must_use]
pub fn variables(seats: &[Option<u32>], follow: Follow) -> Vec<(&'static str, String)> {
    let mut variables: Vec<_> = COUNTS.map(|name| (name, seats.len().max(1).to_string())).into();
    let ids: Option<Vec<u32>> = seats.iter().copied().collect();
    match ids.filter(|ids| !ids.is_empty()) {
        Some(ids) if follow == Follow::None => {
            let list = |each: fn(&u32) -> String, separator| ids.iter().map(each).collect::<Vec<_>>().join(separator);
            variables.push(("OMP_PROC_BIND", "close".into()));
            variables.push(("OMP_PLACES", list(|id| format!("{{{id}}}"), ",")));
        }
        Some(_) => variables.push(("KMP_AFFINITY", "disabled".into())),
        None => variables.push(("OMP_PROC_BIND", "false".into())),
    }
    variables
}
