//! Enums of which each value has a word: that of the command line and of reports.

/// Gives an enum its words: all values in this order, the word of each, and text from values and back.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($type:ident { $($value:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// Every value, in the order in which they are listed.
            pub const ALL: [$type; [$($word),+].len()] = [$($type::$value),+];

            /// Its word.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$value => $word,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                $crate::words::one_of(word, $type::ALL.map(|value| (value.name(), value)))
            }
        }
    };
}
pub(crate) use words;

/// The value of a word.
///
/// # Errors
/// The words that there are.
pub fn one_of<T, const N: usize>(word: &str, words: [(&str, T); N]) -> Result<T, String> {
    let names = words.each_ref().map(|(name, _)| *name);
    words.into_iter().find(|(name, _)| *name == word).map(|(_, value)| value).ok_or_else(|| {
        let (last, others) = names.split_last().expect("there are words");
        format!("{word:?} is not one of {} or {last}", others.join(", "))
    })
}
