//! One row of a result.

use auscult::ClipRecord;
use serde::{Serialize, Serializer, ser::SerializeMap};

/// A clip's record, if it has one, and named fields in a fixed order.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Record {
    #[serde(flatten)]
    clip: Option<Box<ClipRecord>>,
    #[serde(flatten)]
    fields: Fields,
}

#[derive(Debug, Clone, Default)]
struct Fields(Vec<(String, Field)>);

/// A value of a record.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Field {
    Text(String),
    /// Missing values are empty in CSV and null elsewhere.
    Number(Option<f64>),
    /// Anything else that JSON has.
    Json(serde_json::Value),
}

impl Record {
    /// This record with everything known about a clip before it, for JSON.
    pub(crate) fn with_clip(mut self, clip: ClipRecord) -> Self {
        self.clip = Some(Box::new(clip));
        self
    }

    pub(crate) fn text(mut self, name: &str, value: impl Into<String>) -> Self {
        self.fields.0.push((name.to_owned(), Field::Text(value.into())));
        self
    }

    pub(crate) fn number(mut self, name: &str, value: impl Into<Option<f64>>) -> Self {
        self.fields.0.push((name.to_owned(), Field::Number(value.into())));
        self
    }

    pub(crate) fn json(mut self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        self.fields.0.push((name.to_owned(), Field::Json(value.into())));
        self
    }

    /// The field of a column, if the record has it.
    pub(crate) fn get(&self, name: &str) -> Option<&Field> {
        self.fields.0.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
