//! Text, made small: reports repeat themselves, and take a tenth.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use sha2::{Digest, Sha256};

use crate::report::MAX_BYTES;

/// The text as zlib (RFC 1950) has it.
pub(super) fn pack(text: &str) -> io::Result<Vec<u8>> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
    packer.write_all(text.as_bytes())?;
    packer.finish()
}

/// The text that was packed. `None` where the bytes are no such text, or come to more than a report may have: a few bytes can
/// stand for any number.
pub(super) fn unpack(packed: &[u8]) -> Option<String> {
    let mut text = String::new();
    ZlibDecoder::new(packed).take(MAX_BYTES + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= MAX_BYTES).then_some(text)
}

/// SHA-256 of a text, hexadecimal: two files with the same one are the same.
pub(super) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_comes_back(text in ".*") {
            prop_assert_eq!(unpack(&pack(&text).unwrap()), Some(text));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            unpack(&bytes);
        }
    }

    /// FIPS 180-4's example of one block.
    #[test]
    fn digests_are_what_others_compute() {
        assert_eq!(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        let packed = pack(&"a report, ".repeat(100)).unwrap();
        assert!(packed.len() < 100);
        assert_eq!(unpack(&packed[..packed.len() - 3]), None);
    }
}
