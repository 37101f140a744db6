//! 7. Who is told: every sink has a thread and an outbox of its own, so that one that is down delays nobody.

#[cfg(feature = "mqtt")]
mod broker;
#[cfg(feature = "email")]
mod email;
mod message;
#[cfg(feature = "mqtt")]
mod mqtt;
mod page;
mod webhook;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

#[cfg(feature = "mqtt")]
pub use self::mqtt::Mqtt;
pub use self::{message::Message, page::event_page};
use crate::{
    clock::Clock,
    data::DataFolder,
    error::{Error, Result},
    history::{History, Outcome, WaitingMessage, Writer},
    site::{Site, without_password},
    watch::Event,
};

/// Somebody who is told.
pub trait Deliver: Send {
    /// Tells of one event; the same event may come twice, with the same id.
    ///
    /// # Errors
    ///
    /// Why it could not be told, and whether to try again.
    fn deliver(&mut self, message: &Message<'_>) -> std::result::Result<(), Failure>;

    /// Whether the receiver is known to be back since this was last asked: then what waits is not left waiting.
    fn has_returned(&mut self) -> bool {
        false
    }
}

/// Why somebody could not be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Why.
    pub reason: String,
    /// Whether another try may help.
    pub may_pass: bool,
}

impl Failure {
    /// Another try may help.
    pub fn passing(reason: impl fmt::Display) -> Self {
        Self { reason: reason.to_string(), may_pass: true }
    }

    /// No other try will help.
    pub fn lasting(reason: impl fmt::Display) -> Self {
        Self { reason: reason.to_string(), may_pass: false }
    }
}

/// Which events a sink is told of.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// What it is called in the history.
    pub name: String,
    machines: Vec<String>,
    tells: Vec<String>,
    cooldown: f64,
    /// Whether it is a program that follows every change of state.
    hears_all: bool,
}

impl Choice {
    fn wants(&self, event: &Event) -> bool {
        let machine = self.machines.is_empty() || self.machines.contains(&event.machine);
        machine
            && self.hears_of(event.news())
            && (event.news() != "normal" || self.awaits_end(event))
    }

    fn hears_of(&self, news: &str) -> bool {
        self.tells.iter().any(|known| known == news)
    }

    /// Whether it was told of what ends: a machine that is normal for the first time, or after an alert that was not told, is
    /// not news.
    fn awaits_end(&self, event: &Event) -> bool {
        self.hears_all || event.details.ends.iter().any(|state| self.hears_of(state.name()))
    }
}

/// The sinks of a site that have an outbox.
pub fn choices(site: &Site) -> Vec<Choice> {
    let mut choices: Vec<Choice> = Vec::new();
    for (index, webhook) in site.webhooks.iter().enumerate() {
        let usual = || format!("webhook {} {}", index + 1, without_query(&webhook.url));
        choices.push(Choice {
            name: webhook.name.clone().unwrap_or_else(usual),
            machines: webhook.machines.clone(),
            tells: webhook.tells.clone(),
            cooldown: webhook.cooldown.map_or(0.0, |it| it.0),
            hears_all: false,
        });
    }
    for (index, email) in site.emails.iter().enumerate() {
        let usual = || format!("email {} {}", index + 1, email.server);
        choices.push(Choice {
            name: email.name.clone().unwrap_or_else(usual),
            machines: email.machines.clone(),
            tells: email.tells.clone(),
            cooldown: email.cooldown.map_or(0.0, |it| it.0),
            hears_all: false,
        });
    }
    if site.mqtt.is_some() {
        choices.push(Choice {
            name: "mqtt".to_owned(),
            machines: Vec::new(),
            tells: crate::site::NEWS.iter().map(|news| (*news).to_owned()).collect(),
            cooldown: 0.0,
            hears_all: true,
        });
    }
    choices
}

/// Addresses of webhooks hold secrets behind the question mark.
fn without_query(url: &str) -> String {
    without_password(url).split('?').next().unwrap_or_default().to_owned()
}

/// The names of the sinks that want to be told of an event.
pub fn wanted_by(choices: &[Choice], event: &Event) -> Vec<String> {
    choices.iter().filter(|it| it.wants(event)).map(|it| it.name.clone()).collect()
}

/// What a sink's thread works with.
#[derive(Debug, Clone)]
pub struct Post {
    /// The clock.
    pub clock: Clock,
    /// The data folder.
    pub data: DataFolder,
    /// Who writes the history.
    pub writer: Writer,
    /// Links begin with this.
    pub public_url: Option<String>,
    /// What the site is called.
    pub site: String,
    /// Rings when there is something to send.
    pub bell: Bell,
    /// Who sends.
    pub turns: Turns,
}

/// One at a time sends for a sink: after a new configuration the thread of the old one may still be at it. Clones have the same turns.
#[derive(Debug, Clone, Default)]
pub struct Turns(Arc<Mutex<BTreeMap<String, Turn>>>);

type Turn = Arc<Mutex<()>>;

impl Turns {
    fn of(&self, sink: &str) -> Turn {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(turns.entry(sink.to_owned()).or_default())
    }
}

/// Wakes the sinks; clones ring the same bell.
#[derive(Debug, Clone, Default)]
pub struct Bell(Arc<(Mutex<u64>, Condvar)>);

impl Bell {
    /// There is something to send.
    pub fn ring(&self) {
        let mut rings = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        *rings += 1;
        self.0.1.notify_all();
    }

    /// Waits for a ring after the one that was `heard`, at most so long; gives the last one.
    fn wait(&self, heard: u64, most: Duration) -> u64 {
        let rings = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *rings != heard {
            return *rings;
        }
        let waited = self.0.1.wait_timeout(rings, most);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A sink that is running; it ends when this is dropped.
#[derive(Debug)]
pub struct Running {
    stop: Arc<AtomicBool>,
    bell: Bell,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.bell.ring();
        if let Some(thread) = self.thread.take() {
            // A delivery that hangs has a time limit of its own; nobody waits for it here.
            if thread.is_finished() {
                let _ = thread.join();
            }
        }
    }
}

/// Messages that may wait for one sink; the oldest go first, and that is counted.
const MOST_WAITING: usize = 10_000;

/// Waits between tries grow from the first to the second, in seconds.
const FIRST_WAIT: f64 = 2.0;
const LONGEST_WAIT: f64 = 900.0;

/// Starts all sinks of a site but the broker.
///
/// # Errors
///
/// If one cannot be made: a secret is missing, or an address cannot be read.
pub fn start(site: &Site, post: &Post) -> Result<Vec<Running>> {
    let mut running = Vec::new();
    let mut choices = choices(site).into_iter();
    for webhook in &site.webhooks {
        let sink = webhook::Webhook::new(webhook)?;
        if let Some(choice) = choices.next() {
            running.push(run(choice, Box::new(sink), post.clone())?);
        }
    }
    for email in &site.emails {
        let Some(choice) = choices.next() else { break };
        #[cfg(feature = "email")]
        running.push(run(choice, Box::new(email::Email::new(email, post)?), post.clone())?);
        #[cfg(not(feature = "email"))]
        let _ = (email, choice);
    }
    Ok(running)
}

/// Starts the thread of one sink.
///
/// # Errors
///
/// If there is no thread to be had.
pub fn run(choice: Choice, deliver: Box<dyn Deliver>, post: Post) -> Result<Running> {
    let stop = Arc::new(AtomicBool::new(false));
    let bell = post.bell.clone();
    let mut sink = Sink { choice, deliver, post, stop: Arc::clone(&stop) };
    let thread = std::thread::Builder::new()
        .name("sink".to_owned())
        .spawn(move || sink.run())
        .map_err(Error::io("cannot start a thread"))?;
    Ok(Running { stop, bell, thread: Some(thread) })
}

struct Sink {
    choice: Choice,
    deliver: Box<dyn Deliver>,
    post: Post,
    stop: Arc<AtomicBool>,
}

impl Sink {
    fn run(&mut self) {
        let mut heard = 0;
        while !self.stop.load(Ordering::SeqCst) {
            let wait = match self.send_next() {
                Ok(wait) => wait,
                Err(Error::Stopping) => return,
                Err(error) => {
                    tracing::error!(sink = self.choice.name, %error, "the outbox cannot be read");
                    Duration::from_secs(5)
                }
            };
            if !wait.is_zero() {
                heard = self.post.bell.wait(heard, wait);
            }
        }
    }

    /// Sends the oldest message if it is due; says how long to wait for the next one.
    fn send_next(&mut self) -> Result<Duration> {
        const NOTHING: Duration = Duration::from_secs(5);
        let turn = self.post.turns.of(&self.choice.name);
        let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.stop.load(Ordering::SeqCst) {
            return Err(Error::Stopping);
        }
        let history = History::read(self.post.data.root())?;
        let Some(waiting) = history.next_message(&self.choice.name)? else { return Ok(NOTHING) };
        let now = self.post.clock.now();
        if waiting.next_try > now && !self.deliver.has_returned() {
            let wait = self.post.clock.real(waiting.next_try - now);
            return Ok(wait.clamp(Duration::from_millis(10), NOTHING));
        }
        if self.is_too_soon(&history, &waiting, now)? {
            self.end(
                &waiting,
                Outcome::Suppressed,
                Some("another one was sent a moment ago".to_owned()),
            )?;
            return Ok(Duration::ZERO);
        }
        drop(history);
        let message = Message {
            event: &waiting.event,
            site: &self.post.site,
            public_url: self.post.public_url.as_deref(),
        };
        match self.deliver.deliver(&message) {
            Ok(()) => self.end(&waiting, Outcome::Sent, None)?,
            Err(failure) => self.failed(&waiting, &failure)?,
        }
        Ok(Duration::ZERO)
    }

    /// Whether the last message about the machine is too recent for this one. A new alarm is never held back.
    fn is_too_soon(&self, history: &History, waiting: &WaitingMessage, now: f64) -> Result<bool> {
        if self.choice.cooldown <= 0.0 {
            return Ok(false);
        }
        let last = history.last_sent(&self.choice.name, waiting.machine)?;
        Ok(last.is_some_and(|(sent, news)| {
            let is_new_alarm = waiting.news == "alarm" && news != "alarm" && news != "reminder";
            now - sent < self.choice.cooldown && !is_new_alarm
        }))
    }

    fn end(
        &self,
        waiting: &WaitingMessage,
        outcome: Outcome,
        problem: Option<String>,
    ) -> Result<()> {
        let (id, now) = (waiting.id, self.post.clock.now());
        let work =
            move |history: &mut History| history.end_message(id, outcome, problem.as_deref(), now);
        self.post.writer.call(work)
    }

    fn failed(&self, waiting: &WaitingMessage, failure: &Failure) -> Result<()> {
        let (sink, event) = (&self.choice.name, &waiting.event.id);
        if !failure.may_pass {
            tracing::error!(sink, event, reason = failure.reason, "a message was refused");
            return self.end(waiting, Outcome::GivenUp, Some(failure.reason.clone()));
        }
        if waiting.tries == 0 {
            tracing::warn!(
                sink,
                event,
                reason = failure.reason,
                "a message could not be sent; trying again"
            );
        }
        let wait = FIRST_WAIT * 2_f64.powf(f64::from(waiting.tries.min(20)));
        let next_try = self.post.clock.now() + wait.min(LONGEST_WAIT);
        let (id, reason, name) = (waiting.id, failure.reason.clone(), sink.clone());
        let now = self.post.clock.now();
        let dropped = self.post.writer.call(move |history| {
            history.delay_message(id, next_try, &reason)?;
            history.drop_messages(&name, MOST_WAITING, now)
        })?;
        if dropped > 0 {
            tracing::error!(
                sink,
                dropped,
                "too many messages were waiting; the oldest were dropped"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use auscult::alarm::AlarmState;

    use super::*;
    use crate::watch::{EventDetails, EventKind};

    #[test]
    fn normal_is_told_to_those_who_were_told_what_it_ends() {
        let text = "[[machine]]\nname = \"a\"\n[[webhook]]\nurl = \"http://usual\"\n[[webhook]]\nurl = \"http://eager\"\n\
            tells = [\"alert\", \"normal\"]\n";
        let site = Site::parse(text, std::path::Path::new("site.toml")).unwrap();
        let told = |ends: &[AlarmState]| {
            let event = Event {
                id: "a-2".to_owned(),
                machine: "a".to_owned(),
                unix_seconds: 0.0,
                kind: EventKind::State,
                from: AlarmState::NoData,
                to: AlarmState::Normal,
                reason: String::new(),
                is_announced: true,
                details: EventDetails { ends: ends.to_vec(), ..EventDetails::default() },
            };
            wanted_by(&choices(&site), &event).len()
        };
        assert_eq!(told(&[]), 0, "a new machine");
        assert_eq!(told(&[AlarmState::Alert]), 1, "the eager one");
        assert_eq!(told(&[AlarmState::Alert, AlarmState::Alarm]), 2);
        assert_eq!(told(&[AlarmState::NoData]), 1, "the usual one");
    }

    /// A receiver that takes its time, and counts.
    struct Slow(Arc<Mutex<Vec<String>>>);

    impl Deliver for Slow {
        fn deliver(&mut self, message: &Message<'_>) -> std::result::Result<(), Failure> {
            std::thread::sleep(Duration::from_millis(300));
            self.0.lock().unwrap().push(message.event.id.clone());
            Ok(())
        }
    }

    #[test]
    fn a_new_configuration_sends_nothing_twice() {
        let text = "[[machine]]\nname = \"a\"\n[[webhook]]\nname = \"slow\"\nurl = \"http://x\"\n";
        let site = Site::parse(text, std::path::Path::new("site.toml")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::system();
        let mut history = History::open(folder.path()).unwrap();
        let machine = history.machine("a", 0.0).unwrap();
        let event = Event {
            id: "a-1".to_owned(),
            machine: "a".to_owned(),
            unix_seconds: 0.0,
            kind: EventKind::State,
            from: AlarmState::Normal,
            to: AlarmState::Alarm,
            reason: String::new(),
            is_announced: true,
            details: EventDetails::default(),
        };
        let mut commit = crate::history::Commit::of(machine);
        commit.messages.push(("slow".to_owned(), event.id.clone(), "alarm"));
        commit.events.push(event);
        history.write(&commit, 0.0).unwrap();
        let (writer, thread) = Writer::start(history, clock.clone(), Box::new(|_| ())).unwrap();
        let post = Post {
            clock,
            data: DataFolder::new(folder.path()),
            writer: writer.clone(),
            public_url: None,
            site: "site".to_owned(),
            bell: Bell::default(),
            turns: Turns::default(),
        };
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let start = || {
            let choice = choices(&site).remove(0);
            run(choice, Box::new(Slow(Arc::clone(&told))), post.clone()).unwrap()
        };
        let old = start();
        std::thread::sleep(Duration::from_millis(100));
        let new = start();
        drop(old);
        std::thread::sleep(Duration::from_secs(1));
        drop(new);
        assert_eq!(*told.lock().unwrap(), ["a-1"]);
        writer.stop();
        thread.join().unwrap();
    }
}
