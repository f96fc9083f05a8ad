//! The real transport against a small server on loopback.
