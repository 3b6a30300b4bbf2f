//! JSON documents in a stream that also holds notices, banners and stack traces.

use super::scan::{Scan, scan};

/// The JSON objects and arrays that stand in a text, outermost ones only, in order.
///
/// Notices with braces in them, a BOM and line ends of any kind around the documents do not matter.
/// Takes time linear in the text.
pub struct Documents<'t> {
    text: &'t str,
    at: usize,
    open: Vec<(u8, usize)>,
}

impl<'t> Documents<'t> {
    /// The documents of this text.
    pub fn new(text: &'t str) -> Self {
        Documents { text, at: 0, open: Vec::new() }
    }
}

impl<'t> Iterator for Documents<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let bytes = self.text.as_bytes();
        while let Some(found) = memchr::memchr2(b'{', b'[', bytes.get(self.at..)?) {
            let start = self.at + found;
            match scan(bytes, start, &mut self.open) {
                Scan::Value(end) => {
                    self.at = end;
                    return Some(&self.text[start..end]);
                }
                Scan::Broken { at, began: true, .. } => self.at = at.max(start + 1),
                Scan::Broken { at, began: false, innermost } => self.at = at.min(innermost + 1),
            }
        }
        self.at = bytes.len();
        None
    }
}
