//! One line of a log: its fields, not yet interpreted.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, Visitor};

/// A text that borrows from the line unless it holds escapes.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number(pub(super) i128);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;
        impl Visitor<'_> for Whole {
            type Value = Number;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a whole number, perhaps as a text")
            }
            fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value.into()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number(value.into()))
            }
            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Number, E> {
                let number = value.trim().parse();
                number
                    .map(Number)
                    .map_err(|_not_whole| E::custom(format_args!("\"{value}\" is no whole number")))
            }
        }
        deserializer.deserialize_any(Whole).map_err(D::Error::custom)
    }
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) struct Line<'a> {
    #[serde(borrow)]
    pub(super) instruction: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) annotation: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) args: Option<Vec<Text<'a>>>,
    #[serde(borrow)]
    pub(super) result: Option<Vec<Text<'a>>>,
    pub(super) time: Option<Number>,
    pub(super) memory: Option<Number>,
    pub(super) alias: Option<Number>,
    pub(super) mutate: Option<Vec<Number>>,
    #[serde(borrow)]
    pub(super) dst: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) src: Option<Text<'a>>,
}

impl Line<'_> {
    pub(super) fn is_start(&self) -> bool {
        self.instruction == "ANNOTATE" && self.annotation.as_ref().is_some_and(|text| text.0 == "START")
    }
}
