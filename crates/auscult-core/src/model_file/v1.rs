//! Headers of versions 1 to 3: version 2 adds the `storage` of the references, version 3 the
//! detector's `score_of` and the weights of a trained front end.
//!
//! Some programs wrote alarm rules and ensembles into these versions; they are read, not written.

use serde_json::value::RawValue;

use super::{
    Content,
    container::{from_text, to_text},
    wire::{Alarm, Header},
};
use crate::Result;

pub(super) fn header(content: Content) -> Result<Box<RawValue>> {
    to_text(&Header::<Alarm>::new(content, None))
}

pub(super) fn content(header: &RawValue) -> Result<Content> {
    let (mut content, alarm) = from_text::<Header<Alarm>>(header)?.content();
    content.settings.alarm = alarm.map(Into::into);
    Ok(content)
}
