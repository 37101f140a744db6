//! Sound that is still being recorded is waited for on a thread of its own, so that a stop need not wait for it.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    thread,
    time::Duration,
};

use auscult_audio::Source;
use auscult_core::Control;

use crate::{Reading, reading::JudgedClip};

/// How often whoever waits looks whether the work was cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// A live source that is being read.
#[derive(Debug)]
pub(crate) struct LiveSource {
    pub(crate) source: Arc<Source>,
    pieces: Receiver<LivePiece>,
}

/// What comes of a live source.
#[derive(Debug)]
pub(crate) enum LivePiece {
    /// A clip is full.
    Clip(JudgedClip),
    /// It has ended: why the rest could not be read, and sound that was too short for a clip.
    End(Option<String>, f64),
    /// The work was cancelled while it was waited for.
    Cancelled,
}

impl LiveSource {
    /// Starts to read. Opening may already wait: a named pipe opens when somebody writes to it.
    pub(crate) fn start(source: Source, reading: &Reading) -> std::io::Result<Self> {
        let source = Arc::new(source);
        // One clip ahead: memory stays bounded, and the reader is never far from where the work is.
        let (sender, pieces) = sync_channel(1);
        let (reading, location) = (reading.clone(), source.location.clone());
        let read = move || {
            let mut problem = None;
            let mut clips = match reading.clips(&location) {
                Ok(clips) => clips,
                Err(error) => {
                    // Nobody may be left to hear it; so below.
                    let _ = sender.send(LivePiece::End(Some(error.to_string()), 0.0));
                    return;
                }
            };
            for clip in clips.by_ref() {
                match clip {
                    Ok(clip) => {
                        if sender.send(LivePiece::Clip(clip)).is_err() {
                            return;
                        }
                    }
                    Err(error) => problem = Some(error.to_string()),
                }
            }
            let _ = sender.send(LivePiece::End(problem, clips.seconds_dropped()));
        };
        thread::Builder::new().name("live sound".to_owned()).spawn(read)?;
        Ok(Self { source, pieces })
    }

    /// Waits for the next piece.
    pub(crate) fn wait(&self, control: &Control) -> LivePiece {
        loop {
            match self.pieces.recv_timeout(LOOK) {
                Ok(piece) => return piece,
                Err(RecvTimeoutError::Timeout) if !control.is_cancelled() => {}
                Err(RecvTimeoutError::Timeout) => return LivePiece::Cancelled,
                Err(RecvTimeoutError::Disconnected) => {
                    let text = "reading it ended without a reason".to_owned();
                    return LivePiece::End(Some(text), 0.0);
                }
            }
        }
    }
}
