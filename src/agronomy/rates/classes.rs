//! Classes of rows: how the applied rate compares to the target.

/// Rounding of a quotient, so that the limit itself is within.
const ROUNDING: f64 = 1e-9;

/// How a row compares to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Less than the target minus the tolerance.
    Under,
    /// Within the tolerance, the limits included.
    Within,
    /// More than the target plus the tolerance.
    Over,
    /// Applied without a known target.
    NoTarget,
    /// Applied where the target is 0.
    ShouldBeOff,
    /// The boom is off where the target is above 0 and no other row works the ground.
    Off,
    /// The target is 0, and so is the rate.
    NothingAsked,
    /// Worked, but the applied rate is not known.
    NoRate,
}

impl Class {
    /// All classes, in the order of the report.
    pub(super) const ALL: &'static [Self] = &[
        Self::Under,
        Self::Within,
        Self::Over,
        Self::NoTarget,
        Self::ShouldBeOff,
        Self::Off,
        Self::NothingAsked,
        Self::NoRate,
    ];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Under => "under",
            Self::Within => "within",
            Self::Over => "over",
            Self::NoTarget => "no_target",
            Self::ShouldBeOff => "should_be_off",
            Self::Off => "off",
            Self::NothingAsked => "nothing_asked",
            Self::NoRate => "no_rate",
        }
    }

    /// Whether target and rate are compared.
    pub(super) const fn is_rated(self) -> bool {
        matches!(self, Self::Under | Self::Within | Self::Over)
    }

    /// Whether the rate is off the target.
    pub(super) const fn is_off_rate(self) -> bool {
        matches!(self, Self::Under | Self::Over)
    }
}

/// (applied - target) / target; not a number without a target above 0.
pub(super) fn error_of(target: f64, applied: f64) -> f64 {
    if target > 0.0 { (applied - target) / target } else { f64::NAN }
}

/// The class of a row; not a number is null. `None` where the boom is off and nothing is asked.
pub(super) fn classify(target: f64, applied: f64, is_working: bool, tolerance: f64) -> Option<Class> {
    if !is_working {
        return (target > 0.0).then_some(Class::Off);
    }
    if applied.is_nan() {
        return Some(Class::NoRate);
    }
    if target.is_nan() {
        return Some(Class::NoTarget);
    }
    let error = error_of(target, applied);
    Some(if error.is_nan() {
        if applied > 0.0 { Class::ShouldBeOff } else { Class::NothingAsked }
    } else if error.abs() <= tolerance + ROUNDING {
        Class::Within
    } else if error < 0.0 {
        Class::Under
    } else {
        Class::Over
    })
}

/// Columns of one target over all rows of the layer.
pub(super) struct Compared {
    pub(super) error: Vec<f64>,
    pub(super) class: Vec<Option<Class>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_within_and_zero_and_null_are_apart() {
        for (target, applied, is_working, expected) in [
            (100.0, 110.0, true, Some(Class::Within)),
            (100.0, 90.0, true, Some(Class::Within)),
            (0.3, 0.33, true, Some(Class::Within)),
            (100.0, 110.1, true, Some(Class::Over)),
            (100.0, 89.9, true, Some(Class::Under)),
            (100.0, 0.0, true, Some(Class::Under)),
            (0.0, 5.0, true, Some(Class::ShouldBeOff)),
            (0.0, 0.0, true, Some(Class::NothingAsked)),
            (f64::NAN, 5.0, true, Some(Class::NoTarget)),
            (100.0, f64::NAN, true, Some(Class::NoRate)),
            (100.0, 0.0, false, Some(Class::Off)),
            (0.0, 0.0, false, None),
            (f64::NAN, 0.0, false, None),
        ] {
            assert_eq!(classify(target, applied, is_working, 0.1), expected, "{target} {applied} {is_working}");
        }
    }
}
