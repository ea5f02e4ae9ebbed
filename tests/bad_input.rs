//! Everything wrong that can be typed, written into a file or set gets one clear sentence and its exit code, and changes
//! nothing.
//!
//! | file | what is covered |
//! | --- | --- |
//! | `numbers` | numbers and lists of workers (signs, fractions, exponents, bases, blanks, scripts, overflow, gaps, ranges, steps, caps, repeats), sizes, times, counts, locale and terminal |
//! | `words` | unknown commands, options, kernels and values with suggestions; repeated, missing and contradicting flags; names that start with a dash; arguments that are no text or have megabytes |
//! | `mappings` | mappers and parameters that do not exist; strands twice, missing, offline, not allowed; masks; mapper programs |
//! | `synthetic` | counts, products, orders, types, indexes, brackets and lengths of synthetic descriptions |
//! | `xml` | what is no XML, no topology or no machine; depth, entities, encodings, sizes, special files; odd machines that are accepted; hostile names |
//! | `report_contents` | reports that contradict themselves, or JSON |
//! | `reports` | what is no report; hostile names in one |
//! | `tampered` | verdicts and numbers that do not follow from what was measured |
//! | `config` | keys, types, values and files of `--config`; the variables; which layer wins |
//! | `files` | outputs that exist, are links, folders, devices, too long or without rights; full, closed and left streams; setuid |

mod config;
mod files;
mod mappings;
mod numbers;
pub mod place;
mod report_contents;
mod reports;
mod synthetic;
mod tampered;
mod words;
mod xml;
