#![doc = include_str!("../README.md")]

// The modules, in the order sound travels.

// 1. What the user typed becomes a list of sources; a manifest is such a list in a file.
mod source;

mod pattern;

pub mod manifest;

mod label;

mod label_folders;

mod walk;

mod extensions;
mod far;

mod notes;

mod recorded;

// 2. How the sources are to be read.
mod settings;

// 3. A source is opened, and its first bytes tell what it is.
mod input;

// 4. WAV and AIFF: headers made of chunks, then plain samples.
mod chunks;

mod wave;

mod aiff;

mod pcm;

// A column of numbers as text is sound too, and so are samples in memory.
mod table;

mod memory;

mod part;

// 5. All formats give blocks of interleaved samples.
mod decode;

// 6. Channels become one.
mod channels;

// 7. Any sample rate becomes the wanted one.
mod resample;

// 8. The stream is cut into clips, and all stages are put together.
mod cut;

mod clips;

mod live;

// 9. A file is looked at without reading its sound.
mod header;

// What can go wrong on the way.
mod error;

#[cfg(test)]
mod testing;

pub use auscult_core::record::TimeOrigin;
pub use channels::{ChannelRule, MAX_CHANNELS};
pub use clips::{ClipReader, StreamFacts};
pub use cut::{AudioClip, Extent};
pub use error::{Error, Result};
pub use extensions::{has_sound_extension, is_sound_file};
pub use header::{check_header, header_seconds, native_rate};
pub use label::{Label, UnknownLabel};
pub use label_folders::{LabelFolder, label_of_folder};
pub use live::LiveClips;
pub use memory::MemorySound;
pub use notes::Note;
pub use part::Part;
pub use recorded::RecordedAt;
pub use settings::{
    CheckedReadSettings, ClipRange, MAX_HOP_SECONDS, MAX_SAMPLE_RATE, MIN_SAMPLE_RATE, ReadSettings,
};
pub use source::{Expanded, Location, Source, expand, expand_with};
pub use table::SampleColumn;
pub use walk::{Walked, walk};
