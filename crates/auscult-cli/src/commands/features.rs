//! `auscult features`: recordings in, vectors for other tools out.

use std::sync::Arc;

use auscult::{
    ClipRules, ClipSettings, FrontEnd, Reading, Sources, Threads, Unusable,
    audio::{Extent, Source},
    features::FORM_SEPARATOR,
    reading::{JudgedClip, Piece, ReadClip, Worker},
    record::clip_name,
};

use crate::{
    Outcome,
    args::{FeatureView, FeaturesArguments},
    context::Context,
    options::front_end::rules,
    output::{FeatureRows, write_features},
    printer::count,
};

pub(crate) fn run(arguments: &FeaturesArguments, context: &Context) -> anyhow::Result<Outcome> {
    check(arguments)?;
    let (asked, printer) = (&arguments.front_end, &context.printer);
    let clip = asked.clip_of(&arguments.input, ClipSettings::default())?;
    let front_end = asked.build_spec(&asked.spec(), clip, &context.front_ends)?;
    let axis_len = front_end.axis().len();
    // Silent clips have features too; those that are not finite have none.
    let rules = ClipRules { unusable: Unusable::Keep, ..rules(arguments.input.clips) };
    let hop_seconds = arguments.input.hop_seconds;
    let reading = Reading::new(clip, asked.channel(), hop_seconds, rules)?;
    let sources = arguments.input.sources()?;
    let mut problems = sources.problems().len();
    for problem in sources.problems() {
        printer.problem(problem);
    }
    for note in sources.notes() {
        printer.note(note);
    }
    let view = arguments.view;
    let work =
        |worker: &mut Worker, _: &Source, clip: &JudgedClip| features(worker, clip, rules, view);
    let mut rows = FeatureRows::new(axis_len);
    let mut clips = read(&reading, &front_end, &sources, context, work);
    for piece in clips.by_ref() {
        let problem = match piece {
            // How the recording ended says what happened.
            Piece::Clip(clip) if clip.extent == Extent::CutByDamage => None,
            Piece::Clip(ReadClip { source, start_seconds, result, .. }) => match result {
                Ok(values) => {
                    rows.push(source.label.clone(), start_seconds, &values);
                    None
                }
                Err(error) => {
                    let name = clip_name(&source.label, start_seconds);
                    Some(format!("no features of {name}: {error}"))
                }
            },
            Piece::End(end) => end.problem,
        };
        problems += usize::from(problem.is_some());
        if let Some(problem) = problem {
            printer.problem(problem);
        }
    }
    let is_cancelled = clips.is_cancelled();
    if is_cancelled {
        printer.problem(auscult::Error::Cancelled);
    }
    let is_file = arguments.npy.is_some() || arguments.npz.is_some();
    anyhow::ensure!(!(is_file && rows.is_empty()), "no clip had features, so nothing was written");
    write_features(&rows, arguments)?;
    printer.note(format!("{} of {axis_len} positions", count(rows.len(), "clip")));
    let is_complete = problems == 0 && !is_cancelled;
    Ok(if is_complete { Outcome::Done } else { Outcome::Incomplete })
}

fn check(arguments: &FeaturesArguments) -> anyhow::Result<()> {
    anyhow::ensure!(
        arguments.npy.is_some() || arguments.npz.is_some() || arguments.csv,
        "say where features go: --npy FILE, --npz FILE or --csv"
    );
    for target in arguments.npy.iter().chain(&arguments.npz) {
        auscult::files::check_target(target)?;
        auscult::check_result_target(target, &arguments.input.paths)?;
    }
    let name = arguments.front_end.spec().name;
    anyhow::ensure!(
        !name.contains(FORM_SEPARATOR),
        "{name}: @raw and @ldn say how scores are made, not vectors; leave them out"
    );
    Ok(())
}

fn read<'a, T: Send + 'a>(
    reading: &Reading,
    front_end: &Arc<dyn FrontEnd>,
    sources: &Sources,
    context: &Context,
    work: impl Fn(&mut Worker, &Source, &JudgedClip) -> T + Send + Sync + 'a,
) -> auscult::reading::ReadAll<'a, T> {
    let threads = Arc::new(Threads::default());
    reading.read_all(front_end, sources.list().to_vec(), &threads, &context.control(), work)
}

/// The values of a clip: all frames, or one view.
fn features(
    worker: &mut Worker,
    clip: &JudgedClip,
    rules: ClipRules,
    view: FeatureView,
) -> anyhow::Result<Vec<f32>> {
    // Front ends may swallow a NaN; what is left would look like sound.
    anyhow::ensure!(rules.takes(clip.condition), "{}", clip.condition);
    let mut values = Vec::new();
    match view {
        FeatureView::Frames => {
            let take = &mut |frame: &[f32]| values.extend_from_slice(frame);
            worker.extractor.for_each_frame(&clip.samples, take)?;
        }
        FeatureView::Mean | FeatureView::Max => {
            worker.extractor.extract_into(&clip.samples, &mut worker.vectors)?;
            // A front end without frames has one vector for both views.
            let wanted = usize::from(view == FeatureView::Max);
            let views: Vec<&[f32]> = worker.vectors.views().map(|(_, vector)| vector).collect();
            values.extend_from_slice(views[wanted.min(views.len() - 1)]);
        }
    }
    Ok(values)
}
