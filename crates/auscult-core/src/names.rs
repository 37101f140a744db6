//! One macro for enums whose variants users choose by name.

/// Gives an enum of named choices `ALL`, `name`, `Display`, `FromStr` and serde by name.
///
/// The names are what users type and what model files hold, so they never change.
macro_rules! named_choices {
    ($type:ident, $what:literal, { $($variant:ident => $name:literal),+ $(,)? }) => {
        impl $type {
            /// Every choice, in the order it is documented.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name users type.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(text: &str) -> $crate::Result<Self> {
                Self::ALL.iter().copied().find(|choice| choice.name() == text).ok_or_else(|| {
                    $crate::Error::UnknownName {
                        what: $what,
                        got: text.to_owned(),
                        known: [$($name),+].join(", "),
                    }
                })
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let name = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use named_choices;
