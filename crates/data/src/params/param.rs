//! What can be asked of a parameter.

use super::{MAX_VALUES, PARAMS, Param, Params};

/// Parameters are the same if their names are.
impl PartialEq for Param {
    fn eq(&self, other: &Param) -> bool {
        self.name == other.name
    }
}

impl Eq for Param {}

impl Param {
    /// The parameter that cards of reports have by this word.
    pub fn find(stored: &str) -> Option<&'static Param> {
        PARAMS.iter().find(|param| param.stored == stored).copied()
    }

    /// Whether it says how much is measured, not what.
    pub fn is_amount(&self) -> bool {
        self.auto && !self.vary
    }

    /// The words of a label: `48 KiB`, or `stride 128`.
    pub fn label(&self, params: &Params) -> String {
        let value = (self.brief)(params);
        if self.bare { value } else { format!("{} {value}", self.name) }
    }

    /// The values of a list such as `1,2,4`, each in parameters that are otherwise the smallest.
    ///
    /// # Errors
    /// A clause that names the wrong or repeated value, or says that there are too many.
    pub fn list(&self, text: &str) -> Result<Vec<Params>, String> {
        let mut values = Vec::new();
        for word in text.split(',') {
            let mut value = Params::SMALL;
            (self.read)(word, &mut value)?;
            if values.contains(&value) {
                return Err(format!("{word:?} is listed twice; name it once"));
            }
            if values.len() == MAX_VALUES {
                return Err(format!("there are more than {MAX_VALUES} values; name fewer"));
            }
            values.push(value);
        }
        Ok(values)
    }

    /// Whether two sets of parameters agree in it.
    pub fn same(&self, one: &Params, other: &Params) -> bool {
        (self.raw)(one) == (self.raw)(other)
    }
}
