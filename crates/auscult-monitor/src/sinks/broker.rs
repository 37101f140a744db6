//! One broker, whichever version of MQTT it is spoken to in. Nothing else knows the client library.

use std::{path::Path, sync::Arc, time::Duration};

use rumqttc::{TlsConfiguration, Transport, v5};

use super::webhook::secret;
use crate::{
    error::{Error, Result},
    site::{MqttFile, MqttVersion, host_and_port},
};

/// The side that sends; copies send to the same broker.
#[derive(Clone)]
pub(super) enum Broker {
    V3(rumqttc::Client),
    V5(v5::Client),
}

/// The side that hears; it must be drained for anything to be sent.
pub(super) enum Hearing {
    V3(Box<rumqttc::Connection>),
    V5(Box<v5::Connection>),
}

/// What a broker says.
pub(super) enum Heard {
    /// The connection stands.
    Connected,
    /// One message that asked for it has been acknowledged.
    Acknowledged,
    /// A message of a topic that was subscribed.
    Message { topic: String, payload: Vec<u8> },
    /// The connection is lost, or cannot be made.
    Lost(String),
    /// Nothing that matters here.
    Other,
}

/// Whether the broker confirms that it has a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Care {
    /// Sent and forgotten: the next one is newer.
    Newest,
    /// Acknowledged.
    Confirmed,
}

impl Care {
    fn v3(self) -> rumqttc::QoS {
        match self {
            Self::Newest => rumqttc::QoS::AtMostOnce,
            Self::Confirmed => rumqttc::QoS::AtLeastOnce,
        }
    }

    fn v5(self) -> v5::mqttbytes::QoS {
        match self {
            Self::Newest => v5::mqttbytes::QoS::AtMostOnce,
            Self::Confirmed => v5::mqttbytes::QoS::AtLeastOnce,
        }
    }
}

/// Who is said to be gone, and where.
pub(super) struct Will<'a> {
    pub(super) topic: &'a str,
    pub(super) text: &'static str,
}

/// How often a quiet connection shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The largest message.
const MOST_BYTES: u32 = 1 << 20;

impl Broker {
    /// A connection that is made as soon as the broker is there; `room` messages wait for the network.
    ///
    /// # Errors
    ///
    /// If the configuration cannot be used.
    pub(super) fn connect(
        file: &MqttFile,
        client: &str,
        will: &Will<'_>,
        room: usize,
    ) -> Result<(Self, Hearing)> {
        let refused = |text: String| Error::Refused(format!("mqtt.broker {}: {text}", file.broker));
        let usual = if file.tls { 8883 } else { 1883 };
        let (host, port) = host_and_port(&file.broker, usual)
            .ok_or_else(|| refused("is not a host".to_owned()))?;
        let transport =
            if file.tls { Some(encrypted(file.ca.as_deref()).map_err(refused)?) } else { None };
        let password = secret(file.password_env.as_deref())?.unwrap_or_default();
        Ok(match file.version {
            MqttVersion::V3 => {
                let mut options = rumqttc::MqttOptions::new(client, host, port);
                options.set_keep_alive(KEEP_ALIVE);
                options.set_max_packet_size(MOST_BYTES as usize, MOST_BYTES as usize);
                let care = Care::Confirmed.v3();
                options.set_last_will(rumqttc::LastWill::new(will.topic, will.text, care, true));
                if let Some(user) = &file.user {
                    options.set_credentials(user, password);
                }
                if let Some(transport) = transport {
                    options.set_transport(transport);
                }
                let (sending, hearing) = rumqttc::Client::new(options, room);
                (Self::V3(sending), Hearing::V3(Box::new(hearing)))
            }
            MqttVersion::V5 => {
                let mut options = v5::MqttOptions::new(client, host, port);
                options.set_keep_alive(KEEP_ALIVE);
                options.set_max_packet_size(Some(MOST_BYTES));
                let care = Care::Confirmed.v5();
                options.set_last_will(v5::mqttbytes::v5::LastWill::new(
                    will.topic, will.text, care, true, None,
                ));
                if let Some(user) = &file.user {
                    options.set_credentials(user, password);
                }
                if let Some(transport) = transport {
                    options.set_transport(transport);
                }
                let (sending, hearing) = v5::Client::new(options, room);
                (Self::V5(sending), Hearing::V5(Box::new(hearing)))
            }
        })
    }

    /// Puts a message on its way; the error says why it is not taken.
    pub(super) fn publish(
        &self,
        topic: String,
        care: Care,
        is_retained: bool,
        body: String,
    ) -> std::result::Result<(), String> {
        match self {
            Self::V3(client) => client
                .try_publish(topic, care.v3(), is_retained, body)
                .map_err(|error| error.to_string()),
            Self::V5(client) => client
                .try_publish(topic, care.v5(), is_retained, body)
                .map_err(|error| error.to_string()),
        }
    }

    /// Asks for the messages of a topic.
    pub(super) fn subscribe(&self, topic: String) -> std::result::Result<(), String> {
        let care = Care::Confirmed;
        match self {
            Self::V3(client) => {
                client.try_subscribe(topic, care.v3()).map_err(|error| error.to_string())
            }
            Self::V5(client) => {
                client.try_subscribe(topic, care.v5()).map_err(|error| error.to_string())
            }
        }
    }

    /// Says goodbye, so that the will is not carried out.
    pub(super) fn disconnect(&self) {
        // A queue that is full is a broker that is gone.
        match self {
            Self::V3(client) => drop(client.try_disconnect()),
            Self::V5(client) => drop(client.try_disconnect()),
        }
    }
}

impl Hearing {
    /// Waits for what comes next; `None` when nobody sends any more.
    pub(super) fn next(&mut self) -> Option<Heard> {
        match self {
            Self::V3(connection) => Some(match connection.iter().next()? {
                Ok(rumqttc::Event::Incoming(packet)) => match packet {
                    rumqttc::Packet::ConnAck(_) => Heard::Connected,
                    rumqttc::Packet::PubAck(_) => Heard::Acknowledged,
                    rumqttc::Packet::Publish(message) => {
                        let payload = message.payload.to_vec();
                        Heard::Message { topic: message.topic, payload }
                    }
                    _ => Heard::Other,
                },
                Ok(rumqttc::Event::Outgoing(_)) => Heard::Other,
                Err(error) => Heard::Lost(error.to_string()),
            }),
            Self::V5(connection) => Some(match connection.iter().next()? {
                Ok(v5::Event::Incoming(packet)) => match packet {
                    v5::Incoming::ConnAck(_) => Heard::Connected,
                    v5::Incoming::PubAck(_) => Heard::Acknowledged,
                    v5::Incoming::Publish(message) => Heard::Message {
                        topic: String::from_utf8_lossy(&message.topic).into_owned(),
                        payload: message.payload.to_vec(),
                    },
                    _ => Heard::Other,
                },
                Ok(v5::Event::Outgoing(_)) => Heard::Other,
                Err(error) => Heard::Lost(error.to_string()),
            }),
        }
    }
}

/// Encryption that trusts the certificates of a file, or those of the system.
fn encrypted(ca: Option<&Path>) -> std::result::Result<Transport, String> {
    // Set once for the whole program; if somebody was first, theirs is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut roots = rustls::RootCertStore::empty();
    match ca {
        Some(path) => {
            use rustls::pki_types::{CertificateDer, pem::PemObject};
            let found = CertificateDer::pem_file_iter(path);
            for certificate in found.map_err(|error| format!("{}: {error}", path.display()))? {
                let certificate = certificate.map_err(|error| error.to_string())?;
                roots.add(certificate).map_err(|error| error.to_string())?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let config =
        rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    Ok(Transport::Tls(TlsConfiguration::Rustls(Arc::new(config))))
}
