//! How long a vendor asks to wait, as it stands in the text of an error.

use std::time::Duration;

/// Words before a time span, in lower case.
const SPAN_AFTER: &[&str] = &[
    "retry in",
    "retry after",
    "retry-after",
    "try again in",
    "try again after",
    "reset in",
    "resets in",
    "wait",
];
/// Words before a moment.
const MOMENT_AFTER: &[&str] = &["reset at", "resets at", "until", "limit reached|"];
/// No wait is longer: a week, as the longest limits of plans are.
const LONGEST: u64 = 7 * 86_400;

/// How long to wait, by an error's text, at a moment in seconds since 1970; `None` where it does not say.
///
/// It reads spans (`retry in 34.07s`, `try again in 1m30s`, `Retry-After: 20`, `resets in 3 hours`) and moments
/// (`resets at 2026-12-07T12:00:00Z`, `limit reached|1765108800`). Something else is not guessed at: `resets 3pm` has
/// no zone.
pub fn wait_told(text: &str, now: u64) -> Option<Duration> {
    let lower = text.to_ascii_lowercase();
    let behind = |words: &'static [&'static str]| {
        let lower = &lower;
        words.iter().flat_map(move |word| {
            lower
                .match_indices(word)
                .map(move |(at, _)| lower[at + word.len()..].trim_start_matches([' ', ':', '=', '"', '\'']))
        })
    };
    let span = behind(SPAN_AFTER).find_map(span);
    let moment =
        || behind(MOMENT_AFTER).find_map(moment).and_then(|at| at.checked_sub(now)).map(Duration::from_secs);
    span.or_else(moment).filter(|wait| !wait.is_zero() && wait.as_secs() <= LONGEST)
}

/// `34.07s`, `1m30s`, `2 hours`, `20`: numbers with units, seconds where there is none.
fn span(text: &str) -> Option<Duration> {
    let (mut rest, mut total, mut any) = (text, 0.0, false);
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let Ok(number) = rest[..digits].trim_end_matches('.').parse::<f64>() else { break };
        let after = rest[digits..].trim_start();
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let each = match &after[..letters] {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            // A bare number stands alone, and is no date.
            _ if !any && !after.starts_with(['-', ':', '/', '%']) => {
                return Duration::try_from_secs_f64(number).ok();
            }
            _ => break,
        };
        total += number * each;
        any = true;
        rest = after[letters..].trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    any.then(|| Duration::try_from_secs_f64(total).ok())?
}

/// Seconds since 1970: a number of ten digits, or `2026-12-07T12:00:00Z`.
fn moment(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 10 {
        return text[..10].parse().ok();
    }
    let stamp = text.get(..19)?;
    let field = |from: usize, to: usize| stamp.get(from..to)?.parse::<u64>().ok();
    let shape = stamp.bytes().enumerate().all(|(at, b)| match at {
        4 | 7 => b == b'-',
        10 => b == b't' || b == b' ',
        13 | 16 => b == b':',
        _ => b.is_ascii_digit(),
    });
    let behind = text[19..].trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let utc =
        behind.starts_with('z') || behind.starts_with("+00:00") || behind.trim_start().starts_with("utc");
    if !shape || !utc {
        return None;
    }
    let (year, month, day) = (field(0, 4)?, field(5, 7)?, field(8, 10)?);
    let (hour, minute, second) = (field(11, 13)?, field(14, 16)?, field(17, 19)?);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days from the civil date, with years that begin in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1;
    Some((days.checked_sub(719_468)?) * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_moments_are_read_and_nothing_is_guessed() {
        let cases = [
            ("Please retry in 34.074824224s.", Some(34.074824224)),
            ("You exceeded it. Try again in 1m30s", Some(90.0)),
            ("retry after 2 hours and 5 minutes", Some(7500.0)),
            ("HTTP 429, Retry-After: 20", Some(20.0)),
            ("{\"retry-after\": \"7\"}", Some(7.0)),
            ("rate limited, please wait 500ms", Some(0.5)),
            ("your limit resets in 3h 20m", Some(12_000.0)),
            ("resets at 2026-12-07T12:00:10Z", Some(10.0)),
            ("blocked until 2026-12-07 12:01:00 UTC", Some(60.0)),
            ("usage limit reached|1796644860", Some(60.0)),
            ("resets 3pm", None),
            ("resets at 2026-12-07T11:00:00Z", None),
            ("retry after 2026-12-07", None),
            ("retry in a moment", None),
            ("wait 99 days", None),
            ("resets at 2026-12-07T12:00:10+02:00", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let told = wait_told(text, 1_796_644_800).map(|wait| wait.as_secs_f64());
            assert_eq!(told, expected, "{text}");
        }
    }
}
