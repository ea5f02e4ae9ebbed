//! `/proc/cpuinfo`: a block of lines per CPU, with an empty line between two.

/// The text of the file; empty where there is none.
#[must_use]
pub fn read() -> String {
    std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()
}

/// The first value of this name: of one block that CPU's, of the whole text that of the first CPU that has it.
#[must_use]
pub fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':')).map(str::trim)
}

/// The first value of this name as a number.
#[must_use]
pub fn number(text: &str, name: &str) -> Option<f64> {
    value(text, name)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_counts() {
        let text = "model name\t: x: y\ncpu MHz\t\t: 2596.134\nmicrocode\t: \n\ncpu MHz\t\t: 1.0\nbogomips\t: fast\n";
        assert_eq!((number(text, "cpu MHz"), value(text, "model name")), (Some(2596.134), Some("x: y")));
        assert_eq!((value(text, "microcode"), number(text, "bogomips")), (Some(""), None));
        assert_eq!((value(text, "model"), value("", "processor")), (None, None));
    }
}
