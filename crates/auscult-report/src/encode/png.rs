//! Small pictures as PNG files, one byte a cell and a palette.
//!
//! The pixels are stored, not compressed: a picture of a report has at most some forty thousand
//! cells, which is little beside the sound next to it, and no compressor is needed.

use super::data_address;

/// The colours of the 256 values of a cell.
pub(crate) type Palette = [[u8; 3]; 256];

/// A data address of a picture, `cells` row by row from the top, `width` cells a row.
///
/// A row that is not full is left out.
pub(crate) fn png_address(cells: &[u8], width: usize, palette: &Palette) -> String {
    data_address("image/png", &png(cells, width, palette))
}

fn png(cells: &[u8], width: usize, palette: &Palette) -> Vec<u8> {
    let rows = cells.chunks_exact(width.max(1));
    let mut header = Vec::with_capacity(13);
    header.extend((width as u32).to_be_bytes());
    header.extend((rows.len() as u32).to_be_bytes());
    header.extend([8, 3, 0, 0, 0]); // 8 bits, palette, the only compression, no filter, not interlaced
    let mut pixels = Vec::with_capacity(cells.len() + rows.len());
    for row in rows {
        pixels.push(0); // this row is not filtered
        pixels.extend_from_slice(row);
    }
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    push_chunk(&mut bytes, *b"IHDR", &header);
    push_chunk(&mut bytes, *b"PLTE", palette.as_flattened());
    push_chunk(&mut bytes, *b"IDAT", &stored(&pixels));
    push_chunk(&mut bytes, *b"IEND", &[]);
    bytes
}

fn push_chunk(bytes: &mut Vec<u8>, kind: [u8; 4], content: &[u8]) {
    bytes.extend((content.len() as u32).to_be_bytes());
    let start = bytes.len();
    bytes.extend(kind);
    bytes.extend_from_slice(content);
    let checksum = crc32(&bytes[start..]);
    bytes.extend(checksum.to_be_bytes());
}

/// A zlib stream of stored blocks (RFC 1950, RFC 1951 section 3.2.4).
fn stored(content: &[u8]) -> Vec<u8> {
    const LONGEST_BLOCK: usize = 65_535;
    let mut bytes = vec![0x78, 0x01];
    let mut rest = content;
    loop {
        let (block, after) = rest.split_at(rest.len().min(LONGEST_BLOCK));
        let length = block.len() as u16;
        bytes.push(u8::from(after.is_empty()));
        bytes.extend(length.to_le_bytes());
        bytes.extend((!length).to_le_bytes());
        bytes.extend_from_slice(block);
        if after.is_empty() {
            break;
        }
        rest = after;
    }
    bytes.extend(adler32(content).to_be_bytes());
    bytes
}

/// The checksum of PNG chunks (PNG specification, annex D).
fn crc32(bytes: &[u8]) -> u32 {
    let mut checksum = u32::MAX;
    for &byte in bytes {
        checksum ^= u32::from(byte);
        for _ in 0..8 {
            let carry = checksum & 1;
            checksum = (checksum >> 1) ^ (0xedb8_8320 * carry);
        }
    }
    !checksum
}

/// The checksum of zlib streams (RFC 1950, section 8.2).
fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut low, mut high) = (1_u32, 0_u32);
    for &byte in bytes {
        low = (low + u32::from(byte)) % MODULUS;
        high = (high + low) % MODULUS;
    }
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_match_their_published_check_values() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn header_has_the_size_and_pixels_are_stored_in_blocks() {
        let palette = [[7; 3]; 256];
        let bytes = png(&vec![3; 300 * 300], 300, &palette);
        assert_eq!(bytes[16..24], [0, 0, 1, 44, 0, 0, 1, 44]);
        // Signature, three chunks with content, the end, two blocks, one filter byte a row.
        let expected = 8 + (12 + 13) + (12 + 768) + (12 + 2 + 2 * 5 + 300 * 301 + 4) + 12;
        assert_eq!(bytes.len(), expected);
    }

    #[test]
    fn an_empty_picture_is_still_a_file() {
        assert!(png(&[], 0, &[[0; 3]; 256]).ends_with(&crc32(b"IEND").to_be_bytes()));
    }
}
