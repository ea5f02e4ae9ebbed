//! Sets of strands as hwloc's XML writes them.

/// A set of ids below a bound, possibly with all ids from the bound on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Set {
    /// 32 ids a word, the lowest first, without empty words at the end.
    words: Vec<u32>,
    endless: bool,
}

impl Set {
    /// Reads such as `0x000000ff,0xff000000,,0x0`: words of 32 bits, the highest first, the empty ones zero; a first
    /// word `0xf...f` means all ids above the others.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (endless, text) = match text.strip_prefix("0xf...f") {
            Some("") => return Some(Self { words: Vec::new(), endless: true }),
            Some(rest) => (true, rest.strip_prefix(',')?),
            None => (false, text),
        };
        let mut words = text.split(',').rev().map(word).collect::<Option<Vec<u32>>>()?;
        while words.last() == Some(&0) && !endless {
            words.pop();
        }
        Some(Self { words, endless })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && !self.endless
    }

    /// The ids, ascending; none of a set without an end.
    pub(super) fn ids(&self) -> Vec<u32> {
        let all = if self.endless { 0 } else { 32 * self.words.len() as u32 };
        (0..all).filter(|id| self.words[(id / 32) as usize] >> (id % 32) & 1 == 1).collect()
    }

    pub(super) fn is_only(&self, id: u32) -> bool {
        let word = (id / 32) as usize;
        !self.endless
            && self.words.len() == word + 1
            && self.words[word] == 1 << (id % 32)
            && self.words[..word].iter().all(|word| *word == 0)
    }

    pub(super) fn is_within(&self, outer: &Self) -> bool {
        self.pairs(outer).all(|(inner, outer)| inner & !outer == 0) && (outer.endless || !self.endless)
    }

    pub(super) fn meets(&self, other: &Self) -> bool {
        self.pairs(other).any(|(a, b)| a & b != 0) || (self.endless && other.endless)
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.words = self.pairs(other).map(|(a, b)| a | b).collect();
        self.endless |= other.endless;
    }

    /// The words of both, as far as the longer one goes.
    fn pairs<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (u32, u32)> + 'a {
        let at =
            |set: &Self, word: usize| set.words.get(word).copied().unwrap_or(if set.endless { u32::MAX } else { 0 });
        (0..self.words.len().max(other.words.len())).map(move |word| (at(self, word), at(other, word)))
    }
}

fn word(text: &str) -> Option<u32> {
    if text.is_empty() {
        return Some(0);
    }
    let digits = text.strip_prefix("0x")?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::Set;

    fn set(text: &str) -> Set {
        Set::read(text).expect(text)
    }

    #[test]
    fn reads_words_and_refuses_the_rest() {
        assert!(set("0x0").is_empty() && set("0x0,,0x0").is_empty());
        assert!(set("0x2").is_only(1) && set("0x1,,0x0").is_only(64) && set("0x00000001,0x0").is_only(32));
        assert!(!set("0x3").is_only(1) && !set("0xf...f").is_only(0) && !set("0x1,0x1").is_only(32));
        for text in ["0", "0x", "x1", "0x100000000", "0x+1", "0xf...f0x1", "0xg"] {
            assert_eq!(Set::read(text), None, "{text}");
        }
    }

    #[test]
    fn compares_sets_of_different_length() {
        assert!(set("0x1").is_within(&set("0x1,0x1")) && !set("0x1,0x1").is_within(&set("0x1")));
        assert!(set("0x1,0x0").is_within(&set("0xf...f,0x0")) && !set("0x1").is_within(&set("0xf...f,0x0")));
        assert!(!set("0xf...f").is_within(&set("0xffffffff")));
        assert!(set("0x1,0x0").meets(&set("0xf...f")) && !set("0x1").meets(&set("0x1,0x0")));
        let mut sum = set("0x1");
        sum.add(&set("0x1,0x2"));
        assert_eq!(sum, set("0x1,0x3"));
    }
}
