//! Description of records: names on the wire and in Python, types, units and documentation.

/// One kind of record.
///
/// The JSON and XML encoders and decoders, the `TypedDict`s and the Arrow schemas use it.
#[derive(Debug)]
pub struct Shape {
    /// The name of the `TypedDict`, and of the root element in XML.
    pub name: &'static str,
    /// Its documentation in one or two sentences.
    pub doc: &'static str,
    /// The section of the specification.
    pub section: &'static str,
    /// The fields in the order of the specification.
    pub fields: &'static [Field],
    /// Objects whose members are read as fields of this record: services nest the fields of a job in `YieldJob`,
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
    /// Other names that services are known to use.
    pub also: &'static [&'static str],
    /// The type.
    pub kind: Kind,
    /// The unit of a number: `"1"` if it has none, `"unknown"` if the service does not state it.
    pub unit: Option<&'static str>,
    /// Its documentation.
    pub doc: &'static str,
    /// How it is derived from other fields, for fields that the service does not send. They follow the sent fields.
    pub derived: Option<Derived>,
    /// Whether the specification defines the identifier as an integer, which is a number in JSON. For users it is
    /// always text.
    pub is_integer_id: bool,
}

/// The rule of a derived field and its source field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derived {
    /// The signal bars for a signal strength in dBm (specification 2.4).
    Bars {
        /// The Python name of the field with the strength.
        of: &'static str,
    },
    /// The meaning of a report's event code (specification 6).
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
    /// A number with a fractional part.
    Decimal,
    /// A point in time in UTC; zero dates are null.
    Time,
    /// A nested record.
    Record(&'static Shape),
    /// A list of nested records. In XML each is an element with the given name inside the field's element.
    Records(&'static Shape, &'static str),
    /// A list of whole numbers. Only derived fields have this type, because the service sends none.
    Integers,
}

impl Shape {
    /// The field with a Python name.
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

    /// An identifier that the specification defines as an integer.
    #[must_use]
    pub const fn integer_id(wire: &'static str, snake: &'static str, doc: &'static str) -> Self {
        Self { is_integer_id: true, ..Self::new(wire, snake, Kind::Id, doc) }
    }

    /// A text.
    #[must_use]
    pub const fn text(wire: &'static str, snake: &'static str, doc: &'static str) -> Self {
        Self::new(wire, snake, Kind::Text, doc)
    }

    /// A Boolean value.
    #[must_use]
    pub const fn boolean(wire: &'static str, snake: &'static str, doc: &'static str) -> Self {
        Self::new(wire, snake, Kind::Boolean, doc)
    }

    /// A whole number in `unit`.
    #[must_use]
    pub const fn integer(wire: &'static str, snake: &'static str, unit: &'static str, doc: &'static str) -> Self {
        Self { unit: Some(unit), ..Self::new(wire, snake, Kind::Integer, doc) }
    }

    /// A number with a fractional part, in `unit`.
    #[must_use]
    pub const fn decimal(wire: &'static str, snake: &'static str, unit: &'static str, doc: &'static str) -> Self {
        Self { unit: Some(unit), ..Self::new(wire, snake, Kind::Decimal, doc) }
    }

    /// A point in time.
    #[must_use]
    pub const fn time(wire: &'static str, snake: &'static str, doc: &'static str) -> Self {
        Self::new(wire, snake, Kind::Time, doc)
    }

    /// A nested record. Its members are also read from the outer record: the XML of a hub is flat where its JSON is
    /// nested (specification 2.4).
    #[must_use]
    pub const fn record(wire: &'static str, snake: &'static str, shape: &'static Shape, doc: &'static str) -> Self {
        Self::new(wire, snake, Kind::Record(shape), doc)
    }

    /// A list of nested records; `element` is the name of each in XML.
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

    /// A list of whole numbers, derived from another field.
    #[must_use]
    pub const fn integers(wire: &'static str, snake: &'static str, doc: &'static str) -> Self {
        Self::new(wire, snake, Kind::Integers, doc)
    }

    /// Marks the field as derived from another one instead of sent.
    #[must_use]
    pub const fn derived(mut self, derived: Derived) -> Self {
        self.derived = Some(derived);
        self
    }

    /// Adds alternative names.
    #[must_use]
    pub const fn also(mut self, names: &'static [&'static str]) -> Self {
        self.also = names;
        self
    }
}
