//! The program as its users meet it: every test starts the real one, in a folder of its own.

#![expect(clippy::unwrap_used, reason = "helpers of tests, too, fail by panicking")]

/// Millions of clips, shard by shard.
#[cfg(feature = "parquet")]
mod archive;
/// Networks in the place of references: fitted, calibrated, explained and benchmarked.
mod autoencoder;
/// Files nobody should give to the program: it names them, goes on, and its exit code says so.
mod bad_input;
/// Options with absurd or contradicting values: refused with what is allowed.
mod bad_options;
/// Runs, comparisons and submission files.
mod bench;
/// Vectors that are kept, and the command that shows and empties their cache.
mod cache;
/// Data sets: recognised, planned to be fetched, in part.
mod data_sets;
/// Embeddings that somebody else computed.
mod own_features;

/// Encoders as front ends, their weights, and several front ends at once.
mod encoders;
mod evaluation_notes;
/// Vectors for other tools: npy, npz and CSV, equal to those of the library.
mod features;
/// What people do on the first day, without knowing an option.
mod first_day;
/// From recordings to a model to verdicts, as in the first lines of `auscult --help`.
mod fit_score;
/// CSV, JSON, JSON lines and Parquet read back, and hold the same.
mod formats;
/// Scores of an independent implementation, for each front end, method and K.
mod golden;
/// What `--help` says, word by word.
mod help;
/// Where sound comes from: folders, globs, manifests, standard input, channels, long recordings.
mod inputs;
/// Ctrl-C keeps what is finished; kill -9 and full disks leave the old model or the new one.
#[cfg(unix)]
mod interruption;
/// Scores with their truth: figures, intervals, official scores.
mod metrics;
/// Models are changed, checked, damaged and refused.
mod models;
mod paper;
/// Presets and leaving one out in benchmarks: the same scores as a fitted machine, each vector computed once.
mod presets;
/// One folder, one run: what a folder of a benchmark holds is never replaced unasked.
mod run_folder;
/// Command forms that scripts rely on: what they print, and under which names.
mod script_forms;
/// Users and tokens of the service, and when it refuses to start.
mod serve;
/// Benchmarks that are killed or interrupted are taken up again.
#[cfg(unix)]
mod stopped_run;
/// Not tests: a folder to work in, sounds, and the program.
mod support;
/// Synthetic machines and the demonstration.
mod synth_demo;
/// Colours and progress bars: on a terminal, never in a pipe.
#[cfg(unix)]
mod terminal;

/// Fine-tuning, where the program has it.
mod train;

/// Pages for people.
mod report;
mod verdicts;
mod vibration;
/// Machines watched day and night: folders, streams, commands, messages, crashes.
#[cfg(unix)]
mod watch;
/// Messages about events, and to the system.
#[cfg(unix)]
mod watch_messages;
/// Folders, connections and standard input, while machines are watched.
#[cfg(unix)]
mod watch_sources;
