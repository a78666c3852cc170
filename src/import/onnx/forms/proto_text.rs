//! A model as protobuf text (`onnx.save("model.textproto")`) -> the binary form.

use super::MAX_NAME;
use super::encoder::Encoder;
use super::schema::{Kind, Message};
use crate::ImportError;
use crate::shape::constant::SMALL_BYTES;
use crate::text_proto::{Form, Scalar, TextProto, literal_int};

/// Reads the message that was entered last (the file where none was) up to its end.
pub(super) fn message(
    text: &mut TextProto<'_>,
    message: &'static Message,
    out: &mut Encoder,
) -> Result<(), ImportError> {
    while let Some(form) = text.field()? {
        let Some((number, kind)) = message.field(text.name()) else {
            continue;
        };
        match (kind, form) {
            (Kind::Message(inner), Form::Message) => {
                let open = out.open(number, text.place().line);
                text.enter()?;
                self::message(text, inner, out)?;
                out.close(open);
            }
            (Kind::Message(_), Form::Scalar) => return Err(text.wrong("a message")),
            (_, Form::Message) => return Err(text.wrong("a string, number or word")),
            (kind, Form::Scalar) => scalar(text, number, kind, out)?,
        }
    }
    Ok(())
}

fn scalar(text: &mut TextProto<'_>, number: u64, kind: Kind, out: &mut Encoder) -> Result<(), ImportError> {
    match kind {
        Kind::Number => out.number(number, text.int()?),
        Kind::Word(words) => {
            let code = match text.scalar(0)? {
                Scalar::Word(word) => literal_int(word).or_else(|| position(words, word)),
                Scalar::Text(..) => None,
            };
            out.number(number, code.ok_or_else(|| text.wrong("a word that onnx knows"))?);
        }
        Kind::Float => out.float(number, text.float()?),
        Kind::Double => out.double(number, text.float()?),
        Kind::Name => out.bytes(number, text.text(MAX_NAME)?.as_bytes()),
        Kind::Bytes => match text.scalar(usize::try_from(SMALL_BYTES).unwrap_or(usize::MAX))? {
            Scalar::Text(bytes, length) if length <= SMALL_BYTES => out.bytes(number, bytes),
            Scalar::Text(..) => {}
            Scalar::Word(_) => return Err(text.wrong("a string")),
        },
        Kind::Message(_) => {}
    }
    Ok(())
}

pub(super) fn position(words: &[&str], word: &str) -> Option<i64> {
    let position = words.iter().position(|known| *known == word)?;
    i64::try_from(position).ok()
}
