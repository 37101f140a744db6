//! Where results for programs go.

use std::{
    fs::File,
    io::{self, BufWriter, IsTerminal, Write},
    path::Path,
};

use anyhow::Context;
use auscult::files::AtomicFile;

use crate::{patience, printer::without_controls};

/// Takes the bytes of results.
pub(crate) enum Sink {
    /// A program reads along.
    Stream(BufWriter<Box<dyn Write>>),
    /// Somebody looks on: what a file name brings must not steer the terminal.
    Terminal(Vec<u8>),
    /// Whole or not at all.
    File(Box<BufWriter<AtomicFile>>),
}

impl Sink {
    /// Results go to `output`, or to standard output.
    pub(crate) fn new(output: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = output else {
            let is_terminal = io::stdout().is_terminal();
            return Ok(if is_terminal {
                Self::Terminal(Vec::new())
            } else {
                Self::Stream(BufWriter::new(Box::new(io::stdout())))
            });
        };
        // A device or a pipe cannot be replaced; whoever is behind it reads along.
        if path.metadata().is_ok_and(|facts| !facts.is_file() && !facts.is_dir()) {
            let file = patience::writing(|| File::create(path));
            let file = file.with_context(|| format!("cannot write {}", path.display()))?;
            return Ok(Self::Stream(BufWriter::new(Box::new(file))));
        }
        Ok(Self::File(Box::new(BufWriter::new(AtomicFile::create(path)?))))
    }

    /// Ends the results; from now on a file has them.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.flush()?;
        if let Self::File(file) = self {
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            // The caller says which file it is.
            file.finish().map_err(|error| match error {
                auscult::files::Error::Write { source, .. } => source.into(),
                error => anyhow::Error::from(error),
            })?;
        }
        Ok(())
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(stream) => patience::writing(|| stream.write(bytes)),
            Self::Terminal(waiting) => waiting.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(stream) => patience::writing(|| stream.flush()),
            Self::Terminal(waiting) => {
                let text = without_controls(&String::from_utf8_lossy(waiting));
                waiting.clear();
                let mut output = io::stdout().lock();
                output.write_all(text.as_bytes()).and_then(|()| output.flush())
            }
            // Nobody can see it before it is whole.
            Self::File(_) => Ok(()),
        }
    }
}
