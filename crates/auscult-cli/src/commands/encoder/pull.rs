//! `auscult encoder pull`: fetched in parts, verified, then put in its place.

use std::{fs, path::Path};

use anyhow::Context as _;
use auscult::encoders::{Checkpoint, Encoder, KNOWN, KnownEncoder};
use auscult::fetch::{self, Checksum, Encryption, Fetcher, Remote, RemoteSize};

use crate::{args::TrustArguments, context::Context, fetching::FetchBar};

/// No encoder here is larger.
const LARGEST_BYTES: u64 = 4 << 30;

pub(super) fn run(
    name: &str,
    from: Option<&str>,
    sha256: Option<&str>,
    trust: TrustArguments,
    context: &Context,
) -> anyhow::Result<()> {
    let Some(known) = KnownEncoder::named(name) else {
        let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        anyhow::bail!("unknown encoder {name:?}; known: {}", names.join(", "));
    };
    let source = from.unwrap_or(known.source);
    anyhow::ensure!(
        !source.is_empty(),
        "{}: {}; give the link with --from",
        known.name,
        known.note
    );
    let folder = auscult::front_ends::encoder_folder().context(
        "no folder for encoders: set AUSCULT_ENCODERS to one, or HOME to your home folder",
    )?;
    let target = folder.join(known.file);
    let wanted = sha256.or(known.sha256);
    if target.is_file() {
        let again = || format!("{}: delete it and pull again", target.display());
        let encoder = Encoder::load(&Checkpoint::open(&target)?).with_context(again)?;
        known.check_size(&encoder).with_context(again)?;
        if let Some(wanted) = wanted {
            let found = Checksum::Sha256.of(&target)?;
            anyhow::ensure!(
                wanted.eq_ignore_ascii_case(&found),
                "{} is here already and has sha256 {found}, expected {wanted}; delete it and pull again",
                target.display()
            );
        }
        return context.printer.line(format!(
            "{} is here already: {}",
            target.display(),
            encoder.label()
        ));
    }
    if wanted.is_none() && !trust.unverified && is_address(source) {
        let url = source.to_owned();
        let unverified = anyhow::Error::from(fetch::Error::Unverified { url });
        return Err(unverified.context(format!("{} was not fetched", known.name)));
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let partial = folder.join(format!("{}.part", known.file));
    fetch(known, source, trust.encryption(), [&partial, &target], context)?;
    let found = Checksum::Sha256.of(&partial)?;
    match wanted {
        Some(wanted) if !wanted.eq_ignore_ascii_case(&found) => {
            fs::remove_file(&partial)?;
            anyhow::bail!(
                "{source} has sha256 {found}, expected {wanted}: it was thrown away; try again, or \
                 another place with --from"
            );
        }
        Some(_) => {}
        None => context.printer.note(format!(
            "{} was not verified: nobody published a checksum; its sha256 is {found}",
            known.name
        )),
    }
    let encoder = Checkpoint::open(&partial).and_then(|checkpoint| Encoder::load(&checkpoint));
    let encoder = encoder.and_then(|encoder| known.check_size(&encoder).map(|()| encoder));
    let encoder = match encoder {
        Ok(encoder) if encoder.architecture() == known.architecture => encoder,
        other => {
            fs::remove_file(&partial)?;
            let found = match other {
                Ok(encoder) => format!("it holds {}", encoder.label()),
                Err(error) => error.to_string(),
            };
            anyhow::bail!("{source} is not {}: {found}", known.name);
        }
    };
    fs::rename(&partial, &target).with_context(|| format!("cannot write {}", target.display()))?;
    context.printer.line(format!("{}: {}", target.display(), encoder.label()))
}

/// Fetches what is missing of a file, or copies it.
fn fetch(
    known: &KnownEncoder,
    source: &str,
    encryption: Encryption,
    [partial, target]: [&Path; 2],
    context: &Context,
) -> anyhow::Result<()> {
    if !is_address(source) {
        fs::copy(source, partial).with_context(|| format!("cannot read {source}"))?;
        return Ok(());
    }
    let advice = format!(
        "check the connection, or download it with a browser, put it at {} and run auscult encoder check {}; \
         --from names another address or a file",
        target.display(),
        known.name
    );
    let size = RemoteSize::AtMost(LARGEST_BYTES);
    let remote = Remote { url: source, size, advice: &advice };
    let mut bar = FetchBar::new(known.name, context);
    let fetcher = Fetcher::new(source, encryption)?;
    fetcher.fetch(&remote, partial, &mut |done, size| bar.update(done, size))?;
    Ok(())
}

/// Whether it is fetched, and not copied.
fn is_address(source: &str) -> bool {
    source.starts_with("http://") || source.starts_with("https://")
}
