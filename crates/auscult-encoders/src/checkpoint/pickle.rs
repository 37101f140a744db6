//! A reader of pickles that builds tensors' descriptions and plain containers, and nothing else.
//!
//! A pickle is a program. This one runs only the part that puts values together: a call it does not
//! know becomes an opaque value, no name is looked up and nothing is executed. A short pickle can ask
//! for much, so it is its work that is bounded: values, what they hold, and how deep they nest.

use std::{collections::HashMap, rc::Rc};

use super::{
    Storage,
    tensor::{Tensor, storage, tensor},
};
use crate::{Error, Result};

/// Values and what is copied into them, in steps of 64 bytes: 400 times what the largest released checkpoint has, and 300 MB at
/// the most.
const MOST_WORK: usize = 4_000_000;

/// Tuples in tuples; checkpoints have three.
const DEEPEST: u32 = 64;

/// Letters of a name of a module and what is in it.
const LONGEST_NAME: usize = 1024;

/// What a pickle put together.
#[derive(Debug)]
pub(super) struct Pickle {
    containers: Vec<Container>,
    top: Value,
}

/// A value; containers are kept apart because a pickle changes them after naming them.
#[derive(Debug, Clone)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Rc<str>),
    /// With how deep tuples nest in it: dropping one drops what it holds, each within the last.
    Tuple(Rc<[Value]>, u32),
    Container(usize),
    Name(Rc<str>),
    StorageOf {
        storage: Rc<Storage>,
        key: Rc<str>,
    },
    Tensor(Rc<Tensor>),
    Opaque,
}

/// A list, or a dictionary as its pairs in order.
#[derive(Debug)]
enum Container {
    List(Vec<Value>),
    Dictionary(Vec<(Value, Value)>),
}

/// Reads a pickle.
pub(super) fn load(bytes: &[u8]) -> Result<Pickle> {
    let mut machine = Machine {
        bytes,
        at: 0,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
        containers: Vec::new(),
        work: 0,
    };
    let top = machine.run()?;
    Ok(Pickle { containers: machine.containers, top })
}

impl Pickle {
    pub(super) fn top(&self) -> &Value {
        &self.top
    }

    /// The value of a dictionary under a key.
    pub(super) fn get<'a>(&'a self, value: &'a Value, key: &str) -> Option<&'a Value> {
        let pairs = self.pairs(value);
        pairs
            .iter()
            .find(|(name, _)| matches!(name, Value::Text(name) if &**name == key))
            .map(|(_, value)| value)
    }

    fn pairs<'a>(&'a self, value: &'a Value) -> &'a [(Value, Value)] {
        match value {
            Value::Container(index) => match &self.containers[*index] {
                Container::Dictionary(pairs) => pairs,
                Container::List(_) => &[],
            },
            _ => &[],
        }
    }

    /// The tensors of a dictionary with their names.
    pub(super) fn tensors<'a>(
        &'a self,
        value: &'a Value,
    ) -> impl Iterator<Item = (&'a str, &'a Tensor)> {
        self.pairs(value).iter().filter_map(|(name, value)| match (name, value) {
            (Value::Text(name), Value::Tensor(tensor)) => Some((&**name, &**tensor)),
            _ => None,
        })
    }

    /// A plain value as JSON; `None` if it is too deep or too large for a configuration.
    pub(super) fn json(&self, value: &Value) -> Option<serde_json::Value> {
        let mut budget = 10_000;
        self.json_within(value, 8, &mut budget)
    }

    fn json_within(
        &self,
        value: &Value,
        depth: usize,
        budget: &mut usize,
    ) -> Option<serde_json::Value> {
        use serde_json::Value as Json;
        *budget = budget.checked_sub(1)?;
        let deeper = depth.checked_sub(1)?;
        Some(match value {
            Value::Bool(value) => Json::from(*value),
            Value::Int(value) => Json::from(*value),
            Value::Float(value) => Json::from(*value),
            Value::Text(value) => Json::from(&**value),
            Value::Tuple(values, _) => {
                let values = values.iter().map(|value| self.json_within(value, deeper, budget));
                Json::Array(values.collect::<Option<_>>()?)
            }
            Value::Container(index) => match &self.containers[*index] {
                Container::List(values) => {
                    let values = values.iter().map(|value| self.json_within(value, deeper, budget));
                    Json::Array(values.collect::<Option<_>>()?)
                }
                Container::Dictionary(pairs) => {
                    let mut object = serde_json::Map::new();
                    for (name, value) in pairs {
                        if let Value::Text(name) = name {
                            let value = self.json_within(value, deeper, budget)?;
                            object.insert(name.to_string(), value);
                        }
                    }
                    Json::Object(object)
                }
            },
            _ => Json::Null,
        })
    }
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: HashMap<u64, Value>,
    containers: Vec<Container>,
    work: usize,
}

impl Machine<'_> {
    fn run(&mut self) -> Result<Value> {
        loop {
            let at = self.at;
            let opcode = self.byte()?;
            self.spend(1)?;
            match opcode {
                // STOP
                b'.' => return self.pop(),
                // PROTO, FRAME
                0x80 => drop(self.take(1)?),
                0x95 => drop(self.take(8)?),
                // MARK, POP, BUILD, POP_MARK, DUP
                b'(' => self.marks.push(self.stack.len()),
                b'0' | b'b' => drop(self.pop()?),
                b'1' => drop(self.pop_mark()?),
                b'2' => {
                    let top = self.pop()?;
                    self.stack.extend([top.clone(), top]);
                }
                // NONE, NEWTRUE, NEWFALSE
                b'N' => self.stack.push(Value::None),
                0x88 => self.stack.push(Value::Bool(true)),
                0x89 => self.stack.push(Value::Bool(false)),
                // BININT, BININT1, BININT2, LONG1, BINFLOAT
                b'J' => {
                    let value = i32::from_le_bytes(self.array()?);
                    self.stack.push(Value::Int(value.into()));
                }
                b'K' => {
                    let value = self.byte()?;
                    self.stack.push(Value::Int(value.into()));
                }
                b'M' => {
                    let value = u16::from_le_bytes(self.array()?);
                    self.stack.push(Value::Int(value.into()));
                }
                0x8a => self.long()?,
                b'G' => {
                    let value = f64::from_be_bytes(self.array()?);
                    self.stack.push(Value::Float(value));
                }
                // BINUNICODE, SHORT_BINUNICODE, BINUNICODE8
                b'X' => self.text(4)?,
                0x8c => self.text(1)?,
                0x8d => self.text(8)?,
                // BINSTRING, SHORT_BINSTRING, BINBYTES, SHORT_BINBYTES, BINBYTES8
                b'T' | b'B' => self.bytes(4)?,
                b'U' | b'C' => self.bytes(1)?,
                0x8e => self.bytes(8)?,
                // EMPTY_TUPLE, TUPLE1, TUPLE2, TUPLE3, TUPLE
                b')' => self.tuple(0)?,
                0x85..=0x87 => self.tuple(usize::from(opcode - 0x84))?,
                b't' => {
                    let values = self.pop_mark()?;
                    self.push_tuple(values)?;
                }
                // EMPTY_LIST, EMPTY_DICT, EMPTY_SET
                b']' | 0x8f => self.container(Container::List(Vec::new())),
                b'}' => self.container(Container::Dictionary(Vec::new())),
                // APPEND, APPENDS, ADDITEMS
                b'a' => {
                    let value = self.pop()?;
                    self.append(vec![value])?;
                }
                b'e' | 0x90 => {
                    let values = self.pop_mark()?;
                    self.append(values)?;
                }
                // SETITEM, SETITEMS
                b's' => {
                    let value = self.pop()?;
                    let key = self.pop()?;
                    self.set_items(vec![key, value])?;
                }
                b'u' => {
                    let values = self.pop_mark()?;
                    self.set_items(values)?;
                }
                // BINPUT, LONG_BINPUT, MEMOIZE, BINGET, LONG_BINGET
                b'q' => {
                    let index = self.byte()?;
                    self.put(index.into())?;
                }
                b'r' => {
                    let index = u32::from_le_bytes(self.array()?);
                    self.put(index.into())?;
                }
                0x94 => self.put(self.memo.len() as u64)?,
                b'h' => {
                    let index = self.byte()?;
                    self.get(index.into())?;
                }
                b'j' => {
                    let index = u32::from_le_bytes(self.array()?);
                    self.get(index.into())?;
                }
                // GLOBAL, STACK_GLOBAL
                b'c' => {
                    let name = format!("{}.{}", self.line()?, self.line()?);
                    self.stack.push(Value::Name(name.into()));
                }
                0x93 => {
                    let (name, module) = (self.pop()?, self.pop()?);
                    let (Value::Text(name), Value::Text(module)) = (name, module) else {
                        return Err(self.damaged("a name that is not text"));
                    };
                    if module.len() + name.len() > LONGEST_NAME {
                        return Err(self.damaged("a name without an end"));
                    }
                    self.spend(LONGEST_NAME / 64)?;
                    self.stack.push(Value::Name(format!("{module}.{name}").into()));
                }
                // REDUCE, NEWOBJ, NEWOBJ_EX, BINPERSID
                b'R' => self.call()?,
                0x81 => {
                    self.pop()?;
                    self.pop()?;
                    self.stack.push(Value::Opaque);
                }
                0x92 => {
                    for _ in 0..3 {
                        self.pop()?;
                    }
                    self.stack.push(Value::Opaque);
                }
                b'Q' => self.persistent()?,
                other => {
                    let reason = format!("opcode {other:#04x} at {at} is not one of a checkpoint");
                    return Err(self.damaged(&reason));
                }
            }
        }
    }

    fn spend(&mut self, work: usize) -> Result<()> {
        self.work += work;
        if self.work > MOST_WORK {
            return Err(self.damaged("it asks for more than any checkpoint does"));
        }
        Ok(())
    }

    fn damaged(&self, reason: &str) -> Error {
        Error::format(format!("its pickle, at byte {}: {reason}", self.at))
    }

    fn take(&mut self, count: usize) -> Result<&[u8]> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let Some(end) = end else { return Err(self.damaged("it ends early")) };
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// A length in `width` bytes.
    fn length(&mut self, width: usize) -> Result<usize> {
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(self.take(width)?);
        usize::try_from(u64::from_le_bytes(bytes)).map_err(|_| self.damaged("a length too large"))
    }

    fn line(&mut self) -> Result<String> {
        let rest = &self.bytes[self.at..];
        let Some(len) = rest.iter().take(LONGEST_NAME).position(|&byte| byte == b'\n') else {
            return Err(self.damaged("a name without an end"));
        };
        let line = String::from_utf8_lossy(&rest[..len]).into_owned();
        self.at += len + 1;
        Ok(line)
    }

    fn pop(&mut self) -> Result<Value> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err(self.damaged("a value is missing"));
        }
        self.stack.pop().ok_or_else(|| self.damaged("a value is missing"))
    }

    fn pop_mark(&mut self) -> Result<Vec<Value>> {
        let Some(mark) = self.marks.pop() else { return Err(self.damaged("a mark is missing")) };
        Ok(self.stack.split_off(mark))
    }

    fn long(&mut self) -> Result<()> {
        let len = self.length(1)?;
        let bytes = self.take(len)?;
        let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut extended = [if negative { 0xFF } else { 0 }; 8];
        let value = match bytes.len() {
            0..=8 => {
                extended[..bytes.len()].copy_from_slice(bytes);
                Value::Int(i64::from_le_bytes(extended))
            }
            _ => Value::Opaque,
        };
        self.stack.push(value);
        Ok(())
    }

    fn text(&mut self, width: usize) -> Result<()> {
        let len = self.length(width)?;
        let bytes = self.take(len)?;
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err(self.damaged("text that is not UTF-8"));
        };
        let text = Value::Text(text.into());
        self.stack.push(text);
        self.spend(len / 64)
    }

    fn bytes(&mut self, width: usize) -> Result<()> {
        let len = self.length(width)?;
        self.take(len)?;
        self.stack.push(Value::Opaque);
        Ok(())
    }

    fn tuple(&mut self, count: usize) -> Result<()> {
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(self.pop()?);
        }
        values.reverse();
        self.push_tuple(values)
    }

    fn push_tuple(&mut self, values: Vec<Value>) -> Result<()> {
        let depth = |value: &Value| if let Value::Tuple(_, depth) = value { *depth } else { 0 };
        let depth = 1 + values.iter().map(depth).max().unwrap_or(0);
        if depth > DEEPEST {
            return Err(self.damaged("tuples nest deeper than those of any checkpoint"));
        }
        self.spend(values.len())?;
        self.stack.push(Value::Tuple(values.into(), depth));
        Ok(())
    }

    fn container(&mut self, container: Container) {
        self.containers.push(container);
        self.stack.push(Value::Container(self.containers.len() - 1));
    }

    /// The container on top of the stack, if it is one of ours.
    fn top_container(&mut self) -> Result<Option<&mut Container>> {
        match self.stack.last() {
            Some(Value::Container(index)) => Ok(self.containers.get_mut(*index)),
            Some(_) => Ok(None),
            None => Err(self.damaged("a container is missing")),
        }
    }

    fn append(&mut self, more: Vec<Value>) -> Result<()> {
        match self.top_container()? {
            Some(Container::List(values)) => values.extend(more),
            Some(Container::Dictionary(_)) => return Err(self.damaged("a list is missing")),
            None => {}
        }
        Ok(())
    }

    fn set_items(&mut self, values: Vec<Value>) -> Result<()> {
        if !values.len().is_multiple_of(2) {
            return Err(self.damaged("a key without a value"));
        }
        let mut values = values.into_iter();
        match self.top_container()? {
            Some(Container::Dictionary(pairs)) => {
                while let (Some(key), Some(value)) = (values.next(), values.next()) {
                    pairs.push((key, value));
                }
            }
            Some(Container::List(_)) => return Err(self.damaged("a dictionary is missing")),
            None => {}
        }
        Ok(())
    }

    fn put(&mut self, index: u64) -> Result<()> {
        let Some(value) = self.stack.last() else { return Err(self.damaged("nothing to name")) };
        self.memo.insert(index, value.clone());
        Ok(())
    }

    fn get(&mut self, index: u64) -> Result<()> {
        let Some(value) = self.memo.get(&index) else {
            return Err(self.damaged("a name that was not given"));
        };
        self.stack.push(value.clone());
        Ok(())
    }

    /// A call: the few that build tensors and dictionaries are known, all others become opaque.
    fn call(&mut self) -> Result<()> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let (Value::Name(name), Value::Tuple(arguments, _)) = (function, arguments) else {
            self.stack.push(Value::Opaque);
            return Ok(());
        };
        match &*name {
            "collections.OrderedDict" => self.container(Container::Dictionary(Vec::new())),
            "torch._utils._rebuild_tensor_v2" => {
                let Some(tensor) = tensor(&arguments) else {
                    return Err(self.damaged("a tensor that is not described as one"));
                };
                self.stack.push(Value::Tensor(Rc::new(tensor)));
            }
            "torch._utils._rebuild_parameter" => {
                self.stack.push(arguments.first().cloned().unwrap_or(Value::Opaque));
            }
            _ => self.stack.push(Value::Opaque),
        }
        Ok(())
    }

    /// A storage: `("storage", class, key, device, length)`.
    fn persistent(&mut self) -> Result<()> {
        let value = match self.pop()? {
            Value::Tuple(parts, _) => match &*parts {
                [Value::Text(kind), Value::Name(class), Value::Text(key), ..]
                    if &**kind == "storage" =>
                {
                    Value::StorageOf { storage: Rc::new(storage(class)), key: key.clone() }
                }
                _ => Value::Opaque,
            },
            _ => Value::Opaque,
        };
        self.stack.push(value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_not_made() {
        // os.system("echo") as a pickle.
        let pickle = b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00echo\x85R.";
        assert!(matches!(load(pickle).unwrap().top(), Value::Opaque));
    }

    #[test]
    fn dictionaries_grow_after_they_are_named() {
        let pickle = load(b"\x80\x02}q\x00X\x01\x00\x00\x00aK\x07sh\x000.").unwrap();
        assert!(matches!(pickle.get(pickle.top(), "a"), Some(Value::Int(7))));
        assert_eq!(pickle.json(pickle.top()).unwrap().to_string(), r#"{"a":7}"#);
    }

    #[test]
    fn nonsense_is_refused_with_its_place() {
        for (pickle, reason) in [
            (b"".as_slice(), "ends early"),
            (b"\x80\x02", "ends early"),
            (b".", "value is missing"),
            (b"(1.", "value is missing"),
            (b"t.", "mark is missing"),
            (b"h\x05.", "not given"),
            (b"X\xff\xff\xff\xffab", "ends early"),
            (b"P1\n.", "opcode 0x50"),
            (b"]K\x01K\x02s.", "dictionary is missing"),
        ] {
            let error = load(pickle).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn short_pickles_that_ask_for_much_are_refused() {
        let text = |text: &[u8]| [b"X", &(text.len() as u32).to_le_bytes()[..], text].concat();
        let named = [text(&[b'm'; 600]), b"q\x00".to_vec()].concat();
        let joined = [named.clone(), b"h\x00\x93".to_vec()].concat();
        let many_texts =
            [named, [text(b"n"), b"h\x00\x930".to_vec()].concat().repeat(500_000)].concat();
        for (pickle, reason) in [
            ([b")".to_vec(), b"\x85".repeat(175_000)].concat(), "nest deeper"),
            (joined, "name without an end"),
            (many_texts, "asks for more"),
            (b"]".repeat(60 << 20), "asks for more"),
            (b")".repeat(60 << 20), "asks for more"),
            ([b"N".to_vec(), b"2".repeat(60 << 20)].concat(), "asks for more"),
        ] {
            let error = load(&pickle).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_dictionary_that_holds_itself_is_no_configuration() {
        let pickle = load(b"}q\x00X\x01\x00\x00\x00ah\x00s.").unwrap();
        assert!(pickle.json(pickle.top()).is_none());
    }
}
