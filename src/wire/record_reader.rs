//! Reads records by their shapes, with every tolerance that services need (field notes, Values and XML).

use super::extra_fields::OnRepeat;
use super::fields::{
    ITEMS, bare_uri, describe, duplicate_field, field_of, finish, inner_field_of, is_known, list_of, put_inside,
    scalar, void, void_inside, whole,
};
use super::node::Node;
use super::partial_record::{Member, Members, Order, Record};
use super::path::{Step, Unreadable, excerpt, written};
use super::reply::Content;
use super::value::Value;
use headland_api::{Field, Index, Kind, Shape};
use headland_base::error::{Error, Kind as ErrorKind, Result};
use headland_base::names;

/// Reads one reply.
pub(super) struct RecordReader {
    content: Content,
    /// The reply in the words of messages, and the first name of a path.
    what: &'static str,
    root: &'static str,
    /// The place of the value that is read.
    path: Vec<Step<'static>>,
    /// The values of records that are null because they cannot be read. `None`: such a value is an error.
    unreadable: Option<Vec<Unreadable>>,
    /// The records that were read while the reply was parsed.
    records: Result<Vec<Value>>,
    order: Order,
}

impl RecordReader {
    pub(super) fn new(content: Content, what: &'static str, root: &'static str, is_lenient: bool) -> Self {
        let unreadable = is_lenient.then(Vec::new);
        let (path, records, order) = (Vec::new(), Ok(Vec::new()), Order::default());
        Self { content, what, root, path, unreadable, records, order }
    }

    /// Reads a whole reply as a record of `shape`, and `items` where it is the envelope of a list. Gives the values of its
    /// records that could not be read, too.
    pub(super) fn read(
        &mut self,
        node: Node<'_>,
        shape: &'static Shape,
        items: Option<&'static Index>,
    ) -> Result<(Value, Vec<Unreadable>)> {
        let record = match node {
            Node::Object(_) | Node::Empty => self.record(members(node), shape, items, &mut Order::default())?,
            other => return Err(self.no_record(&other, shape)),
        };
        Ok((record, self.unreadable.take().unwrap_or_default()))
    }

    /// Reads a record of the list before its envelope. After an error the others are skipped: the list has that error,
    /// unless the envelope has one before it.
    pub(super) fn read_item(&mut self, node: Node<'_>, index: &'static Index) {
        let Ok(records) = &self.records else { return };
        let (position, mut order) = (records.len(), std::mem::take(&mut self.order));
        self.path.push(Step::Field(index.kind));
        let item = self.item(node, index.item, position, &mut order);
        self.path.clear();
        self.order = order;
        match (&mut self.records, item) {
            (Ok(records), Ok(item)) => records.push(item),
            (records, item) => *records = item.map(|item| vec![item]),
        }
    }

    fn record(
        &mut self,
        members: Members<'_>,
        shape: &'static Shape,
        items: Option<&'static Index>,
        order: &mut Order,
    ) -> Result<Value> {
        let mut record = Record::new(shape, items);
        let mut is_repeated = true;
        for (position, (name, node)) in members.into_iter().enumerate() {
            match order.get(position, &name).filter(|_| is_repeated) {
                Some(Member::Field(field)) => {
                    let value = self.within(Step::Field(field.wire), |reader| reader.field(field, node, 0))?;
                    record.add(field, value);
                }
                Some(Member::Extra) => self.extra(&mut record, &name, node),
                None => {
                    if std::mem::take(&mut is_repeated) {
                        order.truncate(position);
                    }
                    if let Some(member) = self.member(&mut record, &name, node)? {
                        order.note(position, &name, member);
                    }
                }
            }
        }
        record.is_hoisted = true;
        while !record.hoisted.is_empty() {
            for members in std::mem::take(&mut record.hoisted) {
                record.lists.clear();
                record.extra.next_section();
                for (name, node) in members {
                    self.member(&mut record, &name, node)?;
                }
            }
        }
        record.fields.extend(record.extra.into_fields());
        Ok(finish(shape, record.fields))
    }

    /// Reads a member wherever it may belong, and gives what the next record can rely on.
    fn member<'n>(&mut self, record: &mut Record<'n>, wire: &str, node: Node<'n>) -> Result<Option<Member>> {
        let shape = record.shape;
        if let Some(index) = record.items.filter(|index| names::same(wire, index.kind)) {
            return self.within(Step::Field(index.kind), |reader| {
                let items = reader.items(node, index.item, None, record.length(ITEMS))?;
                record.extend_items(items);
                Ok(None)
            });
        }
        if let Some((outer, inner)) = inner_field_of(shape, wire, &record.fields) {
            return self.within(Step::Field(inner.wire), |reader| {
                let value = reader.field(inner, node, 0)?;
                if !put_inside(&mut record.fields, outer, inner, value) {
                    reader.refuse(&duplicate_field(inner))?;
                    void_inside(&mut record.fields, outer, inner);
                }
                Ok(None)
            });
        }
        let own = field_of(shape, wire, record.fields.len());
        if let Some(field) = own.or_else(|| list_of(shape, wire)) {
            return self.within(Step::Field(field.wire), |reader| {
                let is_new = own.is_some() && !is_known(&record.fields, field.snake);
                let before = record.length(field.snake);
                let value = match field.kind {
                    // An item without the list around it.
                    Kind::Records(inner, _) if own.is_none() => Value::List(reader.items(node, inner, None, before)?),
                    _ => reader.field(field, node, before)?,
                };
                if !record.put(field, value, reader.content) {
                    reader.refuse(&duplicate_field(field))?;
                    void(&mut record.fields, field);
                }
                Ok(is_new.then_some(Member::Field(field)))
            });
        }
        if shape.hoists.iter().any(|name| names::same(wire, name)) {
            match node {
                Node::Null | Node::Empty => {}
                Node::Text(text) if text.trim().is_empty() => {}
                Node::Object(members) => record.hoisted.push(members),
                other => {
                    let why = format!("`{wire}` is invalid: expected an object with fields of {}", shape.name);
                    return Err(self.fail(&format!("{why}, got {other}")));
                }
            }
            return Ok(None);
        }
        self.extra(record, wire, node);
        Ok(Some(Member::Extra))
    }

    /// Keeps a member that the shape does not name.
    fn extra(&self, record: &mut Record<'_>, wire: &str, node: Node<'_>) {
        let on_repeat = if self.content == Content::Xml { OnRepeat::Append } else { OnRepeat::Compare };
        record.extra.put(record.shape, wire, node.into_tree(), on_repeat);
    }

    /// Reads the value of a field. `before` counts the items that its list has already.
    fn field(&mut self, field: &'static Field, node: Node<'_>, before: usize) -> Result<Value> {
        let value = match (field.kind, &node) {
            (Kind::Records(shape, element), _) => {
                return self.items(node, shape, Some(element), before).map(Value::List);
            }
            (Kind::Record(shape), Node::Object(_)) => {
                return self.record(members(node), shape, None, &mut Order::default());
            }
            (_, Node::Null) => Some(Value::Null),
            (kind, Node::Empty) => scalar(kind, ""),
            (kind, Node::Text(text)) => scalar(kind, text),
            (Kind::Boolean, Node::Boolean(truth)) => Some(Value::Boolean(*truth)),
            (Kind::Text, Node::Boolean(truth)) => Some(Value::Text(truth.to_string())),
            (Kind::Id | Kind::Text, Node::Number(number)) => Some(Value::Text(match number.as_f64() {
                // 7.0 is the id 7.
                Some(decimal) if number.is_f64() => decimal.to_string(),
                _ => number.to_string(),
            })),
            (Kind::Boolean, Node::Number(number)) => match number.as_u64() {
                Some(number @ 0..=1) => Some(Value::Boolean(number == 1)),
                _ => None,
            },
            (Kind::Decimal, Node::Number(number)) => number.as_f64().map(Value::Decimal),
            (Kind::Integer, Node::Number(number)) => {
                number.as_i64().or_else(|| whole(number.as_f64()?)).map(Value::Integer)
            }
            _ => None,
        };
        let expected = describe(field.kind);
        value.map_or_else(|| self.refuse(&format!("`{}` is invalid: expected {expected}, got {node}", field.wire)), Ok)
    }

    /// Reads records: a list, one bare record, or nothing. A list may be in an object, under the name of its `element`, as
    /// XML writes it. `before` counts the items that the list has already.
    fn items(
        &mut self,
        node: Node<'_>,
        shape: &'static Shape,
        element: Option<&str>,
        before: usize,
    ) -> Result<Vec<Value>> {
        match (node, element) {
            (Node::Null, _) | (Node::Empty, Some(_)) => Ok(Vec::new()),
            (Node::Read, _) => std::mem::replace(&mut self.records, Ok(Vec::new())),
            // An element of XML is an item even if it is blank.
            (Node::Text(text), element)
                if text.trim().is_empty() && (element.is_some() || self.content == Content::Json) =>
            {
                Ok(Vec::new())
            }
            (Node::List(nodes), _) => {
                let mut order = Order::default();
                (before..).zip(nodes).map(|(index, node)| self.item(node, shape, index, &mut order)).collect()
            }
            (Node::Object(members), _) if members.is_empty() => Ok(Vec::new()),
            (Node::Object(members), Some(element)) => self.wrapped(members, shape, element, before),
            (node, _) => self.item(node, shape, before, &mut Order::default()).map(|item| vec![item]),
        }
    }

    /// Reads the items of an object that wraps a list, or the one record that stands there without an element of its own.
    fn wrapped(
        &mut self,
        members: Members<'_>,
        shape: &'static Shape,
        element: &str,
        before: usize,
    ) -> Result<Vec<Value>> {
        let is_item = |name: &str| names::same(name, element) || names::same(name, shape.name);
        let is_field = |name: &str| {
            field_of(shape, name, 0).or_else(|| list_of(shape, name)).is_some()
                || shape.hoists.iter().any(|hoist| names::same(name, hoist))
        };
        // Elements of XML without a shape are named, so another name is an error there.
        let is_bare = self.content == Content::Json && !members.first().is_some_and(|(name, _)| is_item(name));
        if is_bare || members.iter().any(|(name, _)| is_field(name)) {
            let item = self.item(Node::Object(members), shape, before, &mut Order::default());
            return item.map(|item| vec![item]);
        }
        let mut items = Vec::new();
        for (name, node) in members {
            if !is_item(&name) {
                return Err(self.fail(&format!("expected `{element}`, got `{}`", excerpt(&name))));
            }
            items.extend(self.items(node, shape, None, before.saturating_add(items.len()))?);
        }
        Ok(items)
    }

    /// Reads one record of a list: an object, or a bare address where the shape has one (specification 2.6 calls the
    /// available files a list of URLs, 2.5 a list of objects).
    fn item(&mut self, node: Node<'_>, shape: &'static Shape, index: usize, order: &mut Order) -> Result<Value> {
        self.within(Step::Item(index), |reader| match node {
            Node::Object(_) | Node::Empty => reader.record(members(node), shape, None, order),
            Node::Text(text) if text.trim().is_empty() && reader.content == Content::Xml => {
                reader.record(Vec::new(), shape, None, order)
            }
            Node::Text(ref text) => bare_uri(shape, text.trim()).ok_or_else(|| reader.no_record(&node, shape)),
            other => Err(reader.no_record(&other, shape)),
        })
    }

    /// Reads at a place. An error leaves the place as it is, for its path.
    fn within<T>(&mut self, step: Step<'static>, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.path.push(step);
        let value = read(self)?;
        self.path.pop();
        Ok(value)
    }

    /// Null in the records of a list where such values are null, else an error. Values of the envelope decide which
    /// records are read, so they must be right.
    fn refuse(&mut self, why: &str) -> Result<Value> {
        let is_envelope = self.path.len() < 2;
        match &mut self.unreadable {
            Some(unreadable) if !is_envelope => {
                let path = written(self.root, self.path.iter().copied());
                unreadable.push(Unreadable { path, why: excerpt(why).into_owned() });
                Ok(Value::Null)
            }
            _ => Err(self.fail(why)),
        }
    }

    fn no_record(&self, node: &Node<'_>, shape: &Shape) -> Error {
        self.fail(&format!("expected an object with the fields of {}, got {node}", shape.name))
    }

    fn fail(&self, why: &str) -> Error {
        let field = (!self.path.is_empty()).then(|| written(self.root, self.path.iter().copied()));
        Error::new(ErrorKind::Decode, format!("the reply cannot be read as {}: {}", self.what, excerpt(why)))
            .with(|facts| facts.field = field)
    }
}

/// The members of an object; an empty element has none.
fn members(node: Node<'_>) -> Members<'_> {
    if let Node::Object(members) = node { members } else { Vec::new() }
}
