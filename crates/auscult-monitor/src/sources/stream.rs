//! Raw samples that arrive as they are recorded: over TCP, or on standard input.

use std::{net::SocketAddr, time::Instant};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use super::{Backoff, FIRST_WAIT, Losses, STALLED, Tap, pcm::Decoder, report};
use crate::{clock::Clock, site::Pcm};

/// How many bytes are taken at once.
const AT_ONCE: usize = 1 << 16;

pub(super) async fn tcp(address: SocketAddr, pcm: Pcm, taps: Vec<Tap>, clock: Clock) {
    let listener = listen(address, &taps).await;
    report(&taps, false, &format!("nobody is connected to tcp {address}"), false).await;
    let (mut losses, began) = (Losses::default(), Instant::now());
    // Whether the last loss was told: then its end is, too.
    let mut is_missed = false;
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%address, %error, "a connection failed");
                tokio::time::sleep(FIRST_WAIT).await;
                continue;
            }
        };
        tracing::info!(%address, %peer, "connected");
        report(&taps, true, &format!("{peer} is connected"), is_missed).await;
        let end = serve(&listener, stream, pcm, &taps, &clock).await;
        is_missed = losses.is_news(began.elapsed());
        let text = format!("nobody is connected to tcp {address}: {end}");
        report(&taps, false, &text, is_missed).await;
    }
}

/// Listens as soon as the address can be had.
async fn listen(address: SocketAddr, taps: &[Tap]) -> TcpListener {
    let mut backoff = Backoff::default();
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            Err(error) => {
                backoff
                    .report_and_wait(taps, &format!("cannot listen at {address}: {error}"))
                    .await;
            }
        }
    }
}

/// One connection to its end; others are turned away meanwhile.
async fn serve(
    listener: &TcpListener,
    stream: TcpStream,
    pcm: Pcm,
    taps: &[Tap],
    clock: &Clock,
) -> String {
    let others = async {
        loop {
            if let Ok((_, peer)) = listener.accept().await {
                tracing::warn!(%peer, "turned away: somebody is connected already");
            }
        }
    };
    tokio::select! {
        end = pump(stream, pcm, taps, clock) => end,
        () = others => String::new(),
    }
}

pub(super) async fn stdin(pcm: Pcm, taps: Vec<Tap>, clock: Clock) {
    report(&taps, true, "standard input", false).await;
    let end = pump(tokio::io::stdin(), pcm, &taps, &clock).await;
    report(&taps, false, &format!("standard input: {end}"), true).await;
}

/// Delivers samples until the end; says how it ended.
async fn pump(mut stream: impl AsyncRead + Unpin, pcm: Pcm, taps: &[Tap], clock: &Clock) -> String {
    let mut decoder = Decoder::new(pcm);
    let mut bytes = vec![0; AT_ONCE];
    let mut is_stalled = false;
    loop {
        let count = match timeout(STALLED, stream.read(&mut bytes)).await {
            Ok(Ok(0)) => return "the sound has ended".to_owned(),
            Ok(Ok(count)) => count,
            Ok(Err(error)) => return error.to_string(),
            Err(_) => {
                if !is_stalled {
                    is_stalled = true;
                    let text = format!("connected, but silent for {} s", STALLED.as_secs());
                    report(taps, false, &text, true).await;
                }
                continue;
            }
        };
        if is_stalled {
            is_stalled = false;
            report(taps, true, "sound arrives again", true).await;
        }
        let channels = decoder.channels(&bytes[..count]);
        let arrived = clock.now();
        for tap in taps {
            let Some(samples) = channels.get(usize::from(tap.channel) - 1) else { continue };
            if !samples.is_empty() {
                tap.sound(samples.clone(), pcm.sample_rate, arrived).await;
            }
        }
    }
}
