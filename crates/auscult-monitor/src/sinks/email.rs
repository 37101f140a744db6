//! E-mail: the event as text, and the page of an alarm with its sound attached.

use std::time::Duration;

use lettre::{
    Address, SmtpTransport, Transport,
    message::{Attachment, Mailbox, MultiPart, SinglePart, header::ContentType},
    transport::smtp::authentication::Credentials,
};

use super::{Deliver, Failure, Post, message::Message, page::event_page, webhook::secret};
use crate::{
    error::{Error, Result},
    site::{EmailFile, MailTls, host_and_port},
};

/// One mail server and who is told through it.
pub(super) struct Email {
    transport: SmtpTransport,
    from: Mailbox,
    to: Vec<Mailbox>,
    post: Post,
}

/// How long a server may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Larger pages are left out, and the mail says so: servers refuse what is large.
const LARGEST_PAGE: usize = 8 << 20;

impl Email {
    pub(super) fn new(file: &EmailFile, post: &Post) -> Result<Self> {
        let refused = |text: String| Error::Refused(format!("email {}: {text}", file.server));
        let usual = match file.tls {
            MailTls::Starttls => 587,
            MailTls::Tls => 465,
            MailTls::None => 25,
        };
        let (host, port) = host_and_port(&file.server, usual)
            .ok_or_else(|| refused("is not a host".to_owned()))?;
        let builder = match file.tls {
            MailTls::Starttls => SmtpTransport::starttls_relay(&host),
            MailTls::Tls => SmtpTransport::relay(&host),
            MailTls::None => Ok(SmtpTransport::builder_dangerous(&host)),
        };
        let mut builder =
            builder.map_err(|error| refused(error.to_string()))?.port(port).timeout(Some(PATIENCE));
        if let (Some(user), Some(password)) = (&file.user, secret(file.password_env.as_deref())?) {
            builder = builder.credentials(Credentials::new(user.clone(), password));
        }
        let mailbox = |text: &String| -> Result<Mailbox> {
            let parsed: std::result::Result<Mailbox, _> = text.parse();
            parsed.map_err(|error| refused(format!("{text:?}: {error}")))
        };
        Ok(Self {
            transport: builder.build(),
            from: mailbox(&file.from)?,
            to: file.to.iter().map(mailbox).collect::<Result<_>>()?,
            post: post.clone(),
        })
    }

    fn write(&self, message: &Message<'_>) -> std::result::Result<lettre::Message, Failure> {
        let domain = Address::domain(&self.from.email);
        let mut builder = lettre::Message::builder()
            .from(self.from.clone())
            .subject(format!("[{}] {}", message.site, message.title()))
            // The same event twice is the same mail: readers show it once.
            .message_id(Some(format!("<{}.{}@{domain}>", message.event.id, message.site)));
        for to in &self.to {
            builder = builder.to(to.clone());
        }
        let mut text = message.text();
        let page = match event_page(&self.post.data, message.event) {
            Ok(page) if page.as_ref().is_some_and(|page| page.len() > LARGEST_PAGE) => {
                text.push_str("The page of this alarm is too large for a mail.\n");
                None
            }
            Ok(page) => page,
            Err(error) => {
                text += "The page of this alarm could not be made: ";
                text += &error.to_string();
                text.push('\n');
                None
            }
        };
        let parts = MultiPart::mixed().singlepart(SinglePart::plain(text));
        let parts = match page {
            Some(page) => {
                let name = format!("{}.html", message.event.id);
                let attachment = Attachment::new(name).body(page, ContentType::TEXT_HTML);
                parts.singlepart(attachment)
            }
            None => parts,
        };
        builder.multipart(parts).map_err(Failure::lasting)
    }
}

impl Deliver for Email {
    fn deliver(&mut self, message: &Message<'_>) -> std::result::Result<(), Failure> {
        let mail = self.write(message)?;
        match self.transport.send(&mail) {
            Ok(_) => Ok(()),
            Err(error) if error.is_permanent() => Err(Failure::lasting(error)),
            Err(error) => Err(Failure::passing(error)),
        }
    }
}
