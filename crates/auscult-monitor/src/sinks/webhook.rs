//! Webhooks: signed, with a key by which a receiver knows a repetition.

use std::{fmt::Write as _, time::Duration};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use ureq::{
    Agent,
    tls::{Certificate, RootCerts, TlsConfig},
};

use super::{Deliver, Failure, message::Message};
use crate::{
    error::{Error, Result},
    site::{Template, WebhookFile},
};

/// One web address.
pub(super) struct Webhook {
    agent: Agent,
    url: String,
    template: Template,
    secret: Option<String>,
}

/// How long a receiver may take.
const PATIENCE: Duration = Duration::from_secs(20);

impl Webhook {
    pub(super) fn new(file: &WebhookFile) -> Result<Self> {
        let mut config = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .max_redirects(0);
        if file.url.starts_with("https:") {
            // Set once for the whole program; if somebody was first, theirs is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let found = rustls_native_certs::load_native_certs();
            let roots = found.certs.iter().map(|it| Certificate::from_der(it).to_owned());
            let roots: Vec<Certificate<'static>> = roots.collect();
            config =
                config.tls_config(TlsConfig::builder().root_certs(RootCerts::from(roots)).build());
        }
        let secret = secret(file.secret_env.as_deref())?;
        let (url, template) = (file.url.clone(), file.template);
        Ok(Self { agent: config.build().into(), url, template, secret })
    }
}

/// The value of a variable that holds a secret.
pub(super) fn secret(variable: Option<&str>) -> Result<Option<String>> {
    let Some(variable) = variable else { return Ok(None) };
    let missing = |_| Error::Refused(format!("the environment variable {variable} is not set"));
    std::env::var(variable).map(Some).map_err(missing)
}

impl Deliver for Webhook {
    fn deliver(&mut self, message: &Message<'_>) -> std::result::Result<(), Failure> {
        let (body, media_type) = match self.template {
            Template::Json => (message.json().to_string(), "application/json"),
            Template::Slack => (message.slack().to_string(), "application/json"),
            Template::Teams => (message.teams().to_string(), "application/json"),
            Template::Ntfy => (message.text(), "text/plain; charset=utf-8"),
        };
        let mut request = self
            .agent
            .post(&self.url)
            .header("content-type", media_type)
            .header("idempotency-key", &message.event.id);
        if let Some(secret) = &self.secret {
            request = request.header("x-auscult-signature", signature(secret, &body));
        }
        if self.template == Template::Ntfy {
            // Headers are plain letters; names of machines are.
            request = request.header("title", message.title());
            request =
                request.header("priority", if message.is_urgent() { "urgent" } else { "default" });
            if let Some(link) = message.link() {
                request = request.header("click", link);
            }
        }
        match request.send(body.as_bytes()) {
            Err(error) => Err(Failure::passing(error)),
            Ok(response) => match response.status().as_u16() {
                200..=299 => Ok(()),
                // This message will never be taken.
                status @ (400 | 405 | 411..=415 | 422) => {
                    Err(Failure::lasting(format!("status {status}")))
                }
                // Anything else passes: also 404 and 401, while somebody restarts or repairs the receiver.
                status => Err(Failure::passing(format!("status {status}"))),
            },
        }
    }
}

/// `sha256=` and the HMAC of the body, in hexadecimal.
pub(super) fn signature(secret: &str, body: &str) -> String {
    // Keys of any length are taken.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
        return String::new();
    };
    mac.update(body.as_bytes());
    let bytes = mac.finalize().into_bytes();
    let mut signature = "sha256=".to_owned();
    for byte in bytes {
        // Writing to a text cannot fail.
        let _ = write!(signature, "{byte:02x}");
    }
    signature
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_rfc_4231() {
        let expected = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signature("Jefe", "what do ya want for nothing?"), expected);
    }
}
