//! Watched folders: one thread for all of them, told by the system, or looking for itself where that cannot be had.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    fs,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use auscult::audio::{Location, Source, has_sound_extension, walk};
use notify::{
    EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, ModifyKind, RenameMode},
};

use super::Tap;
use crate::{
    error::{Error, Result},
    history::SeenFile,
    watch::Recording,
    worker::Work,
};

/// A folder to be watched for one machine.
#[derive(Debug)]
pub struct FolderTask {
    /// The folder.
    pub path: PathBuf,
    /// Look this often instead of being told.
    pub poll_milliseconds: Option<u64>,
    /// The machine.
    pub tap: Tap,
}

/// The thread that watches all folders.
#[derive(Debug)]
pub struct Folders {
    orders: Sender<Order>,
}

#[derive(Debug)]
enum Order {
    Add(FolderTask),
    Remove(PathBuf),
    Stop,
    Seen(notify::Result<notify::Event>),
}

/// How often candidates are looked at.
const STEP: Duration = Duration::from_millis(100);

/// A file that nobody said was closed is whole once it has not changed for this long ...
const STABLE: Duration = Duration::from_secs(1);

/// ... or for this long, if the system tells when files are closed: recorders write now and then.
const STABLE_BUT_OPEN: Duration = Duration::from_secs(15);

/// How often it is looked whether a watched folder is still the one that is watched.
const SAME_FOLDER: Duration = Duration::from_secs(2);

/// Folders are looked at this often although the system tells: it may forget.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// Recordings that were deleted are remembered for this long, in seconds: a recorder makes millions of them in a year.
const GONE_SECONDS: f64 = 2.0 * 86_400.0;

/// How many of them are forgotten at once.
const MOST_GONE: usize = 10_000;

impl Folders {
    /// Starts the thread. What the monitor itself writes to its data folder is never taken for a recording.
    ///
    /// # Errors
    ///
    /// If there is no thread to be had.
    pub fn start(data: PathBuf) -> Result<Self> {
        let (orders, received) = channel();
        let told = orders.clone();
        // Systems without watches have folders that are looked at.
        let watcher = notify::recommended_watcher(move |event| {
            let _ = told.send(Order::Seen(event));
        });
        let watcher = match watcher {
            Ok(watcher) => Some(watcher),
            Err(error) => {
                tracing::warn!(%error, "folders cannot be watched and are looked at instead");
                None
            }
        };
        let mut thread = Thread { watcher, folders: Vec::new(), data };
        std::thread::Builder::new()
            .name("folders".to_owned())
            .spawn(move || thread.run(&received))
            .map_err(Error::io("cannot start a thread"))?;
        Ok(Self { orders })
    }

    /// Watches one more folder.
    pub fn add(&self, task: FolderTask) {
        // If the thread has ended, the monitor is stopping.
        let _ = self.orders.send(Order::Add(task));
    }

    /// Does not watch a folder any more.
    pub fn remove(&self, path: &Path) {
        let _ = self.orders.send(Order::Remove(path.to_owned()));
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        let _ = self.orders.send(Order::Stop);
    }
}

struct Thread {
    watcher: Option<RecommendedWatcher>,
    folders: Vec<Folder>,
    data: PathBuf,
}

struct Folder {
    path: PathBuf,
    poll: Duration,
    looked: Option<Instant>,
    /// Which folder the system watches, and when that was looked at; `None` if it watches none.
    watched: Option<(Option<Identity>, Instant)>,
    tap: Tap,
    /// Recordings that are done with or on their way.
    seen: HashMap<String, Seen>,
    /// The folder in which recordings were last there: an empty place to mount a share at is another one.
    home: Option<Identity>,
    candidates: BTreeMap<PathBuf, Candidate>,
    /// The monitor's own files in it, if its data folder is there.
    own: Option<PathBuf>,
    /// Whole recordings that wait for the judge.
    ready: VecDeque<Recording>,
    /// Recordings that this user may not read: told once each, and tried again with every look.
    forbidden: BTreeSet<PathBuf>,
    is_lost: bool,
}

/// A recording that need not be taken again.
struct Seen {
    size: u64,
    modified: i64,
    /// When it was last there, in seconds since 1970.
    there: f64,
}

#[derive(Clone, Copy)]
struct Candidate {
    size: u64,
    modified: i64,
    since: Instant,
    is_closed: bool,
    /// The system told of it, and will tell when it is closed.
    is_told: bool,
}

/// What makes a folder the same one, whatever stands in its place later.
type Identity = (u64, u64);

impl Thread {
    fn run(&mut self, orders: &Receiver<Order>) {
        loop {
            let wait = if self.is_busy() { STEP } else { 5 * STEP };
            match orders.recv_timeout(wait) {
                Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Order::Add(task)) => self.add(task),
                Ok(Order::Remove(path)) => self.remove(&path),
                Ok(Order::Seen(event)) => self.note(event),
                Err(RecvTimeoutError::Timeout) => {}
            }
            // What else has happened meanwhile, before anything is looked at.
            while let Ok(order) = orders.try_recv() {
                match order {
                    Order::Stop => return,
                    Order::Add(task) => self.add(task),
                    Order::Remove(path) => self.remove(&path),
                    Order::Seen(event) => self.note(event),
                }
            }
            self.watch_again();
            self.folders.iter_mut().for_each(Folder::step);
        }
    }

    fn is_busy(&self) -> bool {
        let is_busy = |folder: &Folder| !(folder.candidates.is_empty() && folder.ready.is_empty());
        self.folders.iter().any(is_busy)
    }

    fn add(&mut self, task: FolderTask) {
        let FolderTask { path, poll_milliseconds, mut tap } = task;
        let is_watched = poll_milliseconds.is_none() && self.watch(&path);
        let poll = match poll_milliseconds {
            Some(milliseconds) => Duration::from_millis(milliseconds),
            None if is_watched => LOOK_AGAIN,
            None => 20 * STEP,
        };
        let seen = std::mem::take(&mut tap.seen);
        let mut folder = Folder::new(path, poll, tap);
        folder.own = inside(&self.data, &folder.path);
        folder.watched = is_watched.then(|| (identity(&folder.path), Instant::now()));
        folder.seen = seen
            .into_iter()
            .map(|(SeenFile { path, size, modified }, there)| {
                (path, Seen { size, modified, there })
            })
            .collect();
        self.folders.push(folder);
    }

    fn watch(&mut self, path: &Path) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        match watcher.watch(path, RecursiveMode::Recursive) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "cannot be watched and is looked at instead");
                false
            }
        }
    }

    /// Folders that were replaced, as shares are when they are mounted again, are watched again.
    fn watch_again(&mut self) {
        let mut replaced = Vec::new();
        for folder in &mut self.folders {
            let Some((known, looked)) = &mut folder.watched else { continue };
            if looked.elapsed() < SAME_FOLDER {
                continue;
            }
            *looked = Instant::now();
            let now = identity(&folder.path);
            if now != *known {
                *known = now;
                folder.looked = None;
                replaced.extend(now.map(|_| folder.path.clone()));
            }
        }
        for path in replaced {
            if let Some(watcher) = &mut self.watcher {
                // What was there may be gone.
                let _ = watcher.unwatch(&path);
            }
            self.watch(&path);
        }
    }

    fn remove(&mut self, path: &Path) {
        self.folders.retain(|folder| folder.path != path);
        if let Some(watcher) = &mut self.watcher {
            // It may never have been watched.
            let _ = watcher.unwatch(path);
        }
    }

    fn note(&mut self, event: notify::Result<notify::Event>) {
        let Ok(event) = event else {
            // Too much happened at once: everything is looked at.
            self.folders.iter_mut().for_each(|folder| folder.looked = None);
            return;
        };
        if event.need_rescan() {
            self.folders.iter_mut().for_each(|folder| folder.looked = None);
        }
        // Whoever renames a file into the folder has finished writing it.
        let is_closed = matches!(
            event.kind,
            EventKind::Access(AccessKind::Close(_))
                | EventKind::Modify(ModifyKind::Name(RenameMode::To | RenameMode::Both))
        );
        if matches!(event.kind, EventKind::Remove(_)) || (event.kind.is_access() && !is_closed) {
            return;
        }
        for path in event.paths {
            for folder in self.folders.iter_mut().filter(|folder| path.starts_with(&folder.path)) {
                if path.is_dir() {
                    folder.looked = None;
                } else {
                    folder.consider(&path, is_closed, true);
                }
            }
        }
    }
}

impl Folder {
    fn new(path: PathBuf, poll: Duration, tap: Tap) -> Self {
        Self {
            path,
            poll,
            looked: None,
            watched: None,
            tap,
            seen: HashMap::new(),
            home: None,
            candidates: BTreeMap::new(),
            own: None,
            ready: VecDeque::new(),
            forbidden: BTreeSet::new(),
            is_lost: false,
        }
    }

    fn step(&mut self) {
        if self.looked.is_none_or(|looked| looked.elapsed() >= self.poll) {
            self.look();
        }
        let candidates = std::mem::take(&mut self.candidates);
        let mut whole: Vec<(f64, PathBuf, Candidate)> = Vec::new();
        for (path, before) in candidates {
            // Gone again: then there is nothing to hear.
            let Some(now) = facts(&path) else { continue };
            let stable = if before.is_told { STABLE_BUT_OPEN } else { STABLE };
            if (now.size, now.modified) != (before.size, before.modified) {
                self.candidates.insert(path, Candidate { is_told: before.is_told, ..now });
            } else if before.is_closed || before.since.elapsed() >= stable {
                let recorded = Source::new(Location::File(path.clone())).recorded_at();
                whole.push((recorded.map_or(0.0, |it| it.unix_seconds), path, now));
            } else {
                self.candidates.insert(path, before);
            }
        }
        // In the order they were recorded: an alarm is about time.
        whole.sort_by(|(a, first, _), (b, second, _)| {
            a.total_cmp(b).then_with(|| first.cmp(second))
        });
        for (_, path, Candidate { size, modified, .. }) in whole {
            if self.is_forbidden(&path) {
                continue;
            }
            let name = self.name(&path);
            let before = self.seen.insert(name.clone(), Seen { size, modified, there: now() });
            if before.is_some_and(|it| (it.size, it.modified) == (size, modified)) {
                continue;
            }
            let seen = SeenFile { path: name, size, modified };
            self.ready.push_back(Recording { path, seen });
        }
        self.deliver();
    }

    /// Whether a recording may not be read; then it is not done with, and is found again once its rights have changed.
    fn is_forbidden(&mut self, path: &Path) -> bool {
        let denied = |error: std::io::Error| error.kind() == std::io::ErrorKind::PermissionDenied;
        if !fs::File::open(path).is_err_and(denied) {
            self.forbidden.remove(path);
            return false;
        }
        if self.forbidden.insert(path.to_owned()) {
            tracing::warn!(
                path = %path.display(),
                "a recording may not be read by this user; it is tried again (chmod +r allows it)"
            );
        }
        true
    }

    /// Gives the judge as much as it takes now; others have folders, too.
    fn deliver(&mut self) {
        while let Some(recording) = self.ready.pop_front() {
            let work = Work::Recording(self.tap.machine, recording);
            if let Err(error) = self.tap.sender.try_send(work) {
                if let Work::Recording(_, recording) = error.into_inner() {
                    self.ready.push_front(recording);
                }
                return;
            }
        }
    }

    fn look(&mut self) {
        self.looked = Some(Instant::now());
        if let Err(error) = fs::read_dir(&self.path) {
            if !self.is_lost {
                self.is_lost = true;
                let text = format!("{} cannot be read: {error}", self.path.display());
                self.report(false, text, true);
            }
            return;
        }
        if self.is_lost {
            self.is_lost = false;
            self.report(true, "the folder is back".to_owned(), true);
        } else {
            self.report(true, String::new(), false);
        }
        let (files, now) = (walk(&self.path).files, now());
        if !files.is_empty() {
            self.home = identity(&self.path);
        }
        for path in files {
            let name = self.name(&path);
            if let Some(seen) = self.seen.get_mut(&name) {
                seen.there = now;
            }
            self.consider(&path, false, false);
        }
        self.forget_gone(now);
    }

    /// Forgets recordings that were deleted long ago, here and in the history.
    fn forget_gone(&mut self, now: f64) {
        if self.home.is_none() || identity(&self.path) != self.home {
            return;
        }
        let is_gone = |seen: &Seen| now - seen.there > GONE_SECONDS;
        let gone = self.seen.iter().filter(|(_, seen)| is_gone(seen)).take(MOST_GONE);
        let gone: Vec<String> = gone.map(|(name, _)| name.clone()).collect();
        if gone.is_empty() {
            return;
        }
        let work = Work::Gone(self.tap.machine, gone.clone());
        // A full queue has more urgent things in it; the next look tries again.
        if self.tap.sender.try_send(work).is_ok() {
            for name in &gone {
                self.seen.remove(name);
            }
        }
    }

    fn report(&self, is_alive: bool, text: String, is_news: bool) {
        let machine = self.tap.machine;
        // A full queue has more urgent things in it; the next look reports again.
        let _ = self.tap.sender.try_send(Work::Source { machine, is_alive, text, is_news });
    }

    fn consider(&mut self, path: &Path, is_closed: bool, is_told: bool) {
        let is_own = self.own.as_ref().is_some_and(|own| path.starts_with(own));
        // Names with a dot in front are of programs that are not done with a file.
        let is_hidden =
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_own || is_hidden || !has_sound_extension(path) {
            return;
        }
        let Some(mut found) = facts(path) else { return };
        let seen = self.seen.get(&self.name(path));
        if seen.is_some_and(|it| (it.size, it.modified) == (found.size, found.modified)) {
            return;
        }
        if self.home.is_none() {
            self.home = identity(&self.path);
        }
        found.is_closed = is_closed && found.size > 0;
        found.is_told = is_told && self.watched.is_some();
        match self.candidates.get_mut(path) {
            Some(known) if (known.size, known.modified) == (found.size, found.modified) => {
                known.is_closed |= found.is_closed;
                known.is_told |= found.is_told;
            }
            known => {
                found.is_told |= known.is_some_and(|known| known.is_told);
                self.candidates.insert(path.to_owned(), found);
            }
        }
    }

    fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.path).unwrap_or(path).to_string_lossy().into_owned()
    }
}

/// Size and time of a regular file, as of now.
fn facts(path: &Path) -> Option<Candidate> {
    let facts = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let modified = facts.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Candidate {
        size: facts.len(),
        modified: i64::try_from(modified.as_nanos()).ok()?,
        since: Instant::now(),
        is_closed: false,
        is_told: false,
    })
}

/// Where `inner` is in `outer`, by the name that `outer` has; `None` if it is elsewhere.
fn inside(inner: &Path, outer: &Path) -> Option<PathBuf> {
    let (inner, canonical) = (inner.canonicalize().ok()?, outer.canonicalize().ok()?);
    Some(outer.join(inner.strip_prefix(canonical).ok()?))
}

fn identity(path: &Path) -> Option<Identity> {
    let facts = fs::metadata(path).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Some((facts.dev(), facts.ino()))
    }
    #[cfg(not(unix))]
    {
        let made = facts.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some((made.as_secs(), u64::from(made.subsec_nanos())))
    }
}

/// By the computer's clock, as the history has it.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::{Receiver, channel};

    use super::*;

    /// A watched folder with recordings, all of them seen as long ago as this, and what it tells.
    fn folder(names: &[&str], seconds_ago: f64) -> (tempfile::TempDir, Folder, Receiver<Work>) {
        let place = tempfile::tempdir().unwrap();
        let (sender, told) = channel(64);
        let tap = Tap { machine: 1, channel: 1, sender, seen: Vec::new() };
        let mut folder = Folder::new(place.path().join("in"), Duration::ZERO, tap);
        fs::create_dir(&folder.path).unwrap();
        for name in names {
            let path = folder.path.join(name);
            fs::write(&path, "sound").unwrap();
            let Candidate { size, modified, .. } = facts(&path).unwrap();
            let seen = Seen { size, modified, there: now() - seconds_ago };
            folder.seen.insert((*name).to_owned(), seen);
        }
        (place, folder, told)
    }

    fn gone(told: &mut Receiver<Work>) -> Vec<String> {
        let mut gone = Vec::new();
        while let Ok(work) = told.try_recv() {
            if let Work::Gone(1, names) = work {
                gone.extend(names);
            }
        }
        gone
    }

    #[test]
    fn recordings_that_were_deleted_are_forgotten_after_days_and_others_are_not() {
        let (_place, mut folder, mut told) = folder(&["a.wav", "b.wav"], GONE_SECONDS + 1.0);
        fs::remove_file(folder.path.join("a.wav")).unwrap();
        folder.look();
        assert_eq!(gone(&mut told), ["a.wav"]);
        assert_eq!(folder.seen.keys().collect::<Vec<_>>(), ["b.wav"]);
        assert!(folder.candidates.is_empty(), "what is there is not taken again");
        fs::remove_file(folder.path.join("b.wav")).unwrap();
        folder.look();
        assert_eq!(
            (gone(&mut told), folder.seen.len()),
            (Vec::new(), 1),
            "it was there a moment ago"
        );
    }

    #[test]
    fn a_share_that_is_not_mounted_forgets_nothing() {
        let (place, mut folder, mut told) = folder(&["a.wav"], GONE_SECONDS + 1.0);
        let (mounted, away) = (folder.path.clone(), place.path().join("away"));
        fs::rename(&mounted, &away).unwrap();
        fs::create_dir(&mounted).unwrap();
        folder.look();
        assert_eq!((gone(&mut told), folder.seen.len()), (Vec::new(), 1));
        fs::remove_dir(&mounted).unwrap();
        fs::rename(&away, &mounted).unwrap();
        folder.look();
        assert!(folder.candidates.is_empty(), "it is back, and nothing is taken again");
        assert_eq!(gone(&mut told), Vec::<String>::new());
    }
}
