//! Pictures as PNG files.
//!
//! In: pixels, eight bits each of red, green, blue and opacity. Out: the bytes of the file, the same every time.

use png::{BitDepth, ColorType, Encoder, EncodingError};

/// Pixels from the top left, row by row.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    /// Four bytes per pixel; colours are not multiplied by opacity.
    pub rgba: Vec<u8>,
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture {} x {}", self.width, self.height)
    }
}

/// The file. O(pixels).
///
/// # Errors
/// A sentence, for a picture without pixels, too large for a file, or with another number of bytes than its size implies.
pub fn png(picture: &Picture) -> Result<Vec<u8>, String> {
    if picture.width == 0 || picture.height == 0 {
        return Err("the drawing is empty, so no picture is written".to_owned());
    }
    if picture.rgba.len() as u64 != u64::from(picture.width) * u64::from(picture.height) * 4 {
        return Err("the picture has a wrong number of pixels".to_owned());
    }
    encoded(picture).map_err(|_too_large| "the picture is too large for a PNG file".to_owned())
}

fn encoded(picture: &Picture) -> Result<Vec<u8>, EncodingError> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, picture.width, picture.height);
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&picture.rgba)?;
    writer.finish()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use png::{BitDepth, ColorType, Decoder};
    use proptest::prelude::*;

    use super::{Picture, png};

    fn read(file: &[u8]) -> Picture {
        let mut reader = Decoder::new(std::io::Cursor::new(file))
            .read_info()
            .expect("a PNG file");
        let mut rgba = vec![0; reader.output_buffer_size().expect("a small picture")];
        let frame = reader.next_frame(&mut rgba).expect("pixels");
        assert_eq!((frame.color_type, frame.bit_depth), (ColorType::Rgba, BitDepth::Eight));
        Picture {
            width: frame.width,
            height: frame.height,
            rgba,
        }
    }

    proptest! {
        #[test]
        fn pixels_of_a_file_are_those_of_its_picture(
            width in 1_u32..9,
            height in 1_u32..9,
            kinds in proptest::collection::vec(0_u8..4, 81),
            noise in any::<[u8; 16]>(),
        ) {
            let pixels = (0..width * height).flat_map(|at| {
                let kind = kinds[at as usize];
                [noise[usize::from(kind)], kind, noise[(at % 16) as usize], 255]
            });
            let picture = Picture { width, height, rgba: pixels.collect() };
            let file = png(&picture).expect("it is written and read");
            prop_assert_eq!(read(&file), picture.clone());
            prop_assert_eq!(png(&picture).expect("it is written and read"), file);
        }
    }

    #[test]
    fn a_picture_without_pixels_is_refused() {
        let picture = |width, height, bytes| Picture {
            width,
            height,
            rgba: vec![0; bytes],
        };
        for odd in [picture(0, 4, 0), picture(4, 0, 0), picture(2, 2, 12), picture(1, 1, 5)] {
            assert!(png(&odd).is_err(), "{odd:?}");
        }
    }
}
