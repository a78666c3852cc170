//! TensorFlow's element types, with references: a code above 100 is a reference to a variable of the type 100 below, which
//! a text form writes `DT_FLOAT_REF`.

use crate::element_types::TENSORFLOW;
use highwater_model::graph::DType;

/// The offset of a type's code for a reference to a variable.
const REFERENCE: i64 = 100;

/// The code of a name that the text form writes and that is not known here.
pub(super) const UNNAMED: i64 = -1;

/// The code of a name as the text form writes it, `DT_FLOAT` or `DT_FLOAT_REF`.
pub(super) fn code_of(name: &str) -> Option<i64> {
    let name = name.strip_prefix("DT_")?;
    let reference = || Some(TENSORFLOW.code(name.strip_suffix("_REF")?)? + REFERENCE);
    TENSORFLOW.code(name).or_else(reference)
}

/// The type of a code; unknown for codes of later versions.
pub(super) fn from_code(code: i64) -> DType {
    TENSORFLOW.of_code(if code > REFERENCE { code - REFERENCE } else { code })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_agree() {
        assert_eq!((code_of("DT_FLOAT"), code_of("DT_FLOAT_REF")), (Some(1), Some(101)));
        assert_eq!((code_of("FLOAT"), code_of("DT_INVALID")), (None, Some(0)));
        assert_eq!((from_code(101), from_code(0)), (DType::Float32, DType::Unknown));
    }
}
