//! Declarations of errors: each variant has its message, its hint and its class.

use serde::{Deserialize, Serialize};

/// The kinds of failure that a caller treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ErrorClass {
    /// Input that cannot be used, files that cannot be read or written, and too little memory.
    Input,
    /// The problem was understood and not solved: another method or another setting may do it.
    Unsolved,
    /// The device, or another rank, failed.
    Device,
    /// The run was cancelled.
    Interrupted,
}

/// Characters of a text of the user that a message shows.
const SHOWN: usize = 60;

/// The first line of a text, and not too much of it, for messages.
pub(crate) fn excerpt(text: &str) -> String {
    let text = text.trim();
    let mut shown: String = text.lines().next().unwrap_or_default().chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// A number with its noun, which takes an s unless there is one, or a part of one.
pub(crate) fn counted(number: f64, noun: &str) -> String {
    let plural = if number <= 1.0 && number > 0.0 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Declares an error type with the methods `hint` and `class`.
///
/// Each variant of an enum has the attributes
/// - `#[error("…")]`, the message, as `thiserror` has it. With `#[error(transparent)]` hint and class come from
///   the error within, unless they are given;
/// - `#[hint("…")]`, advice to the user, with fields in braces as in the message; or `#[hint = …]`, an
///   optional text that is an expression of the fields, or a function that makes a text of an unnamed field. It may
///   be left out;
/// - `#[class(…)]`, or `#[class = …]` with an expression of the fields, where the class differs from that of the enum.
///
/// A struct has a message, and the hint and the class of its last field, the `#[source]`.
macro_rules! errors {
    (
        $(#[doc = $about:literal])*
        #[derive($($derived:tt)*)]
        #[class($class:ident)]
        pub enum $Error:ident {
            $(
                $(#[doc = $doc:literal])*
                #[error($($message:tt)*)]
                $(#[hint $($hint:tt)*])?
                $(#[class $($own:tt)*])?
                $Variant:ident
                $({ $($field:ident: $Type:ty),* $(,)? })?
                $(( $(#[$($inner:tt)*])? $Inner:ty ))?
            ),* $(,)?
        }
    ) => {
        $(#[doc = $about])*
        #[derive($($derived)*)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "the message says what each field is")]
        pub enum $Error {
            $(
                $(#[doc = $doc])*
                #[doc = concat!("\n\nMessage: ``", stringify!($($message)*), "``")]
                #[error($($message)*)]
                $Variant
                $({ $($field: $Type),* })?
                $(( $(#[$($inner)*])? $Inner ))?
            ),*
        }

        impl $Error {
            /// Advice to the user; none where the message says it all.
            #[allow(unused_variables, reason = "few hints name fields")]
            pub fn hint(&self) -> Option<String> {
                match self {
                    $(Self::$Variant {
                        $($($field,)*)?
                        $(0: $crate::diagnostics::errors!(@name inner $Inner),)?
                    } => $crate::diagnostics::errors!(
                        @hint [$($message)*] [$($($hint)*)?] $($crate::diagnostics::errors!(@name inner $Inner))?
                    ),)*
                }
            }

            /// The kind of failure.
            #[allow(unused_variables, reason = "few classes are those of an error within")]
            pub fn class(&self) -> $crate::diagnostics::ErrorClass {
                match self {
                    $(Self::$Variant {
                        $($($field,)*)?
                        $(0: $crate::diagnostics::errors!(@name inner $Inner),)?
                    } => $crate::diagnostics::errors!(
                        @class [$($message)*] [$($($own)*)?] $class
                        $($crate::diagnostics::errors!(@name inner $Inner))?
                    ),)*
                }
            }
        }
    };
    (
        $(#[doc = $about:literal])*
        #[error($($message:tt)*)]
        pub struct $Error:ident {
            $($field:ident: $Type:ty,)*
            #[source]
            $cause:ident: $Cause:ty $(,)?
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, thiserror::Error)]
        #[error($($message)*)]
        #[allow(missing_docs, reason = "the message says what each field is")]
        pub struct $Error {
            $(pub $field: $Type,)*
            #[source]
            pub $cause: $Cause,
        }

        impl $Error {
            /// Advice to the user; none where the message says it all.
            pub fn hint(&self) -> Option<String> {
                self.$cause.hint()
            }

            /// The kind of failure.
            pub fn class(&self) -> $crate::diagnostics::ErrorClass {
                self.$cause.class()
            }
        }
    };
    (@name $name:ident $Type:ty) => { $name };
    (@hint [transparent] [] $inner:expr) => { $inner.hint() };
    (@hint [$($message:tt)*] [] $($inner:expr)?) => { None };
    (@hint [$($message:tt)*] [($($text:tt)*)] $($inner:expr)?) => {
        Some(std::fmt::format(format_args!($($text)*)))
    };
    (@hint [$($message:tt)*] [= $of:expr] $inner:expr) => { Some($of($inner).into()) };
    (@hint [$($message:tt)*] [= $text:expr]) => { $text };
    (@class [$($message:tt)*] [($own:ident)] $class:ident $($inner:expr)?) => {
        $crate::diagnostics::ErrorClass::$own
    };
    (@class [$($message:tt)*] [= $own:expr] $class:ident $($inner:expr)?) => { $own };
    (@class [transparent] [] $class:ident $inner:expr) => { $inner.class() };
    (@class [$($message:tt)*] [] $class:ident $($inner:expr)?) => {
        $crate::diagnostics::ErrorClass::$class
    };
}

pub(crate) use errors;
