//! Front ends by name: the built-in ones, encoders, and several at once.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use anyhow::Context;
use auscult_autoencoder::{AutoencoderFrontEnd, Form, SpectrogramFrontEnd};
use auscult_core::{
    ClipLength, FrontEnd, FrontEndIdentity, FrontEndSettings, Model,
    beam::{FORM_SEPARATOR, Normalisation},
    features::{Axis, Ensemble, Forms, FrontEndSource, SEPARATOR},
};
use auscult_encoders::{Bundled, EncoderFrontEnd, EncoderLibrary, EncoderRequest};

use crate::args::{EncoderArguments, FrontEndArguments};

/// The file given with --encoder; set once, before any command runs.
static FILE: OnceLock<PathBuf> = OnceLock::new();

/// Notes the file given with --encoder.
pub(crate) fn use_encoder_file(file: PathBuf) {
    // Called once: a second file cannot be given.
    let _ = FILE.set(file);
}

/// The encoders of this machine.
pub(crate) fn library() -> &'static Arc<EncoderLibrary> {
    static LIBRARY: OnceLock<Arc<EncoderLibrary>> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let bundled = Bundled { name: auscult_ced_tiny::NAME, bytes: auscult_ced_tiny::WEIGHTS };
        let library = EncoderLibrary::new(vec![bundled]).with_folder(folder());
        Arc::new(library.with_file(FILE.get().cloned()))
    })
}

/// Where pulled encoders are: `$AUSCULT_ENCODERS`, or the user's cache folder.
pub(crate) fn folder() -> Option<PathBuf> {
    let chosen = std::env::var_os("AUSCULT_ENCODERS").filter(|folder| !folder.is_empty());
    chosen.map(PathBuf::from).or_else(|| auscult_files::cache_folder("encoders"))
}

/// The front end a model was made with; that of an autoencoder is in the model itself.
pub(crate) fn of_model(model: &Model) -> anyhow::Result<Arc<dyn FrontEnd>> {
    let settings = model.settings();
    let (identity, length) = (&settings.front_end, settings.clip.check()?);
    refuse_unused_file(&format!("the model's {}", identity.name), &identity.name, "leave it out")?;
    if identity.name == AutoencoderFrontEnd::NAME {
        let made = AutoencoderFrontEnd::of_model(identity, &settings.weights, length)?;
        return Ok(Arc::new(made));
    }
    Ok(library().front_ends().build(identity, length)?)
}

/// The axis of the front end a model was made with; needs no weights of encoders.
pub(crate) fn axis_of_model(model: &Model) -> anyhow::Result<Axis> {
    let settings = model.settings();
    let (identity, length) = (&settings.front_end, settings.clip.check()?);
    if identity.name == AutoencoderFrontEnd::NAME {
        return Ok(of_model(model)?.axis().clone());
    }
    let axis = |identity: &FrontEndIdentity, positions: usize| -> anyhow::Result<Axis> {
        if library().names().contains(&identity.name) {
            return Ok(EncoderFrontEnd::axis_of(identity, positions, length)?);
        }
        Ok(FrontEndSettings::from_identity(identity)?.build(length)?.axis().clone())
    };
    let (Some(members), Some(ensemble)) = (identity.members(), &settings.detector.ensemble) else {
        return axis(identity, model.references().axis_len());
    };
    let names = Ensemble::member_names(&members);
    let axes = names
        .into_iter()
        .zip(members.iter().zip(ensemble.parts()))
        .map(|(name, (member, part))| Ok((name, axis(member, part.len())?)));
    Ok(Axis::joined(axes.collect::<anyhow::Result<_>>()?))
}

/// What to do where a front end could have been named.
pub(crate) const NAME_AN_ENCODER: &str = "give --front-end ced, beats or eat, or leave it out";

/// Refuses --encoder where `names`, separated by +, have no encoder: figures would pass for those of
/// its weights.
pub(crate) fn refuse_unused_file(what: &str, names: &str, advice: &str) -> anyhow::Result<()> {
    let of_member = |member: &str| {
        let end = member.find([':', FORM_SEPARATOR]).unwrap_or(member.len());
        EncoderLibrary::knows(member[..end].trim())
    };
    let Some(file) = FILE.get().filter(|_| !names.split(SEPARATOR).any(of_member)) else {
        return Ok(());
    };
    anyhow::bail!(
        "--encoder {} names the weights of an encoder, and {what} is none; {advice}",
        file.display()
    )
}

/// The front end the command line names.
pub(crate) fn asked_for(
    arguments: &FrontEndArguments,
    length: ClipLength,
) -> anyhow::Result<Arc<dyn FrontEnd>> {
    let (name, convention) = (&arguments.front_end, arguments.convention.as_deref());
    let front_end = named(name, convention, &arguments.encoder, length)?;
    refuse_unused_file(name, name, NAME_AN_ENCODER)?;
    Ok(front_end)
}

/// A front end by name; several names with + between them are an ensemble. A member's convention
/// follows a colon, its normalisation an @: `ced:layer-6@raw`.
pub(crate) fn named(
    name: &str,
    convention: Option<&str>,
    encoder: &EncoderArguments,
    length: ClipLength,
) -> anyhow::Result<Arc<dyn FrontEnd>> {
    if !name.contains(SEPARATOR) {
        anyhow::ensure!(
            !name.contains(FORM_SEPARATOR),
            "{name}: @raw and @ldn are for members, where + joins several, such as ced@raw+ced@ldn; for one front \
             end --neighbours 0 compares plain distances"
        );
        return one(name, convention, encoder, length);
    }
    anyhow::ensure!(
        convention.is_none(),
        "--convention is for one front end; give that of a member after a colon, such as ced+mfcc:librosa"
    );
    let members: Vec<Member<'_>> =
        name.split(SEPARATOR).map(Member::parse).collect::<anyhow::Result<_>>()?;
    if !members.iter().any(|member| EncoderLibrary::knows(member.name)) {
        encoder.refuse_for(name)?;
    }
    let none = EncoderArguments::default();
    let members = members.into_iter().map(|member| {
        let encoder = if EncoderLibrary::knows(member.name) { encoder } else { &none };
        Ok((one(member.name, member.convention, encoder, length)?, member.normalisation))
    });
    Ok(Forms::join(members.collect::<anyhow::Result<_>>()?)?)
}

/// A member of an ensemble as users type it.
struct Member<'a> {
    name: &'a str,
    convention: Option<&'a str>,
    normalisation: Option<Normalisation>,
}

impl<'a> Member<'a> {
    fn parse(text: &'a str) -> anyhow::Result<Self> {
        let (rest, normalisation) = match text.trim().split_once(FORM_SEPARATOR) {
            Some((rest, form)) => (rest, Some(form.parse().with_context(|| text.to_owned())?)),
            None => (text.trim(), None),
        };
        let (name, convention) = match rest.split_once(':') {
            Some((name, convention)) => (name, Some(convention)),
            None => (rest, None),
        };
        Ok(Self { name, convention, normalisation })
    }
}

/// A single front end by name.
fn one(
    name: &str,
    convention: Option<&str>,
    encoder: &EncoderArguments,
    length: ClipLength,
) -> anyhow::Result<Arc<dyn FrontEnd>> {
    if EncoderLibrary::knows(name) {
        anyhow::ensure!(
            convention.is_none() || encoder.layer.is_empty(),
            "--layer and a convention ({}) both name the layer of {name}; leave one out",
            convention.unwrap_or_default()
        );
        let request = EncoderRequest {
            layers: match convention {
                Some(convention) => vec![layer(name, convention)?],
                None => encoder.layer.clone(),
            },
            rows_per_band: encoder.rows_per_band,
            class_token: encoder.class_token,
            precision: encoder.precision,
        };
        return Ok(library().front_end(name, &request, length)?);
    }
    if name == SpectrogramFrontEnd::NAME {
        encoder.refuse_for(name)?;
        let form = convention.map_or(Ok(Form::default()), str::parse)?;
        return Ok(Arc::new(SpectrogramFrontEnd::new(form, length)?));
    }
    if FrontEndSettings::NAMES.contains(&name) {
        encoder.refuse_for(name)?;
        return Ok(FrontEndSettings::named(name, convention)?.build(length)?);
    }
    anyhow::ensure!(
        !name.contains(':'),
        "{name}: a convention follows a colon only where + joins several front ends; give --convention"
    );
    let known = auscult_encoders::KNOWN.iter().map(|known| known.name);
    let known: Vec<&str> = FrontEndSettings::NAMES.iter().copied().chain(known).collect();
    anyhow::bail!(
        "unknown front end {name:?}; known: {}; ced, beats and eat are short for the first of their kind, and \
         + joins several",
        known.join(", ")
    )
}

/// The layer a convention of an encoder names, such as `layer-6`: for protocols and members of
/// ensembles, which have no options of their own.
fn layer(name: &str, convention: &str) -> anyhow::Result<usize> {
    let number = convention.strip_prefix("layer-").and_then(|number| number.parse().ok());
    number.ok_or_else(|| {
        anyhow::anyhow!(
            "{name} has no convention {convention:?}; its forms are layers, such as layer-6"
        )
    })
}
