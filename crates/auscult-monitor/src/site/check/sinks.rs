//! Who is told, and how.

use std::{collections::BTreeSet, ops::Range, path::Path};

use toml::Spanned;

use super::{Checking, certificates::check_certificates, host_and_port};
use crate::site::file::{EmailFile, MqttFile, NEWS, WebhookFile};

impl Checking<'_> {
    pub(super) fn mqtt(&mut self, mqtt: &Spanned<MqttFile>, base: &Path) {
        let (span, file) = (mqtt.span(), mqtt.get_ref());
        if host_and_port(&file.broker, 1883).is_none() {
            let text = format!("mqtt.broker = {:?}: write \"host\" or \"host:1883\"", file.broker);
            self.problem_of(&span, "broker", text);
        }
        for (key, topic) in [("prefix", &file.prefix), ("discovery", &file.discovery)] {
            if topic.contains(['#', '+', '\0']) || topic.starts_with('/') {
                let text =
                    format!("mqtt.{key} = {topic:?}: no #, no +, and no slash at the beginning");
                self.problem_of(&span, key, text);
            }
        }
        match file.ca.as_ref().map(|ca| base.join(ca)) {
            Some(_) if !file.tls => {
                let text = "mqtt.ca has no effect: the connection is not encrypted; add tls = true";
                self.problem_of(&span, "ca", text);
            }
            Some(ca) if !ca.is_file() => {
                self.problem_of(&span, "ca", format!("mqtt.ca: {} is not there", ca.display()));
            }
            Some(ca) => {
                if let Err(problem) = check_certificates(&ca) {
                    self.problem_of(&span, "ca", format!("mqtt.ca: {problem}"));
                }
            }
            None => {}
        }
        self.secret(&span, "mqtt", "password_env", file.password_env.as_deref());
        if !cfg!(feature = "mqtt") {
            self.problem(Some(span), "this program was built without MQTT");
        }
    }

    pub(super) fn webhook(&mut self, webhook: &Spanned<WebhookFile>, names: &BTreeSet<&str>) {
        let (span, file) = (webhook.span(), webhook.get_ref());
        if !(file.url.starts_with("http://") || file.url.starts_with("https://")) {
            let text = format!("webhook.url = {:?} does not begin with http", file.url);
            self.problem_of(&span, "url", text);
        }
        self.secret(&span, "webhook", "secret_env", file.secret_env.as_deref());
        self.news_and_machines(&span, "webhook", &file.tells, &file.machines, names);
    }

    pub(super) fn email(&mut self, email: &Spanned<EmailFile>, names: &BTreeSet<&str>) {
        let (span, file) = (email.span(), email.get_ref());
        if host_and_port(&file.server, 587).is_none() {
            let text = format!("email.server = {:?}: write \"host\" or \"host:587\"", file.server);
            self.problem_of(&span, "server", text);
        }
        if file.to.is_empty() {
            self.problem_of(&span, "to", "email.to is empty: nobody would be told");
        }
        let to = file.to.iter().map(|address| ("to", address));
        for (key, address) in to.chain([("from", &file.from)]).filter(|(_, it)| !it.contains('@')) {
            self.problem_of(&span, key, format!("email.{key}: {address:?} is not an address"));
        }
        self.secret(&span, "email", "password_env", file.password_env.as_deref());
        self.news_and_machines(&span, "email", &file.tells, &file.machines, names);
        if !cfg!(feature = "email") {
            self.problem(Some(span), "this program was built without e-mail");
        }
    }

    fn news_and_machines(
        &mut self,
        span: &Range<usize>,
        sink: &str,
        tells: &[String],
        machines: &[String],
        names: &BTreeSet<&str>,
    ) {
        for news in tells.iter().filter(|news| !NEWS.contains(&news.as_str())) {
            let text = format!("{sink}.tells: {news:?} is not one of {}", NEWS.join(", "));
            self.problem_of(span, "tells", text);
        }
        for machine in machines.iter().filter(|name| !names.contains(name.as_str())) {
            let text = format!("{sink}.machines: there is no machine {machine:?}");
            self.problem_of(span, "machines", text);
        }
    }

    fn secret(&mut self, table: &Range<usize>, name: &str, key: &str, variable: Option<&str>) {
        let Some(variable) = variable else { return };
        if std::env::var_os(variable).is_none() {
            let text = format!("{name}.{key}: the environment variable {variable} is not set");
            self.problem_of(table, key, text);
        }
    }
}
