//! Recordings from elsewhere are fetched before they are needed, in bounded memory.

use std::{
    collections::HashMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use crate::{ClipReference, Sound, sound::Place};

/// Connections at a time: they wait for the network, not for a processor.
pub(crate) const CONNECTIONS: usize = 8;

/// Nothing more is fetched while this many bytes are held that nobody has asked for yet.
const ENOUGH_BYTES: usize = 256 << 20;

/// What was fetched, until the last clip that needs it is done.
#[derive(Debug)]
pub(crate) struct ReadAhead<'a> {
    sound: &'a Sound,
    /// Every recording once, in the order of its first clip.
    order: Vec<&'a str>,
    state: Mutex<State<'a>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<'a> {
    objects: HashMap<&'a str, Object>,
    /// The next of the order to be fetched.
    next: usize,
    bytes: usize,
    /// How many wait for a recording.
    waiting: usize,
    is_over: bool,
}

#[derive(Debug, Default)]
struct Object {
    /// Clips that need it and are not done.
    clips: usize,
    fetched: Option<Result<Place, String>>,
}

impl<'a> ReadAhead<'a> {
    pub(crate) fn new(sound: &'a Sound, clips: &'a [ClipReference]) -> Self {
        let mut objects: HashMap<&str, Object> = HashMap::new();
        let mut order = Vec::new();
        for clip in clips.iter().filter(|clip| Sound::is_remote(&clip.uri)) {
            let object = objects.entry(&clip.uri).or_default();
            if object.clips == 0 {
                order.push(clip.uri.as_str());
            }
            object.clips += 1;
        }
        let state = State { objects, next: 0, bytes: 0, waiting: 0, is_over: false };
        Self { sound, order, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// How many threads fetching is worth.
    pub(crate) fn connections(&self) -> usize {
        self.order.len().min(CONNECTIONS)
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fetches, in the order of the clips, until there is nothing left or nobody needs it; what a thread does.
    pub(crate) fn fetch(&self) {
        while let Some(uri) = self.next() {
            let fetched = self.sound.open(uri);
            let mut state = self.lock();
            state.bytes += size(&fetched);
            if let Some(object) = state.objects.get_mut(uri) {
                object.fetched = Some(fetched);
            }
            drop(state);
            self.changed.notify_all();
        }
    }

    fn next(&self) -> Option<&'a str> {
        let mut state = self.lock();
        // Whoever waits for a recording has used what is held, or needs it again later: more is fetched all the same.
        while state.bytes >= ENOUGH_BYTES && state.waiting == 0 && !state.is_over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let uri = self.order.get(state.next).filter(|_| !state.is_over)?;
        state.next += 1;
        Some(uri)
    }

    /// A recording, as soon as it is here.
    pub(crate) fn get(&self, uri: &str) -> Result<Place, String> {
        if !Sound::is_remote(uri) {
            return self.sound.open(uri);
        }
        let mut state = self.lock();
        state.waiting += 1;
        self.changed.notify_all();
        let place = loop {
            match state.objects.get(uri).and_then(|object| object.fetched.clone()) {
                Some(fetched) => break fetched,
                None if state.is_over => {
                    break Err(format!("{uri}: stopped before it was fetched"));
                }
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        };
        state.waiting -= 1;
        place
    }

    /// A clip of a recording is done.
    pub(crate) fn release(&self, uri: &str) {
        let mut state = self.lock();
        let Some(object) = state.objects.get_mut(uri) else { return };
        object.clips -= 1;
        if object.clips == 0 {
            let freed = object.fetched.take().map_or(0, |fetched| size(&fetched));
            state.bytes -= freed;
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Nobody needs anything any more.
    pub(crate) fn stop(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }
}

fn size(fetched: &Result<Place, String>) -> usize {
    match fetched {
        Ok(Place::Bytes(bytes)) => bytes.len(),
        _ => 0,
    }
}
