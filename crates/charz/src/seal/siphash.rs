//! SipHash-2-4 with 128 bits.

/// The authentication code of `text` under a key.
pub(super) fn siphash(key: [u8; 16], text: &[u8]) -> u128 {
    let [key_0, key_1] = [0, 8].map(|at| word(&key[at..at + 8]));
    // "somepseudorandomlygeneratedbytes", and the mark of 128 bits.
    let mut state = [
        key_0 ^ 0x736f_6d65_7073_6575,
        key_1 ^ 0x646f_7261_6e64_6f6d ^ 0xee,
        key_0 ^ 0x6c79_6765_6e65_7261,
        key_1 ^ 0x7465_6462_7974_6573,
    ];
    let (words, rest) = text.as_chunks::<8>();
    let last = word(rest) | (text.len() as u64) << 56;
    for word in words.iter().map(|word| u64::from_le_bytes(*word)).chain([last]) {
        state[3] ^= word;
        rounds(2, &mut state);
        state[0] ^= word;
    }
    state[2] ^= 0xee;
    let low = finish(&mut state);
    state[1] ^= 0xdd;
    u128::from(low) | u128::from(finish(&mut state)) << 64
}

/// Up to eight bytes, the lowest first.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn finish(state: &mut [u64; 4]) -> u64 {
    rounds(4, state);
    state.iter().fold(0, |all, part| all ^ part)
}

fn rounds(count: usize, [a, b, c, d]: &mut [u64; 4]) {
    for _ in 0..count {
        *a = a.wrapping_add(*b);
        *c = c.wrapping_add(*d);
        *b = b.rotate_left(13) ^ *a;
        *d = d.rotate_left(16) ^ *c;
        *a = a.rotate_left(32).wrapping_add(*d);
        *c = c.wrapping_add(*b);
        *b = b.rotate_left(17) ^ *c;
        *d = d.rotate_left(21) ^ *a;
        *c = c.rotate_left(32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Of the authors' vectors, first byte first: the key and the texts are the bytes 0, 1, 2, …
    #[test]
    fn the_vectors_of_its_authors() {
        let bytes: Vec<u8> = (0..64).collect();
        let key = bytes[..16].try_into().unwrap();
        let vectors: [(usize, u128); 5] = [
            (0, 0xa3817f04ba25a8e66df67214c7550293),
            (7, 0xa1f1ebbed8dbc153c0b84aa61ff08239),
            (8, 0x3b62a9ba6258f5610f83e264f31497b4),
            (15, 0x5493e99933b0a8117e08ec0f97cfc3d9),
            (63, 0x5150d1772f50834a503e069a973fbd7c),
        ];
        for (length, code) in vectors {
            assert_eq!(siphash(key, &bytes[..length]).swap_bytes(), code, "{length} bytes");
        }
    }
}
