//! What runtimes of OpenMP read from the environment.

/// The variables that put the threads of a program on these seats, one for each; `None` unsets. For threads that float, those that
/// bind nothing.
pub(crate) fn variables(seats: &[Option<u32>]) -> Vec<(&'static str, Option<String>)> {
    if seats.is_empty() {
        return Vec::new();
    }
    let cpus: Option<Vec<String>> = seats.iter().map(|seat| seat.map(|id| id.to_string())).collect();
    let list = |before: &str, between: &str, after: &str| {
        cpus.as_ref().map(|cpus| format!("{before}{}{after}", cpus.join(between)))
    };
    let bind = if cpus.is_some() { "true" } else { "false" };
    vec![
        ("OMP_NUM_THREADS", Some(seats.len().to_string())),
        ("OMP_PLACES", list("{", "},{", "}")),
        ("OMP_PROC_BIND", Some(bind.to_owned())),
        ("GOMP_CPU_AFFINITY", list("", " ", "")),
        ("KMP_AFFINITY", list("granularity=fine,proclist=[", ",", "],explicit")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_named_to_each_runtime_and_floating_threads_are_not_bound() {
        let value = |seats: &[Option<u32>], name: &str| {
            variables(seats).into_iter().find(|(own, _)| *own == name).and_then(|(_, value)| value).unwrap_or_default()
        };
        let seats = [Some(0), Some(8)];
        for (name, text) in [
            ("OMP_NUM_THREADS", "2"),
            ("OMP_PLACES", "{0},{8}"),
            ("OMP_PROC_BIND", "true"),
            ("GOMP_CPU_AFFINITY", "0 8"),
            ("KMP_AFFINITY", "granularity=fine,proclist=[0,8],explicit"),
        ] {
            assert_eq!(value(&seats, name), text);
        }
        assert_eq!(value(&[None, None], "OMP_PROC_BIND"), "false");
        assert_eq!(value(&[None, None], "OMP_PLACES"), "");
    }
}
