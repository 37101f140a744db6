//! MQTT: the state of every machine, retained; events, each acknowledged by the broker; commands in.
//!
//! Topics are `<prefix>/<site>/<machine>/{state,clip,event,level}`, `.../set` for commands and `<prefix>/<site>/status`
//! for whether the monitor is there. States, clips and levels are sent as they come and again after a reconnection;
//! events wait in the outbox until the broker has acknowledged them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::{
    Bell, Deliver, Failure, Message, Post, Running,
    broker::{Broker, Care, Heard, Hearing, Will},
    run,
};
use crate::{
    control::Ask,
    error::{Error, Result},
    site::{MqttFile, Seconds, Site},
    watch::{Command, MachineStatus, Request},
};

/// A command as it is written on a machine's topic; whoever sends it need not say who they are.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "command", deny_unknown_fields)]
enum Order {
    Acknowledge {
        #[serde(default = "somebody")]
        who: String,
    },
    Shelve {
        #[serde(rename = "for")]
        time: Seconds,
        reason: String,
        #[serde(default = "somebody")]
        who: String,
    },
    Unshelve {
        #[serde(default = "somebody")]
        who: String,
    },
    OutOfService {
        reason: String,
        #[serde(default = "somebody")]
        who: String,
    },
    InService {
        #[serde(default = "somebody")]
        who: String,
    },
    AcceptDrift {
        #[serde(default = "somebody")]
        who: String,
    },
}

fn somebody() -> String {
    "somebody on MQTT".to_owned()
}

impl Order {
    fn ask(self, machine: String) -> Ask {
        let body = match self {
            Self::Acknowledge { who } => Command::Acknowledge { who },
            Self::Shelve { time, reason, who } => {
                let body = Request::Shelve { seconds: time.0, reason, who };
                return Ask::Request { machine, body };
            }
            Self::Unshelve { who } => Command::Unshelve { who },
            Self::OutOfService { reason, who } => Command::OutOfService { reason, who },
            Self::InService { who } => Command::InService { who },
            Self::AcceptDrift { who } => Command::AcceptDrift { who },
        };
        Ask::Command { machine, body }
    }
}

/// A connection to a broker; it ends when this is dropped.
pub struct Mqtt {
    broker: Broker,
    topics: Topics,
    states: Arc<Mutex<BTreeMap<String, String>>>,
    link: Arc<Link>,
    thread: Option<JoinHandle<()>>,
    _outbox: Running,
}

impl std::fmt::Debug for Mqtt {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Mqtt").field("link", &self.link).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Link {
    is_connected: AtomicBool,
    is_stopping: AtomicBool,
    acknowledged: AtomicU64,
    /// How often there was a new connection.
    connections: AtomicU64,
}

#[derive(Debug, Clone)]
struct Topics {
    prefix: String,
    site: String,
    discovery: String,
}

impl Topics {
    fn of(&self, machine: &str, what: &str) -> String {
        format!("{}/{}/{machine}/{what}", self.prefix, self.site)
    }

    fn status(&self) -> String {
        format!("{}/{}/status", self.prefix, self.site)
    }
}

/// Messages that wait for the network.
const ROOM: usize = 1_000;

/// And what a new connection is told about every machine.
const GREETINGS: usize = 8;

/// How long an event may wait for its acknowledgement.
const PATIENCE: Duration = Duration::from_secs(10);

impl Mqtt {
    /// Connects, now or as soon as the broker is there; what is asked on it goes to `orders`.
    ///
    /// # Errors
    ///
    /// If the configuration cannot be used, or there is no thread to be had.
    pub fn start(
        file: &MqttFile,
        site: &Site,
        post: &Post,
        orders: UnboundedSender<Ask>,
    ) -> Result<Self> {
        let topics = Topics {
            prefix: file.prefix.clone(),
            site: site.name.clone(),
            discovery: file.discovery.clone(),
        };
        let will = Will { topic: &topics.status(), text: "offline" };
        let room = ROOM + GREETINGS * site.machines.len();
        let name = format!("auscult-{}", topics.site);
        let (broker, hearing) = Broker::connect(file, &name, &will, room)?;
        let states: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
        let link = Arc::new(Link::default());
        let tags: BTreeMap<String, String> = site
            .machines
            .iter()
            .filter_map(|machine| {
                Some((machine.running.as_ref()?.topic.clone()?, machine.name.clone()))
            })
            .collect();
        let names = site.machines.iter().map(|machine| machine.name.clone()).collect();
        let talk = Talk {
            broker: broker.clone(),
            topics: topics.clone(),
            states: Arc::clone(&states),
            link: Arc::clone(&link),
            takes_commands: file.commands,
            tags,
            names,
            orders,
            bell: post.bell.clone(),
        };
        let thread = std::thread::Builder::new()
            .name("mqtt".to_owned())
            .spawn(move || talk.run(hearing))
            .map_err(Error::io("cannot start a thread"))?;
        let choice = super::choices(site).into_iter().find(|choice| choice.name == "mqtt");
        let Some(choice) = choice else { return Err(Error::Stopping) };
        let events = Events {
            broker: broker.clone(),
            topics: topics.clone(),
            link: Arc::clone(&link),
            seen: 0,
        };
        let outbox = run(choice, Box::new(events), post.clone())?;
        Ok(Self { broker, topics, states, link, thread: Some(thread), _outbox: outbox })
    }

    /// Publishes where a machine stands.
    pub fn publish(&self, status: &MachineStatus) {
        let body = state_body(status).to_string();
        let topic = self.topics.of(&status.name, "state");
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.insert(topic.clone(), body.clone());
        drop(states);
        if !self.link.is_connected.load(Ordering::SeqCst) {
            // The newest of each is sent when the broker is back.
            return;
        }
        // A full queue is a slow network: the next state comes with the next clip.
        let _ = self.broker.publish(topic, Care::Newest, true, body);
        if let Some(level) = status.level_dbfs {
            let topic = self.topics.of(&status.name, "level");
            let _ = self.broker.publish(topic, Care::Newest, false, format!("{level:.1}"));
        }
        let clip = json!({ "time": status.last_clip, "score": status.score, "p_value": status.p_value,
            "reason": status.reason });
        let topic = self.topics.of(&status.name, "clip");
        let _ = self.broker.publish(topic, Care::Newest, false, clip.to_string());
    }

    /// Whether the broker is there.
    pub fn is_connected(&self) -> bool {
        self.link.is_connected.load(Ordering::SeqCst)
    }
}

impl Drop for Mqtt {
    fn drop(&mut self) {
        self.link.is_stopping.store(true, Ordering::SeqCst);
        // Said politely; if that cannot be, the last will says it.
        let _ =
            self.broker.publish(self.topics.status(), Care::Confirmed, true, "offline".to_owned());
        std::thread::sleep(Duration::from_millis(100));
        self.broker.disconnect();
        if let Some(thread) = self.thread.take() {
            let began = Instant::now();
            while !thread.is_finished() && began.elapsed() < Duration::from_secs(1) {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// The one who talks with the broker.
struct Talk {
    broker: Broker,
    topics: Topics,
    states: Arc<Mutex<BTreeMap<String, String>>>,
    link: Arc<Link>,
    takes_commands: bool,
    tags: BTreeMap<String, String>,
    names: Vec<String>,
    orders: UnboundedSender<Ask>,
    bell: Bell,
}

impl Talk {
    fn run(self, mut hearing: Hearing) {
        let mut wait = Duration::from_millis(500);
        let mut is_told = false;
        while let Some(heard) = hearing.next() {
            match heard {
                Heard::Connected => {
                    (wait, is_told) = (Duration::from_millis(500), false);
                    self.link.is_connected.store(true, Ordering::SeqCst);
                    tracing::info!("connected to the broker");
                    self.greet();
                    self.link.connections.fetch_add(1, Ordering::SeqCst);
                    self.bell.ring();
                }
                Heard::Acknowledged => {
                    self.link.acknowledged.fetch_add(1, Ordering::SeqCst);
                }
                Heard::Message { topic, payload } => self.order(&topic, &payload),
                Heard::Other => {}
                Heard::Lost(error) => {
                    self.link.is_connected.store(false, Ordering::SeqCst);
                    if self.link.is_stopping.load(Ordering::SeqCst) {
                        return;
                    }
                    if !is_told {
                        is_told = true;
                        tracing::warn!(%error, "the broker is not there; trying again");
                    }
                    std::thread::sleep(wait);
                    wait = (2 * wait).min(Duration::from_secs(30));
                }
            }
        }
    }

    /// Everything a new connection must know.
    fn greet(&self) {
        // The queue is empty now; what does not fit comes with the next clip.
        let publish = |topic: String, body: String| {
            let _ = self.broker.publish(topic, Care::Newest, true, body);
        };
        publish(self.topics.status(), "online".to_owned());
        for name in &self.names {
            for (topic, body) in discovery(&self.topics, name) {
                publish(topic, body.to_string());
            }
        }
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (topic, body) in states {
            publish(topic, body);
        }
        for topic in self.tags.keys() {
            let _ = self.broker.subscribe(topic.clone());
        }
        if self.takes_commands {
            let _ = self.broker.subscribe(self.topics.of("+", "set"));
        }
    }

    fn order(&self, topic: &str, payload: &[u8]) {
        let text = String::from_utf8_lossy(payload).trim().to_owned();
        let ask = if let Some(machine) = self.tags.get(topic) {
            let state: String = text.chars().take(64).collect();
            Ask::Command { machine: machine.clone(), body: Command::Tag { state } }
        } else {
            let before = format!("{}/{}/", self.topics.prefix, self.topics.site);
            let machine = topic.strip_prefix(&before).and_then(|it| it.strip_suffix("/set"));
            let Some(machine) = machine else { return };
            match serde_json::from_str::<Order>(&text) {
                Ok(order) => order.ask(machine.to_owned()),
                Err(error) => {
                    tracing::warn!(machine, %error, "a message from the broker was not understood");
                    return;
                }
            }
        };
        // If nobody takes it, the monitor is stopping.
        let _ = self.orders.send(ask);
    }
}

/// Events go through the outbox: each is acknowledged before the next one is sent.
struct Events {
    broker: Broker,
    topics: Topics,
    link: Arc<Link>,
    /// Connections it knows of.
    seen: u64,
}

impl Deliver for Events {
    fn deliver(&mut self, message: &Message<'_>) -> std::result::Result<(), Failure> {
        if !self.link.is_connected.load(Ordering::SeqCst) {
            return Err(Failure::passing("the broker is not there"));
        }
        let before = self.link.acknowledged.load(Ordering::SeqCst);
        let topic = self.topics.of(&message.event.machine, "event");
        let body = message.json().to_string();
        self.broker.publish(topic, Care::Confirmed, false, body).map_err(Failure::passing)?;
        // Only events ask to be acknowledged, one at a time: the next acknowledgement is its own.
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if self.link.acknowledged.load(Ordering::SeqCst) > before {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(Failure::passing("the broker did not acknowledge it"))
    }

    fn has_returned(&mut self) -> bool {
        let connections = self.link.connections.load(Ordering::SeqCst);
        std::mem::replace(&mut self.seen, connections) != connections
    }
}

fn state_body(status: &MachineStatus) -> Value {
    json!({
        "state": status.state,
        "since": status.since,
        "score": status.score,
        "p_value": status.p_value,
        "drift": status.drift,
        "level_dbfs": status.level_dbfs,
        "reason": status.reason,
        "acknowledged": status.acknowledged,
        "last_event": status.last_event.as_ref().map(|event| &event.id),
    })
}

/// What Home Assistant is told about a machine.
fn discovery(topics: &Topics, machine: &str) -> Vec<(String, Value)> {
    if topics.discovery.is_empty() {
        return Vec::new();
    }
    let id = format!("auscult_{}_{machine}", topics.site).replace(['.', '-'], "_");
    let device = json!({ "identifiers": [id], "name": machine, "manufacturer": "auscult" });
    let state = topics.of(machine, "state");
    let entity = |kind: &str, what: &str, more: Value| {
        let mut body = json!({
            "unique_id": format!("{id}_{what}"),
            "name": what,
            "state_topic": state,
            "availability_topic": topics.status(),
            "device": device,
        });
        if let (Some(fields), Some(more)) = (body.as_object_mut(), more.as_object()) {
            fields.extend(more.clone());
        }
        (format!("{}/{kind}/{id}/{what}/config", topics.discovery), body)
    };
    vec![
        entity(
            "sensor",
            "state",
            json!({ "value_template": "{{ value_json.state }}", "icon": "mdi:ear-hearing" }),
        ),
        entity(
            "sensor",
            "score",
            json!({ "value_template": "{{ value_json.score }}", "state_class": "measurement" }),
        ),
        entity(
            "binary_sensor",
            "alarm",
            json!({ "value_template": "{{ 'ON' if value_json.state == 'alarm' else 'OFF' }}", "device_class": "problem" }),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(text: &str) -> std::result::Result<Ask, String> {
        let order: std::result::Result<Order, _> = serde_json::from_str(text);
        order.map(|order| order.ask("fan".to_owned())).map_err(|error| error.to_string())
    }

    #[test]
    fn commands_are_written_as_on_the_command_line() {
        let shelved = ask(r#"{"command": "shelve", "for": "4h", "reason": "new seals"}"#).unwrap();
        let (seconds, reason, who) = (14_400.0, "new seals".to_owned(), somebody());
        let body = Request::Shelve { seconds, reason, who };
        assert_eq!(shelved, Ask::Request { machine: "fan".to_owned(), body });
        let seen = ask(r#"{"command": "acknowledge", "who": "ada"}"#).unwrap();
        let body = Command::Acknowledge { who: "ada".to_owned() };
        assert_eq!(seen, Ask::Command { machine: "fan".to_owned(), body });
        assert!(ask(r#"{"command": "shelve", "reason": "x"}"#).unwrap_err().contains("`for`"));
        let soon = r#"{"command": "shelve", "for": "soon", "reason": "x"}"#;
        assert!(ask(soon).unwrap_err().contains("\"4h\""), "{:?}", ask(soon));
        assert!(ask(r#"{"command": "tag", "state": "off"}"#).is_err(), "tags have their topic");
    }
}
