//! Archives as a caller uses them: the same rows on any number of threads, whole shards, errors in rows.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{
    collections::BTreeMap,
    f64::consts::TAU,
    fs::{self, File},
    io::{Read, Write},
    net::TcpListener,
    num::NonZeroUsize,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use auscult::{
    Cancel, Control, Event, FrontEnds, Learn, Machine, Preset, Sources, fetch::Encryption,
};
use auscult_archive::{
    ArchiveRow, ArchiveSummary, ClipReference, Error, FitArchive, Models, Plan, ScoreArchive,
    Settings, ShardScorer, Sound, Table, columns::Values,
};
use auscult_testing::wav;

const RATE: u32 = 16_000;

/// A hum with noise, different for every seed; a fault adds a whistle.
fn sound(seed: u64, seconds: f64, is_faulty: bool) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut noise = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let whistle = if is_faulty { 0.2 } else { 0.0 };
    let sample = |at: usize| {
        let time = at as f64 / f64::from(RATE);
        let hum = 0.1 * (TAU * 120.0 * time).sin() + whistle * (TAU * 3_000.0 * time).sin();
        (hum + 0.05 * noise()) as f32
    };
    (0..(seconds * f64::from(RATE)) as usize).map(sample).collect()
}

fn write(path: &Path, samples: &[f32]) {
    wav::write(&mut File::create(path).unwrap(), samples, RATE).unwrap();
}

struct Hall {
    folder: tempfile::TempDir,
}

impl Hall {
    /// A model of one machine, five short recordings, a long one, and a damaged one.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let hall = Self { folder };
        fs::create_dir(hall.path("normal")).unwrap();
        for seed in 0..30 {
            write(&hall.path(&format!("normal/{seed:02}.wav")), &sound(seed, 1.0, false));
        }
        let learn = Learn { preset: Preset::Paper, ..Learn::default() };
        let machine = Machine::learn(hall.path("normal"), &learn).unwrap();
        machine.save(hall.path("fan.auscult")).unwrap();
        for seed in 100..105 {
            write(&hall.path(&format!("{seed}.wav")), &sound(seed, 1.0, seed == 102));
        }
        let mut long = sound(200, 8.0, false);
        long.extend(sound(201, 4.0, true));
        write(&hall.path("long.wav"), &long);
        let bytes = fs::read(hall.path("long.wav")).unwrap();
        fs::write(hall.path("cut.wav"), &bytes[..bytes.len() / 3]).unwrap();
        hall
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn manifest(&self, text: &str) -> PathBuf {
        let path = self.path("clips.csv");
        fs::write(&path, text).unwrap();
        path
    }

    fn models(&self) -> Models {
        Models::open(&self.path("fan.auscult"), &FrontEnds::standard()).unwrap()
    }

    fn machine(&self) -> Machine {
        Machine::open(self.path("fan.auscult")).unwrap()
    }
}

/// Everything that scoring takes beside a plan.
struct Run {
    models: Models,
    settings: Settings,
    sound: Sound,
    jobs: usize,
    replace: bool,
    control: Control,
}

impl Run {
    fn new(hall: &Hall) -> Self {
        Self {
            models: hall.models(),
            settings: Settings::default(),
            sound: Sound::new(hall.folder.path(), Encryption::Required),
            jobs: 2,
            replace: false,
            control: Control::default(),
        }
    }

    fn scorer(&self) -> ShardScorer<'_> {
        let Self { models, settings, sound, control, .. } = self;
        let jobs = NonZeroUsize::new(self.jobs).unwrap();
        ShardScorer { models, settings, sound, jobs, control }
    }

    fn shard(&self, clips: &[ClipReference]) -> Vec<ArchiveRow> {
        self.scorer().score(clips).unwrap()
    }

    fn archive(&self, plan: &Plan, out: &Path) -> auscult_archive::Result<ArchiveSummary> {
        ScoreArchive { scorer: self.scorer(), out, replace: self.replace }.run(plan)
    }
}

fn clip(uri: &str) -> ClipReference {
    ClipReference { uri: uri.to_owned(), ..ClipReference::default() }
}

fn part(uri: &str, start: f64, seconds: f64) -> ClipReference {
    ClipReference { start_seconds: Some(start), seconds: Some(seconds), ..clip(uri) }
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files.map(|path| (name(&path), fs::read(&path).unwrap())).collect()
}

#[test]
fn rows_are_those_of_the_program_for_recordings_and_their_parts() {
    let hall = Hall::new();
    let run = Run::new(&hall);
    let names = ["100.wav", "102.wav", "long.wav"];
    let rows = run.shard(&names.map(clip));
    let machine = hall.machine();
    let heard = machine.listen(Sources::of(names.map(|name| hall.path(name))).unwrap());
    let heard: Vec<_> = heard.map(Result::unwrap).collect();
    assert_eq!(heard.len(), 14);
    for (row, record) in rows.iter().zip(&heard) {
        assert_eq!((row.score, row.p_value), (record.score(), record.p_value()));
        assert_eq!((row.start_seconds, row.seconds), (record.start_seconds, Some(record.seconds)));
        assert_eq!(row.verdict, record.verdict().name());
        assert_eq!(row.differs_most, record.differs_most);
        assert_eq!(row.model_hash.as_deref(), Some(&**machine.hash()));
    }
    assert_eq!(rows[1].verdict, "anomalous");
    // The parts of the long one, in any order, are its clips.
    let mut parts: Vec<ClipReference> =
        (0..12).map(|second| part("long.wav", f64::from(second), 1.0)).collect();
    assert_eq!(run.shard(&parts), rows[2..]);
    parts.reverse();
    let mut reversed = run.shard(&parts);
    reversed.reverse();
    assert_eq!(reversed, rows[2..]);
}

#[test]
fn threads_and_shards_do_not_change_a_row() {
    let hall = Hall::new();
    let rows: Vec<String> =
        (0..40).map(|row| format!("long.wav,{},1\n", 0.25 * f64::from(row))).collect();
    let rows = rows.concat();
    let manifest = hall.manifest(&format!("path,start_seconds,seconds\n{rows}"));
    let all = |jobs: usize, shard_clips: usize| {
        let run = Run { jobs, ..Run::new(&hall) };
        let plan = Plan::read(&manifest, shard_clips).unwrap();
        let out = hall.path(&format!("out-{jobs}-{shard_clips}"));
        run.archive(&plan, &out).unwrap();
        let shards =
            (0..plan.shard_count()).map(|index| auscult_archive::run::shard_path(&out, index));
        let mut columns: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for shard in shards {
            for (name, values) in Table::read(&shard).unwrap().columns {
                let texts = match values {
                    Values::Text(texts) => texts.iter().map(|text| format!("{text:?}")).collect(),
                    Values::Numbers(numbers) => {
                        numbers.iter().map(|number| format!("{number:?}")).collect::<Vec<_>>()
                    }
                };
                columns.entry(name).or_default().extend(texts);
            }
        }
        columns
    };
    let expected = all(1, 512);
    assert_eq!(expected["score"].len(), 40);
    for (jobs, shard_clips) in [(2, 512), (3, 7), (1, 1), (8, 16)] {
        assert_eq!(all(jobs, shard_clips), expected, "{jobs} threads, {shard_clips} clips");
    }
}

#[test]
fn what_is_wrong_with_a_clip_is_in_its_row_and_the_others_follow() {
    let hall = Hall::new();
    fs::write(hall.path("text.wav"), "not sound").unwrap();
    write(&hall.path("silent.wav"), &vec![0.0; 16_000]);
    let clips = [
        clip("gone.wav"),
        clip("text.wav"),
        clip("silent.wav"),
        clip("cut.wav"),
        part("long.wav", 11.5, 1.0),
        part("long.wav", 500.0, 1.0),
        part("long.wav", -1.0, 1.0),
        clip("s4://bucket/a.wav"),
        clip(""),
        clip("100.wav"),
    ];
    let rows = Run::new(&hall).shard(&clips);
    let of = |uri: &str| rows.iter().filter(|row| row.uri == uri).collect::<Vec<_>>();
    let error = |row: &ArchiveRow| row.error.clone().unwrap();
    assert!(error(of("gone.wav")[0]).contains("no such file"));
    assert!(error(of("text.wav")[0]).contains("not a sound file"));
    assert_eq!((of("silent.wav")[0].verdict.as_str(), of("silent.wav")[0].score), ("silent", None));
    let cut = of("cut.wav");
    assert!(cut.len() > 2 && cut[0].score.is_some(), "{cut:?}");
    assert!(error(cut.last().unwrap()).contains("damaged after"));
    let long = of("long.wav");
    assert_eq!(long.len(), 4);
    assert!(long[0].score.is_some() && long[0].seconds == Some(0.5));
    assert!(error(long[1]).contains("ends after 12.000 s"));
    assert!(error(long[2]).contains("ends after 12.000 s"));
    assert!(error(long[3]).contains("at least 0"));
    assert!(error(of("s4://bucket/a.wav")[0]).contains("not a path, nor an address"));
    assert!(error(of("")[0]).contains("folder"));
    assert!(of("100.wav")[0].score.is_some());
    let mut ids: Vec<&str> = rows.iter().map(|row| row.clip_id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), rows.len(), "every row has an id of its own");
    assert!(rows.iter().all(|row| row.model_hash.is_some()));
}

#[test]
fn a_run_goes_on_where_it_was_and_does_nothing_twice() {
    let hall = Hall::new();
    let rows: Vec<String> = (0..12).map(|second| format!("long.wav,{second},1\n")).collect();
    let rows = rows.concat();
    let manifest = hall.manifest(&format!("path,start_seconds,seconds\n{rows}"));
    let plan = Plan::read(&manifest, 5).unwrap();
    let run = Run::new(&hall);
    let whole = hall.path("whole");
    let summary = run.archive(&plan, &whole).unwrap();
    assert_eq!((summary.shards, summary.skipped, summary.rows, summary.errors), (3, 0, 12, 0));
    // The last four seconds are faulty; one in twenty of the others may be called so.
    assert!((4..=6).contains(&summary.anomalous), "{summary:?}");
    assert_eq!(files(&whole).len(), 3);

    // Stopped after seven clips.
    let out = hall.path("out");
    let cancel = Cancel::new();
    let (seen, asked) = (Arc::new(AtomicUsize::new(0)), cancel.clone());
    let events = move |event: Event<'_>| {
        if matches!(event, Event::Advanced) && seen.fetch_add(1, Ordering::SeqCst) == 6 {
            asked.cancel();
        }
        ControlFlow::Continue(())
    };
    let stopped =
        Run { control: Control::new(cancel, Arc::new(events)), jobs: 1, ..Run::new(&hall) };
    assert!(matches!(stopped.archive(&plan, &out), Err(Error::Cancelled)));
    assert_eq!(files(&out).keys().collect::<Vec<_>>(), ["shard=00000.parquet"]);
    let summary = run.archive(&plan, &out).unwrap();
    assert_eq!((summary.skipped, summary.rows), (1, 7));
    assert_eq!(files(&out), files(&whole));
    // A torn shard is written again, and nothing else.
    fs::write(out.join("shard=00001.parquet"), "PAR1").unwrap();
    let summary = run.archive(&plan, &out).unwrap();
    assert_eq!((summary.skipped, summary.rewritten, summary.rows), (2, 1, 5));
    assert_eq!(files(&out), files(&whole));
    assert_eq!(run.archive(&plan, &out).unwrap().skipped, 3);
}

#[test]
fn results_of_something_else_stay_until_somebody_allows_it() {
    let hall = Hall::new();
    let manifest = hall.manifest("path\n100.wav\n101.wav\n103.wav\n");
    let (plan, out) = (Plan::read(&manifest, 1).unwrap(), hall.path("out"));
    Run::new(&hall).archive(&plan, &out).unwrap();
    let before = files(&out);
    let refused = |run: &Run, plan: &Plan, expected: &str| {
        let error = run.archive(plan, &out).unwrap_err();
        assert!(
            matches!(error, Error::OtherResults { .. }) && error.to_string().contains(expected),
            "{error}"
        );
        assert_eq!(files(&out), before);
    };
    let settings = Settings { hop_seconds: Some(0.5), channel: None };
    refused(&Run { settings, ..Run::new(&hall) }, &plan, "other settings");
    let mut more = Run::new(&hall);
    let grown = hall.machine().add(hall.path("104.wav"), &Learn::default()).unwrap();
    more.models = Models::one(grown);
    refused(&more, &plan, "another model");
    refused(&Run::new(&hall), &Plan::read(&manifest, 2).unwrap(), "the manifest has 2 shards");
    let shorter = Plan::read(&hall.manifest("path\n101.wav\n100.wav\n103.wav\n"), 1).unwrap();
    refused(&Run::new(&hall), &shorter, "other clips");
    let two = Plan::read(&hall.manifest("path\n101.wav\n103.wav\n"), 1).unwrap();
    let summary = Run { replace: true, ..Run::new(&hall) }.archive(&two, &out).unwrap();
    assert_eq!((summary.rewritten, summary.rows, files(&out).len()), (2, 2, 2));
}

/// Serves the files of a folder until the test ends; what is not there is a 404.
fn serve(folder: PathBuf) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let served = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&served);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut request) = (stream.unwrap(), [0; 4096]);
            let length = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let name =
                request.split_whitespace().nth(1).unwrap_or("/").trim_start_matches('/').to_owned();
            let (status, body) = match fs::read(folder.join(&name)) {
                Ok(body) => ("200 OK", body),
                Err(_) => ("404 Not Found", Vec::new()),
            };
            count.fetch_add(1, Ordering::SeqCst);
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    (address, served)
}

#[test]
fn recordings_at_web_addresses_are_those_on_disk_and_fetched_once() {
    let hall = Hall::new();
    let (address, served) = serve(hall.folder.path().to_owned());
    let remote = |name: &str| format!("{address}/{name}");
    let mut clips: Vec<ClipReference> =
        (0..10).map(|second| part(&remote("long.wav"), f64::from(second), 1.0)).collect();
    clips.extend(["gone.wav", "100.wav", "102.wav"].map(|name| clip(&remote(name))));
    let sound = Sound::new(hall.folder.path(), Encryption::NotRequired);
    let rows = Run { sound, ..Run::new(&hall) }.shard(&clips);
    assert_eq!(served.load(Ordering::SeqCst), 4);
    let mut local: Vec<ClipReference> =
        (0..10).map(|second| part("long.wav", f64::from(second), 1.0)).collect();
    local.extend(["gone.wav", "100.wav", "102.wav"].map(clip));
    let expected = Run::new(&hall).shard(&local);
    for (row, expected) in rows.iter().zip(&expected) {
        assert_eq!((row.score, &row.verdict), (expected.score, &expected.verdict));
    }
    assert!(rows[10].error.as_deref().unwrap().contains("the server answers 404"));
    let refused = Run::new(&hall).shard(&clips[..1]);
    assert!(refused[0].error.as_deref().unwrap().contains("does not begin with https"));
}

#[test]
fn machines_of_a_manifest_get_models_and_judge_their_own_clips() {
    let hall = Hall::new();
    let rows: Vec<String> = (0..30)
        .map(|seed| format!("normal/{seed:02}.wav,{}\n", ["fan", "pump"][seed % 2]))
        .collect();
    let rows = rows.concat();
    let manifest = hall.manifest(&format!("path,machine\n{rows}100.wav,../up\n"));
    let learn = Learn { preset: Preset::Paper, ..Learn::default() };
    let fit = |replace: bool| {
        let (out, jobs) = (hall.path("models"), NonZeroUsize::new(2).unwrap());
        let control = Control::default();
        let (manifest, learn) = (manifest.as_path(), &learn);
        FitArchive { manifest, out: &out, replace, learn, jobs, control: &control }.run().unwrap()
    };
    let machines = fit(false);
    let told: Vec<_> = machines
        .iter()
        .map(|it| (it.machine.as_str(), it.references, it.error.is_some()))
        .collect();
    assert_eq!(told, [("../up", 0, true), ("fan", 15, false), ("pump", 15, false)]);
    assert!(fit(false)[1..].iter().all(|machine| machine.is_skipped));
    assert!(!fit(true)[1].is_skipped);
    // As `auscult fit` on the recordings of one machine.
    let own: Vec<PathBuf> =
        (0..30).step_by(2).map(|seed| hall.path(&format!("normal/{seed:02}.wav"))).collect();
    let alone = Machine::learn(Sources::of(own).unwrap(), &learn).unwrap();
    let models = Models::open(&hall.path("models"), &FrontEnds::standard()).unwrap();
    assert_eq!(models.of(Some("fan")).unwrap().model().references().provenance().len(), 15);
    let of = |machine: &str| ClipReference { machine: Some(machine.to_owned()), ..clip("102.wav") };
    let run = Run { models, ..Run::new(&hall) };
    let rows = run.shard(&[of("fan"), of("valve"), clip("102.wav")]);
    let score = alone.scorer().score(&auscult_samples(&hall.path("102.wav"))).unwrap().score();
    assert_eq!(rows[0].score, score);
    assert!(rows[1].error.as_deref().unwrap().contains("unknown machine \"valve\""));
    assert!(rows[2].error.as_deref().unwrap().contains("does not say which machine"));
    let plan = Plan::read(&hall.manifest("path\n102.wav\n"), 512).unwrap();
    assert!(matches!(run.archive(&plan, &hall.path("out")), Err(Error::NoMachines { .. })));
    assert!(!hall.path("out").exists());
}

fn auscult_samples(path: &Path) -> Vec<f32> {
    let machine_rate = auscult::ClipSettings { seconds: 1.0, ..auscult::ClipSettings::default() };
    let rules = auscult::ClipRules::field();
    let reading =
        auscult::Reading::new(machine_rate, auscult::audio::ChannelRule::default(), None, rules);
    let location = auscult::audio::Location::File(path.to_owned());
    reading.unwrap().samples_at(&location, 0.0).unwrap()
}
