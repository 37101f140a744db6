//! A folder to work in, sounds, and the program.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::SystemTime,
};

use auscult_testing::{ClipRecipe, Fault, Machine, wav};
use tempfile::TempDir;

/// A folder of its own for a test; the program runs in it.
pub(crate) struct Sandbox {
    folder: TempDir,
}

/// What the program printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With 8 normal clips of 1 s for each of 3 visits in `normal/`.
    pub(crate) fn with_recordings() -> Self {
        let sandbox = Self::new();
        sandbox.record("normal", 1..4, 8);
        sandbox
    }

    /// With recordings, and `model.auscult` made from them.
    pub(crate) fn with_model() -> Self {
        let sandbox = Self::with_recordings();
        sandbox.run("fit --preset paper normal -o model.auscult --clip-seconds 1").exits(0);
        sandbox
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Writes a file, making its folder.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Normal clips: `folder/visit_1/0.wav` and so on.
    pub(crate) fn record(&self, folder: &str, visits: std::ops::Range<u32>, takes: u32) {
        for visit in visits {
            for take in 0..takes {
                let recipe = ClipRecipe { visit, take, ..clip() };
                self.write(&format!("{folder}/visit_{visit}/{take}.wav"), wav_of(&recipe));
            }
        }
    }

    /// The program with these words as arguments, not yet started.
    pub(crate) fn command<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_auscult"));
        command.current_dir(self.folder.path()).args(words).stdin(Stdio::null());
        // Computed vectors stay in the folder of the test.
        command.env("XDG_CACHE_HOME", self.folder.path().join("cache"));
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs the program with a line of arguments, split at spaces.
    pub(crate) fn run(&self, line: &str) -> Ran {
        self.run_words(&line.split_whitespace().collect::<Vec<_>>())
    }

    pub(crate) fn run_words(&self, words: &[&str]) -> Ran {
        Ran::of(self.command(words.iter().copied()).output().unwrap())
    }

    /// Runs the program with `bytes` on its standard input.
    pub(crate) fn run_with_input(&self, line: &str, bytes: &[u8]) -> Ran {
        let mut command = self.command(line.split_whitespace());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The program may well have enough before the end.
        let _ = child.stdin.take().unwrap().write_all(bytes);
        Ran::of(child.wait_with_output().unwrap())
    }

    /// The rows of `auscult score ... --csv`, each by column.
    pub(crate) fn score(&self, line: &str) -> Vec<csv::StringRecord> {
        rows(&self.run(&format!("score {line} --csv")).exits(0).stdout)
    }
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let Output { status, stdout, stderr } = output;
        let ran = Self { code: status.code(), stdout: text(stdout), stderr: text(stderr) };
        // What the indentation of the source would leave in a sentence.
        let is_said =
            |line: &&str| ["note: ", "problem: ", "error: "].iter().any(|it| line.starts_with(it));
        let mut said = ran.stderr.lines().filter(is_said);
        assert!(said.all(|line| !line.contains("    ")), "a gap in a sentence: {ran:#?}");
        ran
    }

    /// Fails unless the exit code is this.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Fails unless standard error holds this text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "no {text:?} in {self:#?}");
        self
    }
}

/// A healthy pump for 1 s.
pub(crate) fn clip() -> ClipRecipe {
    ClipRecipe { seconds: 1.0, ..ClipRecipe::new(Machine::Pump) }
}

/// A pump with bad bearings for 1 s.
pub(crate) fn faulty_clip() -> ClipRecipe {
    ClipRecipe { visit: 9, fault: Some((Fault::BearingImpulses, 1.0)), ..clip() }
}

/// A clip as a WAV file.
pub(crate) fn wav_of(recipe: &ClipRecipe) -> Vec<u8> {
    wav_of_samples(&recipe.render().unwrap())
}

pub(crate) fn wav_of_samples(samples: &[f32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    wav::write(&mut bytes, samples, 16_000).unwrap();
    bytes
}

/// A WAV file of 1 s in which every sample is `value`.
pub(crate) fn constant_wav(value: f32) -> Vec<u8> {
    wav_of_samples(&vec![value; 16_000])
}

/// A WAV file with any format: code, bits a sample, channels, and the samples' bytes.
pub(crate) fn raw_wav(code: u16, bits: u16, channels: u16, data: &[u8]) -> Vec<u8> {
    let frame = channels * bits / 8;
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + data.len() as u32).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0");
    bytes.extend([code, channels].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend([16_000, 16_000 * u32::from(frame)].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend([frame, bits].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend(b"data");
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    bytes
}

/// A mono WAV file of 32-bit floats.
pub(crate) fn float_wav(samples: &[f32]) -> Vec<u8> {
    raw_wav(3, 32, 1, &samples.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

/// The rows of CSV text below its header.
pub(crate) fn rows(text: &str) -> Vec<csv::StringRecord> {
    csv::Reader::from_reader(text.as_bytes()).records().map(Result::unwrap).collect()
}

/// The files of a cache that hold vectors.
pub(crate) fn vectors_below(folder: &Path) -> Vec<PathBuf> {
    let is_vector = |path: &PathBuf| path.extension().is_some_and(|end| end == "vec");
    written_below(folder).into_keys().filter(is_vector).collect()
}

/// Every file below a folder and when it was written; nothing if there is no folder.
pub(crate) fn written_below(folder: &Path) -> BTreeMap<PathBuf, SystemTime> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    let facts =
        entries.map(|entry| entry.unwrap().path()).map(|path| (path.metadata().unwrap(), path));
    facts
        .flat_map(|(facts, path)| {
            if facts.is_dir() {
                return written_below(&path);
            }
            BTreeMap::from([(path, facts.modified().unwrap())])
        })
        .collect()
}
