//! How many dispatches of one harness may run at once, and from when: fewer and later after `rate_limit`.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The first pause of a harness that does not say how long.
const FIRST: Duration = Duration::from_secs(2);
/// No pause that nobody asked for is longer.
const LONGEST: Duration = Duration::from_secs(300);

/// The pace of one harness: additive increase, multiplicative decrease.
#[derive(Debug, Clone)]
pub struct Pace {
    most: usize,
    limit: f64,
    running: usize,
    refusals: u32,
    not_before: Option<Instant>,
}

impl Pace {
    /// At most so many at once.
    pub fn new(most: usize) -> Pace {
        let most = most.max(1);
        Pace { most, limit: most as f64, running: 0, refusals: 0, not_before: None }
    }

    /// How many may run at once now.
    pub fn limit(&self) -> usize {
        (self.limit.floor() as usize).clamp(1, self.most)
    }

    /// Whether one more may start at this moment.
    pub fn is_open(&self, now: Instant) -> bool {
        self.running < self.limit() && self.not_before.is_none_or(|at| now >= at)
    }

    /// When it opens by itself, where it is a pause that keeps it.
    pub fn opens_at(&self) -> Option<Instant> {
        self.not_before.filter(|_| self.running < self.limit())
    }

    /// One starts.
    pub fn start(&mut self) {
        self.running += 1;
    }

    /// One ended, and not by a rate limit.
    pub fn end(&mut self) {
        self.running = self.running.saturating_sub(1);
        self.refusals = 0;
        self.limit = (self.limit + 1.0 / self.limit).min(self.most as f64);
    }

    /// One was refused by a rate limit. Gives the pause: what the vendor asks for, else ever longer ones.
    ///
    /// `spread` from 0 to 1 makes a pause up to a fifth longer, so that several machines do not come back at once.
    pub fn refuse(&mut self, now: Instant, asked: Option<Duration>, spread: f64) -> Duration {
        self.running = self.running.saturating_sub(1);
        // Those that were on their way together are one refusal.
        if self.not_before.is_none_or(|at| now >= at) {
            self.refusals = self.refusals.saturating_add(1);
            self.limit = (self.limit / 2.0).max(1.0);
        }
        let doubled = FIRST.saturating_mul(1 << (self.refusals.clamp(1, 16) - 1)).min(LONGEST);
        let pause = asked.unwrap_or(doubled).mul_f64(1.0 + spread.clamp(0.0, 1.0) / 5.0);
        self.not_before = self.not_before.max(now.checked_add(pause));
        pause
    }
}

/// The paces of all harnesses of a batch.
#[derive(Debug, Clone)]
pub struct Paces {
    usual: usize,
    own: HashMap<String, usize>,
    paces: HashMap<String, Pace>,
}

impl Paces {
    /// At most `usual` at once of each harness, but for those that have a number of their own.
    pub fn new(usual: usize, own: HashMap<String, usize>) -> Paces {
        Paces { usual, own, paces: HashMap::new() }
    }

    /// The pace of a harness.
    pub fn of(&mut self, harness: &str) -> &mut Pace {
        if !self.paces.contains_key(harness) {
            let most = self.own.get(harness).copied().unwrap_or(self.usual);
            self.paces.insert(harness.to_owned(), Pace::new(most));
        }
        self.paces.entry(harness.to_owned()).or_insert_with(|| Pace::new(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn a_refusal_halves_and_pauses_and_answers_bring_it_back() {
        let (mut pace, now) = (Pace::new(8), Instant::now());
        (0..8).for_each(|_| pace.start());
        assert!(!pace.is_open(now));
        assert_eq!(pace.refuse(now, None, 0.0), seconds(2));
        assert_eq!((pace.limit(), pace.is_open(now)), (4, false));
        // The others of the same moment do not halve it again.
        assert_eq!(pace.refuse(now, None, 0.0), seconds(2));
        assert_eq!(pace.limit(), 4);
        (0..6).for_each(|_| pace.end());
        assert_eq!((pace.is_open(now + seconds(1)), pace.is_open(now + seconds(2))), (false, true));
        (0..40).for_each(|_| pace.end());
        assert_eq!(pace.limit(), 8);
    }

    #[test]
    fn pauses_double_to_a_longest_unless_the_vendor_says_how_long() {
        let (mut pace, mut now) = (Pace::new(2), Instant::now());
        let mut pauses = Vec::new();
        for _ in 0..12 {
            let pause = pace.refuse(now, None, 0.0);
            now += pause;
            pauses.push(pause.as_secs());
        }
        assert_eq!(pauses, [2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300]);
        assert_eq!(pace.refuse(now, Some(seconds(900)), 0.0), seconds(900));
        assert_eq!(pace.refuse(now, Some(seconds(10)), 1.0), seconds(12));
        // A shorter pause does not take back a longer one.
        assert!(!pace.is_open(now + seconds(899)));
        assert_eq!(pace.limit(), 1);
    }
}
