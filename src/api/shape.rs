//! What a record is made of: names on the wire and in Python, types, units, documentation.

/// One kind of record.
///
/// Everything that reads or writes records reads the shape: JSON and XML both ways, `TypedDict`s, Arrow schemas.
#[derive(Debug)]
pub struct Shape {
    /// The name of the `TypedDict`, and of the root element in XML.
    pub name: &'static str,
    /// One or two sentences for the reader.
    pub doc: &'static str,
    /// The section of the specification.
    pub section: &'static str,
    /// The fields in the order of the specification.
    pub fields: &'static [Field],
    /// Objects whose members are read as this record's own: services nest the fields of a job in `YieldJob`,
    /// `SprayerJob` or `PlanterJob` (field notes, Values).
    pub hoists: &'static [&'static str],
}

/// One field of a record.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The name on the wire, in Pascal case. Matching ignores case, spaces and underscores.
    pub wire: &'static str,
    /// The name in Python.
    pub snake: &'static str,
    /// Other names that services have been seen to use.
    pub also: &'static [&'static str],
    /// The type.
    pub kind: Kind,
    /// The unit of a number; `"1"` where it has none, `"unknown"` where the service does not say.
    pub unit: Option<&'static str>,
    /// What it means.
    pub doc: &'static str,
    /// How it follows from other fields; the service does not send it. Such fields come after those that it sends.
    pub derived: Option<Derived>,
    /// Whether the specification calls an identifier an integer: JSON then has a number. Users get a text either way.
    pub is_integer_id: bool,
}

/// What a derived field says, and of which field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derived {
    /// The bars of a signal strength in dBm (specification 2.4).
    Bars {
        /// The Python name of the field with the strength.
        of: &'static str,
    },
    /// What triggered a report, in words (specification 6).
    EventMeaning {
        /// The Python name of the field with the code.
        of: &'static str,
    },
    /// Whether a hub is roaming (specification 2.4).
    Roaming {
        /// The Python name of the field with the code.
        of: &'static str,
    },
    /// The numbers in a comma-separated list (specification 2.6).
    Positions {
        /// The Python name of the field with the list.
        of: &'static str,
    },
}

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// An identifier: a number or a text on the wire (see [`Field::is_integer_id`]), always a text for users.
    Id,
    /// A text.
    Text,
    /// `true` or `false`, also as `0`, `1` or text.
    Boolean,
    /// A whole number.
    Integer,
    /// A number with decimals.
    Decimal,
    /// A point in time, UTC; zero dates are null.
    Time,
    /// A record inside the record.
    Record(&'static Shape),
    /// Records inside the record. In XML each is an element of the given name inside the field's own element.
    Records(&'static Shape, &'static str),
    /// Whole numbers in a list. The service sends none: only derived fields have this type.
    Integers,
}

impl Shape {
    /// The field of that Python name.
    #[must_use]
    pub fn field(&self, snake: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.snake == snake)
    }
}

impl Field {
    const fn new(wire: &'static str, snake: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { wire, snake, also: &[], kind, unit: None, doc, derived: None, is_integer_id: false }
    }

    /// An identifier.
    #[must_use]
    pub const fn id(wire: &'static str, snake: &'static str, doc: &'static str) -> Self {
        Self::new(wire, snake, Kind::Id, doc)
    }

    /// An identifier that the specification calls an integer.
    #[must_use]
    pub const fn integer_id(wire: &'static str, snake: &'static str, doc: &'static str) -> Self {
        Self { is_integer_id: true, ..Self::new(wire, snake, Kind::Id, doc) }
    }

    /// A text.
    #[must_use]
    pub const fn text(wire: &'static str, snake: &'static str, doc: &'static str) -> Self {
        Self::new(wire, snake, Kind::Text, doc)
    }

    /// A truth value.
    #[must_use]
    pub const fn boolean(wire: &'static str, snake: &'static str, doc: &'static str) -> Self {
        Self::new(wire, snake, Kind::Boolean, doc)
    }

    /// A whole number in `unit`.
    #[must_use]
    pub const fn integer(wire: &'static str, snake: &'static str, unit: &'static str, doc: &'static str) -> Self {
        Self { unit: Some(unit), ..Self::new(wire, snake, Kind::Integer, doc) }
    }

    /// A number with decimals in `unit`.
    #[must_use]
    pub const fn decimal(wire: &'static str, snake: &'static str, unit: &'static str, doc: &'static str) -> Self {
        Self { unit: Some(unit), ..Self::new(wire, snake, Kind::Decimal, doc) }
    }

    /// A point in time.
    #[must_use]
    pub const fn time(wire: &'static str, snake: &'static str, doc: &'static str) -> Self {
        Self::new(wire, snake, Kind::Time, doc)
    }

    /// A record inside the record. Members that come beside it instead of inside it are read into it: the XML of a hub
    /// is flat where its JSON nests (specification 2.4).
    #[must_use]
    pub const fn record(wire: &'static str, snake: &'static str, shape: &'static Shape, doc: &'static str) -> Self {
        Self::new(wire, snake, Kind::Record(shape), doc)
    }

    /// Records inside the record; `element` is the name of each in XML.
    #[must_use]
    pub const fn records(
        wire: &'static str,
        snake: &'static str,
        shape: &'static Shape,
        element: &'static str,
        doc: &'static str,
    ) -> Self {
        Self::new(wire, snake, Kind::Records(shape, element), doc)
    }

    /// Whole numbers in a list, which follow from another field.
    #[must_use]
    pub const fn integers(wire: &'static str, snake: &'static str, doc: &'static str) -> Self {
        Self::new(wire, snake, Kind::Integers, doc)
    }

    /// The same field, which is not sent but follows from another one.
    #[must_use]
    pub const fn derived(mut self, derived: Derived) -> Self {
        self.derived = Some(derived);
        self
    }

    /// The same field, also known under `names`.
    #[must_use]
    pub const fn also(mut self, names: &'static [&'static str]) -> Self {
        self.also = names;
        self
    }
}
