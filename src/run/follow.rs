//! Follows a file that a child writes: what is new, as it grows.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Reads a file from where it stopped the last time.
///
/// A file whose last bytes are not the ones that were read was truncated by its writer (a child that
/// opens /dev/stdout anew does it): what was read is kept by the reader, and what the file then holds is
/// new.
pub(super) struct Follower {
    file: File,
    at: u64,
    read: u64,
    last: Vec<u8>,
}

/// How many of the bytes read last are held against the file.
const LAST: usize = 64;

/// The most that one call reads, so that a fast writer cannot keep the loop from its clocks.
const SLICE: u64 = 4 << 20;

impl Follower {
    pub(super) fn new(file: File) -> Self {
        Follower { file, at: 0, read: 0, last: Vec::with_capacity(LAST) }
    }

    /// Bytes read so far.
    pub(super) fn read(&self) -> u64 {
        self.read
    }

    /// Hands on what is new, at most `cap` bytes in all; gives whether there may be more at once.
    pub(super) fn poll(
        &mut self,
        buffer: &mut [u8],
        cap: u64,
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<bool> {
        let size = self.file.metadata()?.len();
        if size < self.at || (size > self.at && self.was_replaced()?) {
            self.at = 0;
        }
        let mut slice = SLICE;
        while slice > 0 {
            let room = cap.saturating_sub(self.read).min(buffer.len() as u64) as usize;
            if room == 0 {
                return Ok(false);
            }
            let got = self.file.read_at(&mut buffer[..room], self.at)?;
            if got == 0 {
                return Ok(false);
            }
            take(&buffer[..got]);
            self.at += got as u64;
            self.read += got as u64;
            self.last.clear();
            self.last.extend_from_slice(&buffer[got.saturating_sub(LAST)..got]);
            slice = slice.saturating_sub(got as u64);
        }
        Ok(true)
    }

    fn was_replaced(&self) -> io::Result<bool> {
        let mut there = [0; LAST];
        let there = &mut there[..self.last.len()];
        let got = self.file.read_at(there, self.at.saturating_sub(self.last.len() as u64))?;
        Ok(there[..got] != self.last)
    }
}
