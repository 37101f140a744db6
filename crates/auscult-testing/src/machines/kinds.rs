//! The names of machines, faults and domains.

use crate::error::Error;

/// A kind of machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Machine {
    /// Blade-pass tones over flow noise, slowly wandering in speed.
    Fan,
    /// Rotation and vane-pass tones over flow noise that pulses with them.
    Pump,
    /// Timed clicks of opening and closing, and air while it is open.
    Valve,
    /// Friction noise of strokes back and forth, and the stops at their ends.
    Slider,
}

impl Machine {
    /// All machines.
    pub const ALL: [Self; 4] = [Self::Fan, Self::Pump, Self::Valve, Self::Slider];

    /// The name in file names and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fan => "fan",
            Self::Pump => "pump",
            Self::Valve => "valve",
            Self::Slider => "slider",
        }
    }

    /// The faults that make sense for this machine.
    pub const fn faults(self) -> &'static [Fault] {
        match self {
            Self::Fan => &[Fault::BearingImpulses, Fault::Imbalance],
            Self::Pump => &[Fault::Leak, Fault::BearingImpulses],
            Self::Valve => &[Fault::MissingStroke, Fault::Leak],
            Self::Slider => &[Fault::Squeal, Fault::MissingStroke],
        }
    }
}

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// A damaged race rings at each passing ball.
    BearingImpulses,
    /// The rotation line rises and the blade tone beats with it.
    Imbalance,
    /// Gas or water escapes with a steady hiss.
    Leak,
    /// Some strokes or clicks do not happen.
    MissingStroke,
    /// Dry rails squeal on a narrow line between 2 and 4 kHz.
    Squeal,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 5] =
        [Self::BearingImpulses, Self::Imbalance, Self::Leak, Self::MissingStroke, Self::Squeal];

    /// The name in file names and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BearingImpulses => "bearing_impulses",
            Self::Imbalance => "imbalance",
            Self::Leak => "leak",
            Self::MissingStroke => "missing_stroke",
            Self::Squeal => "squeal",
        }
    }
}

/// The conditions a machine is recorded under, in the words of DCASE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Domain {
    /// The usual conditions, with many recordings.
    Source,
    /// Another speed, load, background noise and room, with few recordings.
    Target,
}

impl Domain {
    /// Both domains.
    pub const ALL: [Self; 2] = [Self::Source, Self::Target];

    /// The name in file names and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Target => "target",
        }
    }

    /// The first value in the source domain, the second in the target domain.
    pub(super) const fn pick(self, source: f64, target: f64) -> f64 {
        match self {
            Self::Source => source,
            Self::Target => target,
        }
    }
}

/// Prints an enum by its name and reads it back.
macro_rules! named {
    ($kind:ty, $what:literal) => {
        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $kind {
            type Err = $crate::Error;

            fn from_str(name: &str) -> $crate::Result<Self> {
                $crate::machines::kinds::find($what, name, &Self::ALL, |kind| kind.name())
            }
        }
    };
}
pub(crate) use named;

named!(Machine, "machine");
named!(Fault, "fault");
named!(Domain, "domain");

/// Finds what a name stands for; the error lists the names there are.
pub(crate) fn find<T: Copy>(
    what: &'static str,
    got: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, Error> {
    let found = all.iter().copied().find(|&kind| name(kind) == got);
    found.ok_or_else(|| Error::UnknownName { what, got: got.to_owned(), allowed: list(all, name) })
}

/// Names with commas between them.
pub(crate) fn list<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str) -> String {
    all.iter().map(|&kind| name(kind)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for machine in Machine::ALL {
            assert_eq!(machine.to_string().parse::<Machine>().unwrap(), machine);
        }
        for fault in Fault::ALL {
            assert_eq!(fault.to_string().parse::<Fault>().unwrap(), fault);
        }
    }

    #[test]
    fn unknown_name_is_refused_with_the_choices() {
        let error = "turbine".parse::<Machine>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown machine \"turbine\"; use one of fan, pump, valve, slider"
        );
    }
}
