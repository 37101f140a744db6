//! Published back ends to compare with.

pub mod genrep;
