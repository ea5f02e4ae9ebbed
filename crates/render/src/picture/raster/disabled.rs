//! What stands in for PNG in a build without the feature `png`, which needs some forty packages.

use std::io;

/// Says how to get a PNG.
pub(super) fn png(_svg: &str) -> io::Result<Vec<u8>> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "--format png: this charz was built without it; build with `--features png`, or use --format svg",
    ))
}

#[cfg(test)]
mod tests {
    use crate::picture::{png, samples};

    #[test]
    fn the_error_says_how_to_get_a_png() {
        let mut file = Vec::new();
        let error = png(&samples::scaling(), &mut file).unwrap_err().to_string();
        assert!(error.contains("--features png") && error.contains("--format svg") && file.is_empty(), "{error}");
    }
}
