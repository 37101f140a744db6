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
        mpsc::Sender,
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use rumqttc::{
    Client, Connection, Event as MqttEvent, LastWill, MqttOptions, Packet, QoS, TlsConfiguration,
    Transport,
};
use serde_json::{Value, json};

use super::{Deliver, Failure, Message, Post, Running, run, webhook::secret};
use crate::{
    error::{Error, Result},
    site::{MqttFile, Site, host_and_port},
    watch::{Command, MachineStatus},
};

/// What comes from the broker.
#[derive(Debug, Clone, PartialEq)]
pub enum MqttOrder {
    /// A command for a machine.
    Command(String, Command),
    /// Something on the topic of a machine that makes no sense.
    Nonsense(String, String),
}

/// A connection to a broker; it ends when this is dropped.
pub struct Mqtt {
    client: Client,
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

/// Messages that the client holds for the network.
const ROOM: usize = 1_000;

/// How long an event may wait for its acknowledgement.
const PATIENCE: Duration = Duration::from_secs(10);

impl Mqtt {
    /// Connects, now or as soon as the broker is there; orders come through `orders`.
    ///
    /// # Errors
    ///
    /// If the configuration cannot be used, or there is no thread to be had.
    pub fn start(
        file: &MqttFile,
        site: &Site,
        post: &Post,
        orders: Sender<MqttOrder>,
    ) -> Result<Self> {
        let topics = Topics {
            prefix: file.prefix.clone(),
            site: site.name.clone(),
            discovery: file.discovery.clone(),
        };
        let (client, connection) = Client::new(options(file, &topics)?, ROOM);
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
            client: client.clone(),
            topics: topics.clone(),
            states: Arc::clone(&states),
            link: Arc::clone(&link),
            takes_commands: file.commands,
            tags,
            names,
            orders,
        };
        let thread = std::thread::Builder::new()
            .name("mqtt".to_owned())
            .spawn(move || talk.run(connection))
            .map_err(Error::io("cannot start a thread"))?;
        let choice = super::choices(site).into_iter().find(|choice| choice.name == "mqtt");
        let Some(choice) = choice else { return Err(Error::Stopping) };
        let events =
            Events { client: client.clone(), topics: topics.clone(), link: Arc::clone(&link) };
        let outbox = run(choice, Box::new(events), post.clone())?;
        Ok(Self { client, topics, states, link, thread: Some(thread), _outbox: outbox })
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
        let _ = self.client.try_publish(topic, QoS::AtMostOnce, true, body);
        if let Some(level) = status.level_dbfs {
            let topic = self.topics.of(&status.name, "level");
            let _ = self.client.try_publish(topic, QoS::AtMostOnce, false, format!("{level:.1}"));
        }
        let clip = json!({ "time": status.last_clip, "score": status.score, "p_value": status.p_value,
            "reason": status.reason });
        let topic = self.topics.of(&status.name, "clip");
        let _ = self.client.try_publish(topic, QoS::AtMostOnce, false, clip.to_string());
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
        let _ = self.client.try_publish(self.topics.status(), QoS::AtLeastOnce, true, "offline");
        std::thread::sleep(Duration::from_millis(100));
        let _ = self.client.try_disconnect();
        if let Some(thread) = self.thread.take() {
            let began = Instant::now();
            while !thread.is_finished() && began.elapsed() < Duration::from_secs(1) {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

fn options(file: &MqttFile, topics: &Topics) -> Result<MqttOptions> {
    let refused = |text: String| Error::Refused(format!("mqtt.broker {}: {text}", file.broker));
    let usual = if file.tls { 8883 } else { 1883 };
    let (host, port) =
        host_and_port(&file.broker, usual).ok_or_else(|| refused("is not a host".to_owned()))?;
    let mut options = MqttOptions::new(format!("auscult-{}", topics.site), host, port);
    options.set_keep_alive(Duration::from_secs(15));
    options.set_max_packet_size(1 << 20, 1 << 20);
    options.set_last_will(LastWill::new(topics.status(), "offline", QoS::AtLeastOnce, true));
    if let (Some(user), password) = (&file.user, secret(file.password_env.as_deref())?) {
        options.set_credentials(user, password.unwrap_or_default());
    }
    if file.tls {
        // Set once for the whole program; if somebody was first, theirs is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut roots = rustls::RootCertStore::empty();
        match &file.ca {
            Some(path) => {
                use rustls::pki_types::{CertificateDer, pem::PemObject};
                let found = CertificateDer::pem_file_iter(path);
                let found =
                    found.map_err(|error| refused(format!("{}: {error}", path.display())))?;
                for certificate in found {
                    let certificate = certificate.map_err(|error| refused(error.to_string()))?;
                    roots.add(certificate).map_err(|error| refused(error.to_string()))?;
                }
            }
            None => drop(
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs),
            ),
        }
        let config =
            rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        options.set_transport(Transport::Tls(TlsConfiguration::Rustls(Arc::new(config))));
    }
    Ok(options)
}

/// The one who talks with the broker.
struct Talk {
    client: Client,
    topics: Topics,
    states: Arc<Mutex<BTreeMap<String, String>>>,
    link: Arc<Link>,
    takes_commands: bool,
    tags: BTreeMap<String, String>,
    names: Vec<String>,
    orders: Sender<MqttOrder>,
}

impl Talk {
    fn run(self, mut connection: Connection) {
        let mut wait = Duration::from_millis(500);
        let mut is_told = false;
        for event in connection.iter() {
            match event {
                Ok(MqttEvent::Incoming(Packet::ConnAck(_))) => {
                    (wait, is_told) = (Duration::from_millis(500), false);
                    self.link.is_connected.store(true, Ordering::SeqCst);
                    tracing::info!("connected to the broker");
                    self.greet();
                }
                Ok(MqttEvent::Incoming(Packet::PubAck(_))) => {
                    self.link.acknowledged.fetch_add(1, Ordering::SeqCst);
                }
                Ok(MqttEvent::Incoming(Packet::Publish(publish))) => {
                    self.order(&publish.topic, &publish.payload);
                }
                Ok(_) => {}
                Err(error) => {
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
            let _ = self.client.try_publish(topic, QoS::AtMostOnce, true, body);
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
            let _ = self.client.try_subscribe(topic, QoS::AtLeastOnce);
        }
        if self.takes_commands {
            let _ = self.client.try_subscribe(self.topics.of("+", "set"), QoS::AtLeastOnce);
        }
    }

    fn order(&self, topic: &str, payload: &[u8]) {
        let text = String::from_utf8_lossy(payload).trim().to_owned();
        let order = if let Some(machine) = self.tags.get(topic) {
            let state: String = text.chars().take(64).collect();
            MqttOrder::Command(machine.clone(), Command::Tag { state })
        } else {
            let before = format!("{}/{}/", self.topics.prefix, self.topics.site);
            let machine = topic.strip_prefix(&before).and_then(|it| it.strip_suffix("/set"));
            let Some(machine) = machine else { return };
            match serde_json::from_str::<Command>(&text) {
                Ok(command) => MqttOrder::Command(machine.to_owned(), command),
                Err(error) => MqttOrder::Nonsense(machine.to_owned(), error.to_string()),
            }
        };
        // If nobody takes it, the monitor is stopping.
        let _ = self.orders.send(order);
    }
}

/// Events go through the outbox: each is acknowledged before the next one is sent.
struct Events {
    client: Client,
    topics: Topics,
    link: Arc<Link>,
}

impl Deliver for Events {
    fn deliver(&mut self, message: &Message<'_>) -> std::result::Result<(), Failure> {
        if !self.link.is_connected.load(Ordering::SeqCst) {
            return Err(Failure::passing("the broker is not there"));
        }
        let before = self.link.acknowledged.load(Ordering::SeqCst);
        let topic = self.topics.of(&message.event.machine, "event");
        let body = message.json().to_string();
        self.client.try_publish(topic, QoS::AtLeastOnce, false, body).map_err(Failure::passing)?;
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
