//! What a microphone hears right now: level, clipping, hum and spectrum.

use std::{
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use auscult::quality::{QualityMeter, third_octaves};
use auscult_monitor::{clock::utc, news::Listener, watch::Sound};
use axum::{
    Extension,
    body::{Body, Bytes},
    extract::State,
    response::Response,
};
use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::stream::{Leave, answer};
use crate::{
    access::Principal,
    error::{Problem, Result},
    extract::Path,
    state::App,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(live))
}

/// What is heard: the data of `event: level`.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Level {
    time: String,
    dbfs: f64,
    peak_dbfs: f64,
    /// Whether samples were at full scale.
    clipped: bool,
    /// 50 or 60 if the line hums.
    hum_hertz: Option<f64>,
    /// Levels of third octaves in dB.
    spectrum: Vec<f32>,
    /// Their edges, one more than there are levels.
    hertz: Vec<f64>,
}

/// So much sound is measured at a time, in seconds.
const PIECE_SECONDS: f64 = 0.5;

/// Values come at most this often.
const PAUSE: Duration = Duration::from_millis(400);

/// What is heard from now on, about twice a second while sound arrives.
#[utoipa::path(get, path = "/machines/{machine}/live", tag = "machines",
    params(("machine" = String, Path)), responses(
    (status = 200, content_type = "text/event-stream", description = "`event: level` with a Level as data", body = Level),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 429, description = "too many streams", body = Problem, content_type = "application/problem+json"),
))]
async fn live(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    Path(name): Path<String>,
) -> Result<Response> {
    app.machine(&name)?;
    let permit = app.stream_permit()?;
    let listener = app.monitor().listening_in().listen(&name);
    let listening = Listening {
        leave: Leave::new(app, principal),
        listener,
        gathered: Vec::new(),
        rate: 0,
        meter: None,
        sent: None,
        _permit: permit,
    };
    Ok(answer(Body::from_stream(stream::unfold(listening, Listening::next).fuse())))
}

/// Somebody who listens in.
struct Listening {
    leave: Leave,
    listener: Listener,
    gathered: Vec<f32>,
    rate: u32,
    meter: Option<QualityMeter>,
    sent: Option<Instant>,
    _permit: OwnedSemaphorePermit,
}

impl Listening {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        loop {
            match self.leave.wait(self.listener.next()).await? {
                Ok(Some(sound)) => {
                    if let Some(bytes) = self.hear(&sound) {
                        return Some((Ok(bytes), self));
                    }
                }
                Ok(None) => return None,
                Err(_) => return Some((Ok(Bytes::from_static(b": still here\n\n")), self)),
            }
        }
    }

    /// Gathers sound, and measures it when there is enough.
    fn hear(&mut self, sound: &Arc<Sound>) -> Option<Bytes> {
        if sound.sample_rate != self.rate {
            self.rate = sound.sample_rate;
            self.gathered.clear();
            self.meter = Some(QualityMeter::new(sound.sample_rate));
        }
        let wanted = (PIECE_SECONDS * f64::from(self.rate)) as usize;
        self.gathered.extend_from_slice(&sound.samples);
        if self.gathered.len() < wanted || self.sent.is_some_and(|sent| sent.elapsed() < PAUSE) {
            // Of long pieces only the end is news.
            let excess = self.gathered.len().saturating_sub(4 * wanted);
            self.gathered.drain(..excess);
            return None;
        }
        let meter = self.meter.as_mut()?;
        let quality = meter.measure(&self.gathered);
        let spectrum = meter.spectrum_dbfs().to_vec();
        self.gathered.clear();
        self.sent = Some(Instant::now());
        let quality = quality?;
        let level = Level {
            time: utc(sound.arrived),
            dbfs: quality.level_dbfs,
            peak_dbfs: quality.peak_dbfs,
            clipped: quality.clipped_share > 0.0,
            hum_hertz: quality.hum.map(|hum| hum.mains_hertz),
            spectrum,
            hertz: third_octaves(self.rate),
        };
        let body = serde_json::to_string(&level).unwrap_or_default();
        Some(format!("event: level\ndata: {body}\n\n").into())
    }
}
