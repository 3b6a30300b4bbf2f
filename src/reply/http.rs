//! The HTTP status in a CLI's own error text.

/// The HTTP status that an error text of a CLI names: `401: …`, `HTTP 429: …`, `unexpected status 401
/// Unauthorized`, `Error code: 401 - …`, `API Error (500)`, `Request rejected (429)`, `status code 503`.
///
/// Only for texts that the CLI itself wrote about its model server: in the work of an agent such words
/// mean nothing.
pub fn http_status(said: &str) -> Option<u16> {
    const BEFORE: [&str; 12] = [
        "status code",
        "status_code",
        "statuscode",
        "last status",
        "status",
        "error code",
        "http",
        "code",
        "api error",
        "answered",
        "failed",
        "error",
    ];
    let lower = said.to_ascii_lowercase();
    let bytes = lower.as_bytes();
    let number = |at: usize| {
        let digits = bytes.get(at..at + 3)?;
        let alone = bytes.get(at + 3).is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'_')
            && !(bytes.get(at + 3) == Some(&b'.') && bytes.get(at + 4).is_some_and(u8::is_ascii_digit));
        let value: u16 = std::str::from_utf8(digits).ok()?.parse().ok()?;
        (alone && (400..600).contains(&value)).then_some(value)
    };
    let begin = bytes.iter().position(|b| !b.is_ascii_whitespace())?;
    let named = |at: usize| {
        let value = number(at).filter(|_| !bytes[at - 1].is_ascii_alphanumeric())?;
        if bytes[at - 1] == b'(' && bytes.get(at + 3) == Some(&b')') {
            return Some(value);
        }
        let before = lower[..at].trim_end_matches([' ', ':', '(', '=', '"', '[', '\'', '#']);
        BEFORE.iter().any(|word| before.ends_with(word)).then_some(value)
    };
    number(begin).or_else(|| (begin + 1..bytes.len()).find_map(named))
}
