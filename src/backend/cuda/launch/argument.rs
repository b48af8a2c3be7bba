//! Arguments of launches.

use super::shared::{Pointer, SharedLayout};
use crate::backend::Real;
use std::any::type_name;
use std::ffi::c_void;

/// An argument of a kernel: its words in memory, and its type for the tests, which compare it with that of the
/// kernel's parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    words: ArgumentWords,
    /// Name of the Rust type; empty for words of any type.
    pub of: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ArgumentWords {
    /// A number or an address.
    One([u64; 1]),
    /// A struct by value, of fields of eight bytes each or filled up with zeros.
    Several(Box<[u64]>),
}

impl Argument {
    /// A struct of these words.
    pub fn of_words(words: &[u64]) -> Self {
        Self { words: ArgumentWords::Several(words.into()), of: "" }
    }

    /// Its words in memory.
    pub fn words(&self) -> &[u64] {
        match &self.words {
            ArgumentWords::One(word) => word,
            ArgumentWords::Several(words) => words,
        }
    }

    /// The address at which the driver reads the value; it knows the size from the kernel.
    pub fn pointer(&self) -> *const c_void {
        self.words().as_ptr().cast()
    }

    /// A scalar of type `real` in a module compiled for `T`.
    pub fn real<T: Real>(value: T) -> Self {
        Self::word::<T>(bytemuck::bytes_of(&value))
    }

    /// A value of eight bytes at most.
    fn word<T>(bytes: &[u8]) -> Self {
        Self { words: ArgumentWords::One([word(bytes)]), of: type_name::<T>() }
    }
}

/// A word that begins with these bytes.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_ne_bytes(word)
}

impl<S: SharedLayout> From<S> for Argument {
    fn from(value: S) -> Self {
        let words = bytemuck::bytes_of(&value).chunks(8).map(word).collect();
        Self { words: ArgumentWords::Several(words), of: S::NAME }
    }
}

impl<T> From<Pointer<T>> for Argument {
    fn from(pointer: Pointer<T>) -> Self {
        Self::word::<Pointer<T>>(&pointer.address().to_ne_bytes())
    }
}

macro_rules! argument_from {
    ($($from:ty),*) => { $(
        impl From<$from> for Argument {
            fn from(value: $from) -> Self {
                Self::word::<$from>(&value.to_ne_bytes())
            }
        }
    )* };
}

// Sizes are u64, small counts and switches u32.
argument_from!(u64, u32, f64);

/// Arguments of a launch: one, or a tuple of those that follow one another.
pub trait Arguments {
    /// Appends them to a list.
    fn append(self, list: &mut Vec<Argument>);

    /// A list of them.
    fn list(self) -> Vec<Argument>
    where
        Self: Sized,
    {
        let mut list = Vec::with_capacity(16);
        self.append(&mut list);
        list
    }
}

impl<T> Arguments for T
where
    Argument: From<T>,
{
    fn append(self, list: &mut Vec<Argument>) {
        list.push(self.into());
    }
}

impl Arguments for Vec<Argument> {
    fn append(self, list: &mut Vec<Argument>) {
        list.extend(self);
    }
}

impl<A: Arguments, const N: usize> Arguments for [A; N] {
    fn append(self, list: &mut Vec<Argument>) {
        for argument in self {
            argument.append(list);
        }
    }
}

macro_rules! tuples {
    ($($first:ident $($name:ident)*;)*) => { $(
        #[allow(non_snake_case, reason = "a value is named after its type")]
        impl<$first: Arguments, $($name: Arguments),*> Arguments for ($first, $($name),*) {
            fn append(self, list: &mut Vec<Argument>) {
                let ($first, $($name),*) = self;
                $first.append(list);
                $($name.append(list);)*
            }
        }
    )* };
}

tuples! {
    A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H; A B C D E F G H I;
    A B C D E F G H I J;
}
