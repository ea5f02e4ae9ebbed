/// What the reader has in front: how text for people may look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Columns of a line.
    pub columns: usize,
    /// Columns of a table; no limit where programs may read it line by line.
    pub tables: usize,
    /// Whether colours may be used.
    pub colour: bool,
    /// Whether pictures may be drawn with more than ASCII.
    pub unicode: bool,
}

impl TerminalStyle {
    /// Without colours, for an output of which nothing is known.
    pub const PLAIN: TerminalStyle = TerminalStyle { columns: 100, tables: usize::MAX, colour: false, unicode: true };
}
