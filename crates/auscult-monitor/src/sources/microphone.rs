//! A microphone of this computer, a machine a channel.

use std::{sync::mpsc as standard, time::Duration};

use cpal::{
    Device, FromSample, Sample, SampleFormat, SizedSample, SupportedStreamConfig,
    traits::{DeviceTrait, HostTrait, StreamTrait},
};
use tokio::{sync::mpsc, time::timeout};

use super::{Backoff, STALLED, Tap, begun, deliver};
use crate::clock::Clock;

/// Pieces of sound that wait for the monitor; about ten seconds of a usual driver.
const WAITING: usize = 1_000;

/// What the thread of a device says.
enum Heard {
    /// The device is open: samples a second, and channels.
    Opened(u32, usize),
    /// Interleaved samples.
    Samples(Vec<f32>),
    /// It does not go on.
    Ended(String),
}

/// What is asked of a device.
struct Wanted {
    /// Its name; the default one if empty.
    name: String,
    /// Samples a second; its own if not given.
    sample_rate: Option<u32>,
    /// It needs at least this many channels.
    channels: u16,
}

pub(super) async fn microphone(
    device: String,
    sample_rate: Option<u32>,
    taps: Vec<Tap>,
    clock: Clock,
) {
    let mut backoff = Backoff::default();
    let channels = taps.iter().map(|tap| tap.channel).max().unwrap_or(1);
    loop {
        let (sender, receiver) = mpsc::channel(WAITING);
        // Dropped when this future is, which closes the device.
        let (_open, closed) = standard::channel::<()>();
        let wanted = Wanted { name: device.clone(), sample_rate, channels };
        let record = move || {
            if let Err(reason) = record(&wanted, &sender, &closed) {
                // Nobody listens if the monitor is stopping.
                let _ = sender.blocking_send(Heard::Ended(reason));
            }
        };
        let thread = std::thread::Builder::new().name("microphone".to_owned()).spawn(record);
        let end = match thread {
            Ok(_) => listen(receiver, &taps, &clock, &mut backoff).await,
            Err(error) => error.to_string(),
        };
        backoff.report_and_wait(&taps, &format!("{}: {end}", described(&device))).await;
    }
}

fn described(device: &str) -> String {
    match device {
        "" => "the default microphone".to_owned(),
        device => format!("microphone {device}"),
    }
}

/// Delivers what a device hears until it ends; says how.
async fn listen(
    mut receiver: mpsc::Receiver<Heard>,
    taps: &[Tap],
    clock: &Clock,
    backoff: &mut Backoff,
) -> String {
    let (mut rate, mut channels) = (0, 1);
    loop {
        match timeout(STALLED, receiver.recv()).await {
            Ok(Some(Heard::Opened(found_rate, found_channels))) => {
                (rate, channels) = (found_rate, found_channels);
                let text = format!("{channels} channels at {rate} Hz");
                begun(taps, channels, &text, backoff.succeeded()).await;
            }
            Ok(Some(Heard::Samples(interleaved))) => {
                deliver(taps, &interleaved, channels, rate, clock.now()).await;
            }
            Ok(Some(Heard::Ended(reason))) => return reason,
            Ok(None) => return "the device has ended".to_owned(),
            Err(_) => return format!("no sample for {} s", STALLED.as_secs()),
        }
    }
}

/// Records on this thread until `closed`, or the device fails.
fn record(
    wanted: &Wanted,
    sender: &mpsc::Sender<Heard>,
    closed: &standard::Receiver<()>,
) -> Result<(), String> {
    let device = find(&wanted.name)?;
    let config = choose(&device, wanted)?;
    let channels = usize::from(config.channels());
    // Errors of the device end the recording; what does not stop the sound is only written down.
    let (failed, failure) = standard::channel();
    let on_error = move |error: cpal::Error| match error.kind() {
        cpal::ErrorKind::Xrun => tracing::warn!("samples of a microphone were lost: {error}"),
        cpal::ErrorKind::RealtimeDenied | cpal::ErrorKind::DeviceChanged => {
            tracing::info!("microphone: {error}");
        }
        _ => {
            let _ = failed.send(error.to_string());
        }
    };
    let to = sender.clone();
    let stream = match config.sample_format() {
        SampleFormat::I16 => open::<i16>(&device, &config, to, on_error),
        SampleFormat::I24 => open::<cpal::I24>(&device, &config, to, on_error),
        SampleFormat::I32 => open::<i32>(&device, &config, to, on_error),
        SampleFormat::U8 => open::<u8>(&device, &config, to, on_error),
        SampleFormat::F32 => open::<f32>(&device, &config, to, on_error),
        SampleFormat::F64 => open::<f64>(&device, &config, to, on_error),
        other => return Err(format!("its samples are {other}, which is not supported")),
    };
    let stream = stream.map_err(|error| error.to_string())?;
    let _ = sender.blocking_send(Heard::Opened(config.sample_rate(), channels));
    stream.play().map_err(|error| error.to_string())?;
    loop {
        match closed.recv_timeout(Duration::from_millis(100)) {
            Err(standard::RecvTimeoutError::Timeout) => {}
            _ => return Ok(()),
        }
        if let Ok(reason) = failure.try_recv() {
            return Err(reason);
        }
    }
}

/// The device of this name, or the default one; otherwise which there are.
fn find(name: &str) -> Result<Device, String> {
    let host = cpal::default_host();
    if name.is_empty() {
        return host.default_input_device().ok_or_else(|| "there is none".to_owned());
    }
    let devices = || host.input_devices().map_err(|error| error.to_string());
    let id = |device: &Device| device.id().map(|id| id.id().to_owned()).unwrap_or_default();
    let is_wanted = |device: &Device| id(device) == name || device.to_string() == name;
    devices()?.find(is_wanted).ok_or_else(|| {
        let known: Vec<String> =
            devices().map(|devices| devices.map(|it| id(&it)).collect()).unwrap_or_default();
        format!("there is no such device; there are: {}", known.join(", "))
    })
}

/// Forms of samples that are read, the best first.
const FORMATS: [SampleFormat; 6] = [
    SampleFormat::F32,
    SampleFormat::F64,
    SampleFormat::I32,
    SampleFormat::I24,
    SampleFormat::I16,
    SampleFormat::U8,
];

/// The device's own form of samples where it suits, or the nearest one at the wanted rate with enough channels.
fn choose(device: &Device, wanted: &Wanted) -> Result<SupportedStreamConfig, String> {
    let own = device.default_input_config().map_err(|error| error.to_string())?;
    let rate = wanted.sample_rate.unwrap_or(own.sample_rate());
    let rank = |format: SampleFormat| FORMATS.iter().position(|known| *known == format);
    let suits = own.sample_rate() == rate && own.channels() >= wanted.channels;
    if suits && rank(own.sample_format()).is_some() {
        return Ok(own);
    }
    let supported = device.supported_input_configs().map_err(|error| error.to_string())?;
    let fitting = supported
        .filter(|config| config.channels() >= wanted.channels)
        .filter_map(|config| Some((rank(config.sample_format())?, config)))
        .filter_map(|(rank, config)| Some((rank, config.try_with_sample_rate(rate)?)));
    let best = fitting.min_by_key(|(rank, config)| (config.channels(), *rank));
    best.map(|(_, config)| config).ok_or_else(|| {
        let Wanted { channels, .. } = wanted;
        format!(
            "it cannot record {channels} channels at {rate} Hz; its own are {} at {} Hz",
            own.channels(),
            own.sample_rate()
        )
    })
}

/// A stream that sends what it hears; full queues lose sound, which is then seen as a gap.
fn open<T: SizedSample + Send + 'static>(
    device: &Device,
    config: &SupportedStreamConfig,
    sender: mpsc::Sender<Heard>,
    on_error: impl FnMut(cpal::Error) + Send + 'static,
) -> Result<cpal::Stream, cpal::Error>
where
    f32: FromSample<T>,
{
    let take = move |samples: &[T], _: &cpal::InputCallbackInfo| {
        let samples = samples.iter().map(|sample| f32::from_sample(*sample)).collect();
        let _ = sender.try_send(Heard::Samples(samples));
    };
    device.build_input_stream(config.config(), take, on_error, None)
}
