//! A message about an event, in the forms that receivers take.

use serde_json::{Value, json};

use crate::watch::Event;

/// An event on its way to somebody.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// The event.
    pub event: &'a Event,
    /// What the site is called.
    pub site: &'a str,
    /// Links begin with this.
    pub public_url: Option<&'a str>,
}

impl Message<'_> {
    /// `pump-7: alarm`.
    pub fn title(&self) -> String {
        let word = match self.event.news() {
            "normal" => "normal again",
            "drift" => "the normal has moved",
            "reminder" => "alarm, still not acknowledged",
            "no-data" => "no data",
            "sensor-fault" => "sensor fault",
            "not-running" => "not running",
            other => other,
        };
        format!("{}: {word}", self.event.machine)
    }

    /// Where people can look at it.
    pub fn link(&self) -> Option<String> {
        Some(format!("{}/events/{}", self.public_url?, self.event.id))
    }

    /// Everything in a few lines.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.event.sentence());
        if let Some(heard) = &self.event.details.heard {
            text += "What can be heard: ";
            text += heard;
            text.push('\n');
        }
        if self.event.news() == "alarm" {
            let name = &self.event.machine;
            text += "Listen, then look at the machine; auscult watch acknowledge ";
            text += name;
            text += " says that somebody does.\n";
        }
        if let Some(link) = self.link() {
            text += &link;
            text.push('\n');
        }
        text
    }

    /// Whether somebody should get up at night.
    pub fn is_urgent(&self) -> bool {
        matches!(self.event.news(), "alarm" | "reminder")
    }

    /// The event for programs.
    pub fn json(&self) -> Value {
        let mut value = self.event.to_json();
        if let Some(fields) = value.as_object_mut() {
            fields.insert("site".to_owned(), self.site.into());
            fields.insert("news".to_owned(), self.event.news().into());
            fields.insert("title".to_owned(), self.title().into());
            if let Some(link) = self.link() {
                fields.insert("link".to_owned(), link.into());
            }
        }
        value
    }

    /// For Slack and everything that takes its messages.
    pub fn slack(&self) -> Value {
        json!({ "text": format!("*{}*\n{}", escaped(&self.title()), escaped(&self.text())) })
    }

    /// An adaptive card, for Teams' workflows.
    pub fn teams(&self) -> Value {
        let block = |text: String, weight: &str| json!({ "type": "TextBlock", "text": text, "weight": weight, "wrap": true });
        json!({ "type": "message", "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "content": {
                "type": "AdaptiveCard",
                "version": "1.4",
                "body": [block(self.title(), "Bolder"), block(self.text(), "Default")],
            },
        }] })
    }
}

/// Slack takes three letters as markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
