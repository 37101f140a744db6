//! `auscult encoder pull`: fetched in parts, verified, then put in its place.

use std::{
    fmt::Write as _,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::Path,
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use auscult_encoders::{Checkpoint, Encoder, KNOWN, KnownEncoder};
use sha2::{Digest, Sha256};
use ureq::{
    Agent,
    tls::{Certificate, RootCerts, TlsConfig},
};

use crate::{front_ends, interrupt, printer::Printer, progress};

/// No encoder here is larger.
const LARGEST_BYTES: u64 = 4 << 30;

pub(super) fn run(
    name: &str,
    from: Option<&str>,
    sha256: Option<&str>,
    printer: &Printer,
) -> anyhow::Result<()> {
    let Some(known) = KnownEncoder::named(name) else {
        let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        anyhow::bail!("unknown encoder {name:?}; known: {}", names.join(", "));
    };
    let source = from.unwrap_or(known.source);
    anyhow::ensure!(!source.is_empty(), "{}: {}", known.name, known.note);
    let folder = front_ends::folder().context(
        "no folder for encoders: set AUSCULT_ENCODERS to one, or HOME to your home folder",
    )?;
    let target = folder.join(known.file);
    if target.is_file() {
        let again = || format!("{}: delete it and pull again", target.display());
        let encoder = Encoder::load(&Checkpoint::open(&target)?).with_context(again)?;
        known.check_size(&encoder).with_context(again)?;
        if let Some(wanted) = sha256.or(known.sha256) {
            let found = digest(&target)?;
            anyhow::ensure!(
                wanted.eq_ignore_ascii_case(&found),
                "{} is here already and has sha256 {found}, expected {wanted}; delete it and pull again",
                target.display()
            );
        }
        return printer.line(format!("{} is here already: {}", target.display(), encoder.label()));
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let partial = folder.join(format!("{}.part", known.file));
    fetch(source, &partial, printer)?;
    let found = digest(&partial)?;
    match sha256.or(known.sha256) {
        Some(wanted) if !wanted.eq_ignore_ascii_case(&found) => {
            fs::remove_file(&partial)?;
            anyhow::bail!(
                "{source} has sha256 {found}, expected {wanted}: it was thrown away; try again, or \
                 another place with --from"
            );
        }
        Some(_) => {}
        None => printer
            .note(format!("nobody published a checksum of {}; its sha256 is {found}", known.name)),
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
            anyhow::bail!("{source} is no {}: {found}", known.name);
        }
    };
    fs::rename(&partial, &target).with_context(|| format!("cannot write {}", target.display()))?;
    printer.line(format!("{}: {}", target.display(), encoder.label()))
}

/// Fetches what is missing of a file.
fn fetch(source: &str, partial: &Path, printer: &Printer) -> anyhow::Result<()> {
    let have = fs::metadata(partial).map_or(0, |metadata| metadata.len());
    if !(source.starts_with("http://") || source.starts_with("https://")) {
        let mut from = File::open(source).with_context(|| format!("cannot read {source}"))?;
        let mut to =
            File::create(partial).with_context(|| format!("cannot write {}", partial.display()))?;
        io::copy(&mut from, &mut to)?;
        return Ok(());
    }
    let mut request = agent(source)?.get(source);
    if have > 0 {
        request = request.header("Range", format!("bytes={have}-"));
    }
    let response = match request.call() {
        Ok(response) => response,
        // Nothing beyond what is here: the file is complete.
        Err(ureq::Error::StatusCode(416)) if have > 0 => return Ok(()),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot fetch {source}"));
        }
    };
    let resumed = response.status() == 206;
    if resumed {
        printer.note(format!("going on after {:.1} MB", have as f64 / 1e6));
    }
    let mut file =
        if resumed { OpenOptions::new().append(true).open(partial) } else { File::create(partial) }
            .with_context(|| format!("cannot write {}", partial.display()))?;
    let mut body = response.into_body();
    let length = body.content_length().unwrap_or(0);
    let bar = progress::bar((length / MEGABYTE) as usize, "MB");
    let mut reader = body.as_reader().take(LARGEST_BYTES);
    let (mut buffer, mut done) = (vec![0; 1 << 16], 0_u64);
    loop {
        let count = reader
            .read(&mut buffer)
            .with_context(|| format!("{source} broke off; run again to go on"))?;
        if count == 0 {
            break;
        }
        file.write_all(&buffer[..count])?;
        done += count as u64;
        bar.set_position(done / MEGABYTE);
        anyhow::ensure!(!interrupt::is_asked(), "stopped; run again to go on");
    }
    anyhow::ensure!(
        length == 0 || done == length,
        "{source} broke off after {done} of {length} bytes; run again to go on"
    );
    Ok(())
}

/// A client that trusts the certificates of this system.
fn agent(source: &str) -> anyhow::Result<Agent> {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let mut config =
        Agent::config_builder().timeout_connect(seconds(30)).timeout_recv_response(seconds(60));
    if source.starts_with("https:") {
        let found = rustls_native_certs::load_native_certs();
        anyhow::ensure!(
            !found.certs.is_empty(),
            "this system has no root certificates; install ca-certificates"
        );
        let certificates: Vec<Certificate<'static>> =
            found.certs.iter().map(|found| Certificate::from_der(found).to_owned()).collect();
        let roots = RootCerts::Specific(Arc::new(certificates));
        // The provider must be the process's before the first connection; a second is not needed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
    }
    Ok(config.build().new_agent())
}

const MEGABYTE: u64 = 1_000_000;

fn digest(path: &Path) -> anyhow::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
    }
    Ok(hexadecimal(&hasher.finalize()))
}

/// A checksum as people write it.
pub(super) fn hexadecimal(digest: &[u8]) -> String {
    let add = |mut text: String, byte: &u8| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    };
    digest.iter().fold(String::new(), add)
}
