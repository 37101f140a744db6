//! Manifests as JSON lines.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::{Column, RawRow, row::Cells};
use crate::Error;

/// The longest line, in bytes.
const MAX_LINE_BYTES: u64 = 1 << 20;

pub(super) fn read(file: File, path: &Path) -> Box<dyn Iterator<Item = RawRow> + Send> {
    let lines =
        Lines { reader: BufReader::new(file), path: path.to_owned(), line: 0, is_over: false };
    Box::new(lines)
}

struct Lines {
    reader: BufReader<File>,
    path: PathBuf,
    line: u64,
    is_over: bool,
}

impl Iterator for Lines {
    type Item = RawRow;

    fn next(&mut self) -> Option<RawRow> {
        let mut text = Vec::new();
        while !self.is_over {
            text.clear();
            self.line += 1;
            let cells = match self.reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut text)
            {
                Ok(0) => return None,
                Ok(_) if text.len() as u64 == MAX_LINE_BYTES => {
                    self.is_over = true;
                    Err(format!(
                        "the line is longer than {MAX_LINE_BYTES} bytes; is this JSON lines?"
                    ))
                }
                Ok(_) => {
                    let json = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text).trim_ascii();
                    if json.is_empty() {
                        continue;
                    }
                    match serde_json::from_slice::<Object>(json) {
                        Ok(Object { cells, columns }) => {
                            return Some(RawRow { line: self.line, cells: Ok(cells), columns });
                        }
                        Err(error) => Err(reason(&error)),
                    }
                }
                Err(error) => {
                    self.is_over = true;
                    Err(Error::from_io(&self.path, error).to_string())
                }
            };
            return Some(RawRow::new(self.line, cells));
        }
        None
    }
}

/// One line.
#[derive(Default)]
struct Object {
    cells: Cells,
    columns: Vec<Column>,
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Keys;

        impl<'de> Visitor<'de> for Keys {
            type Value = Object;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(
                self,
                mut map: M,
            ) -> std::result::Result<Object, M::Error> {
                let mut object = Object::default();
                while let Some(key) = map.next_key::<String>()? {
                    let Some(column) = Column::named(&key) else {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    };
                    if object.columns.contains(&column) {
                        let name = column.name();
                        return Err(M::Error::custom(format_args!(
                            "the key `{name}` is there twice"
                        )));
                    }
                    object.columns.push(column);
                    let text = text(column, map.next_value()?).map_err(M::Error::custom)?;
                    object.cells.set(column, &text);
                }
                Ok(object)
            }
        }

        deserializer.deserialize_map(Keys)
    }
}

/// A value as the text of a cell. Numbers may stand without quotes, and labels be true or false.
fn text(column: Column, value: Value) -> std::result::Result<String, String> {
    match (column, value) {
        (_, Value::Null) => Ok(String::new()),
        (_, Value::String(text)) => Ok(text),
        (Column::Label, Value::Bool(value)) => Ok(value.to_string()),
        (Column::Path, value) => Err(format!("path must be text, got {value}")),
        (_, Value::Number(number)) => Ok(number.to_string()),
        (column, value) => Err(format!("{} must be text or a number, got {value}", column.name())),
    }
}

fn reason(error: &serde_json::Error) -> String {
    // The line is known here; serde_json always says 1.
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!("{what}; each line must be an object such as {{\"path\": \"a.wav\", \"visit\": \"1\"}}")
}
