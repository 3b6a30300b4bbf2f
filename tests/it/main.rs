//! The one integration binary of teamster; each module tests one thing, named after it.

mod support;
