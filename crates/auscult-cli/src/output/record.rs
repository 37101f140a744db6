//! One row of a result.

use serde::{Serialize, Serializer, ser::SerializeMap};

/// Named fields in a fixed order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record(Vec<(String, Field)>);

/// A value of a record.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Field {
    Text(String),
    /// Missing values are empty in CSV and null elsewhere.
    Number(Option<f64>),
    /// Structure that only JSON can hold.
    Nested(serde_json::Value),
}

impl Record {
    pub(crate) fn text(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.push((name.to_owned(), Field::Text(value.into())));
        self
    }

    pub(crate) fn number(mut self, name: &str, value: impl Into<Option<f64>>) -> Self {
        self.0.push((name.to_owned(), Field::Number(value.into())));
        self
    }

    pub(crate) fn nested(mut self, name: &str, value: &impl Serialize) -> anyhow::Result<Self> {
        self.0.push((name.to_owned(), Field::Nested(serde_json::to_value(value)?)));
        Ok(self)
    }

    /// The field of a column, if the record has it.
    pub(crate) fn get(&self, name: &str) -> Option<&Field> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
