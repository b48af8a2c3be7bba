//! What is written about the program: pages, citations of the theory, examples, and the sources that results
//! name.

mod examples;
mod fingerprint;
mod pages;
mod theory;
