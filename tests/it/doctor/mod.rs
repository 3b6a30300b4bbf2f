//! The doctor, with fakes that play a CLI in each state: no account, no network.

mod command;
mod place;
mod verdicts;
mod versions;
mod words;
