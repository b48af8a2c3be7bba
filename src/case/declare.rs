//! The macro that declares a table of keys and the options that hold their values.

use super::schema::{Bound, KeyKind};

pub(super) const fn integer(min: i64, max: i64) -> KeyKind {
    KeyKind::Integer { min, max }
}

pub(super) const fn real(low: Bound, high: Bound) -> KeyKind {
    KeyKind::Real { low, high }
}

pub(super) const fn closed(value: f64) -> Bound {
    Bound { value, open: false }
}

pub(super) const fn open(value: f64) -> Bound {
    Bound { value, open: true }
}

/// Defines a list of sections, one of keys, and the options that hold the values of a section.
///
/// Sections and keys are in the order of the reference page and of the resolved case. A key reads `name: type = kind
/// and range, default, unit; meaning;`, with the type of its field in the options of its section, whose other fields
/// are in braces after their name. A key without a type is read, and not held there.
macro_rules! keys {
    ($(#[$sections_are:meta])* $sections:ident, $(#[$keys_are:meta])* $keys:ident, [$($first:expr)?];
    $($(#[derive($($derived:tt)*)])? $section:literal $(=> $Options:ident { $($more:tt)* })?: $about:literal {
        $(
            $name:ident $(: $Type:ty)? = $kind:expr, $default:expr, $unit:tt; $meaning:literal;
        )*
    })*) => {
        $(#[$sections_are])*
        pub const $sections: &[(&str, &str)] = &[$(($section, $about)),*];

        $(#[$keys_are])*
        pub const $keys: &[Key] = &[
            $($first,)?
            $($(Key {
                path: concat!($section, ".", stringify!($name)),
                kind: $kind,
                default: $default,
                unit: $unit,
                meaning: $meaning,
            },)*)*
        ];

        $($crate::case::declare::options! {
            $section, [$($Options { $($more)* } $($derived)*)?],
            $([$($Type)?] $name, $unit, $meaning;)*
        })*
    };
}

/// Defines the options of a section, if they have a name.
macro_rules! options {
    ($section:literal, [], $($keys:tt)*) => {};
    (
        $section:literal, [$Options:ident { $($more:tt)* } $($derived:tt)*],
        $([$($Type:ty)?] $name:ident, $unit:tt, $meaning:literal;)*
    ) => {
        #[doc = concat!("Section `[", $section, "]`.")]
        #[derive($($derived)*)]
        #[non_exhaustive]
        pub struct $Options {
            $($more)*
            $($(
                #[doc = concat!($meaning, $crate::case::declare::unit!($unit))]
                pub $name: $Type,
            )?)*
        }
    };
}

/// The unit of a key in the documentation of its field.
macro_rules! unit {
    ("") => {
        ""
    };
    ($unit:literal) => {
        concat!(" Unit: ", $unit, ".")
    };
}

pub(super) use {keys, options, unit};
