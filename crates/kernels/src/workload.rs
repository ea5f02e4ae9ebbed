//! Whole programs, whose threads share the work.

pub(crate) mod cmt;
