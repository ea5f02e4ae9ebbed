//! `/proc/cpuinfo`: a block of lines per CPU, with an empty line between two.

/// The text of the file; empty where there is none.
pub fn read() -> String {
    std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()
}

/// The first value of this name: of one block that CPU's, of the whole text that of the first CPU that has it.
pub fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':')).map(str::trim)
}

/// The first value of this name as a number.
pub fn number(text: &str, name: &str) -> Option<f64> {
    value(text, name)?.parse().ok()
}
