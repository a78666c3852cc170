//! A model as JSON (`onnx.save("model.json", format="json")`) -> the binary form.
//!
//! The JSON of protobuf: names of fields in either style, numbers of 64 bits as texts, bytes in base 64, words for numbers.
//! It is read as a stream.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::encoder::Encoder;
use super::proto_text::position;
use super::schema::{Kind, Message};
use crate::shape::constant::SMALL_BYTES;

/// A message: an object whose fields go to `out`.
pub(super) struct Object<'o> {
    pub(super) message: &'static Message,
    pub(super) out: &'o mut Encoder,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match self.message.field(&key) {
                Some((number, kind)) => map.next_value_seed(Field {
                    number,
                    kind,
                    out: self.out,
                })?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The value of a field, or a list of them.
struct Field<'o> {
    number: u64,
    kind: Kind,
    out: &'o mut Encoder,
}

impl<'de> DeserializeSeed<'de> for Field<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Field<'_> {
    fn int<E: Error>(self, value: i64) -> Result<(), E> {
        match self.kind {
            Kind::Number | Kind::Word(_) => self.out.number(self.number, value),
            #[expect(clippy::cast_precision_loss, reason = "a float field written without a fraction")]
            Kind::Float | Kind::Double => return self.real(value as f64),
            _ => return Err(E::custom("a number is in a place of another value")),
        }
        Ok(())
    }

    fn real<E: Error>(self, value: f64) -> Result<(), E> {
        match self.kind {
            Kind::Float => self.out.float(self.number, value),
            Kind::Double => self.out.double(self.number, value),
            _ => return Err(E::custom("a number with a fraction is in a place of another value")),
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Field<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value of a field")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.int(i64::from(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.int(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.int(value.cast_signed())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.real(value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        match self.kind {
            Kind::Number | Kind::Word(_) => {
                let words = if let Kind::Word(words) = self.kind { words } else { &[] };
                let number = value.parse::<i64>().ok();
                let number = number.or_else(|| value.parse::<u64>().ok().map(u64::cast_signed));
                let number = number.or_else(|| position(words, value));
                self.int(number.ok_or_else(|| E::custom("a text is no number and no word that onnx knows"))?)
            }
            Kind::Float | Kind::Double => {
                let number = value.parse().map_err(|_error| E::custom("a text is no number"))?;
                self.real(number)
            }
            Kind::Name => {
                self.out.bytes(self.number, value.as_bytes());
                Ok(())
            }
            Kind::Bytes => {
                // Four letters are three bytes; what is longer is not read.
                if value.len() as u64 / 4 * 3 <= SMALL_BYTES {
                    let bytes = from_base64(value).ok_or_else(|| E::custom("a text is not base 64"))?;
                    self.out.bytes(self.number, &bytes);
                }
                Ok(())
            }
            Kind::Message(_) => Err(E::custom("a text is in the place of an object")),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        loop {
            let item = Field {
                number: self.number,
                kind: self.kind,
                out: self.out,
            };
            if seq.next_element_seed(item)?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let Kind::Message(message) = self.kind else {
            return Err(A::Error::custom("an object is in the place of a number or text"));
        };
        let open = self.out.open(self.number, 0);
        let object = Object { message, out: self.out };
        object.visit_map(map)?;
        self.out.close(open);
        Ok(())
    }
}

/// Bytes of a text in base 64, in either alphabet, padded or not.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for letter in text.trim_end_matches('=').bytes() {
        let digit = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(digit)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff).to_le_bytes()[0]);
        }
    }
    Some(bytes)
}
