//! How a clip is compared with the references.

use auscult::{
    BeamSettings, Combine, DensityExponent, DensityRule, FrontEnd, Method, Metric,
    beam::BeamOverrides,
};
use clap::Args;

/// How a clip is compared with the references.
#[derive(Debug, Args)]
#[command(next_help_heading = "Comparing (the defaults are the paper's)")]
pub(crate) struct ComparingArguments {
    /// global: nearest reference, whole vector. beam: nearest references per band. adabeam: beam
    /// on the average and the loudest moments, fused; the default where the front end has both.
    /// autoencoder: no comparing, a network learns to reproduce normal sound.
    #[arg(long, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    pub(crate) method: Option<MethodName>,

    /// Positions in a band (paper: 38 for log-mel, 20 for mfcc, 3200 for lpc).
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    pub(crate) band_width: Option<usize>,

    /// Positions between band starts; the band width if not given.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    pub(crate) band_stride: Option<usize>,

    /// Neighbours in local density normalisation; 1 if not given, 0 compares plain distances.
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    pub(crate) neighbours: Option<usize>,

    /// How much of the local density counts: 1 is the paper and the default, 0 none, auto learns it
    /// per band from the references.
    #[arg(long, value_name = "T|auto", allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    pub(crate) density_exponent: Option<DensityExponent>,

    /// minimum-ratio (the paper's equation 7, the default) or at-nearest (its appendix).
    #[arg(long, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    pub(crate) density_rule: Option<DensityRule>,

    /// cosine (the default), scaled (each position by the spread of the references), unit-euclidean,
    /// euclidean or squared-euclidean.
    #[arg(long, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    pub(crate) metric: Option<Metric>,

    /// How band scores become one: mean (the default), max or min.
    #[arg(long, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    pub(crate) aggregate: Option<Combine>,

    /// How the two views become one: mean, max or min. With --method global this is the paper's
    /// "+ DMM".
    #[arg(long, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    pub(crate) fuse: Option<Combine>,

    /// How the scores of several front ends (ced+mfcc) become one: mean, max or min of their
    /// standardised logarithms; mean if not given.
    #[arg(long, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    pub(crate) combine_members: Option<Combine>,
}

/// A way to score, as users type it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MethodName {
    /// Comparing with references.
    Comparing(Method),
    /// Errors of a network.
    Autoencoder,
}

impl std::str::FromStr for MethodName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "autoencoder" {
            return Ok(Self::Autoencoder);
        }
        let method = text.parse().map_err(|error| format!("{error}, autoencoder"))?;
        Ok(Self::Comparing(method))
    }
}

impl ComparingArguments {
    /// The options that were given.
    fn overrides(&self) -> anyhow::Result<BeamOverrides> {
        let method = match self.method {
            Some(MethodName::Autoencoder) => {
                anyhow::bail!("an autoencoder does not compare; here it is --back-end autoencoder")
            }
            Some(MethodName::Comparing(method)) => Some(method),
            None => None,
        };
        Ok(BeamOverrides {
            method,
            band_width: self.band_width,
            band_stride: self.band_stride,
            neighbours: self.neighbours,
            density_exponent: self.density_exponent,
            density_rule: self.density_rule,
            metric: self.metric,
            aggregate: self.aggregate,
            fuse: self.fuse,
            combine_members: self.combine_members,
        })
    }

    /// `usual` settings for a front end, with what was given in their place.
    pub(crate) fn detector_from(
        &self,
        usual: &BeamSettings,
        front_end: &dyn FrontEnd,
    ) -> anyhow::Result<BeamSettings> {
        Ok(self.overrides()?.apply(usual, front_end)?)
    }

    /// The settings of a file, with what was given in their place.
    pub(crate) fn detector_over(
        &self,
        file: &BeamSettings,
        is_other_front_end: bool,
        front_end: &dyn FrontEnd,
    ) -> anyhow::Result<BeamSettings> {
        // Another front end has another axis: the file's bands and views say nothing about it.
        let base = if is_other_front_end {
            file.clone().with_method(Method::AdaBeam, front_end)
        } else {
            file.clone()
        };
        Ok(self.overrides()?.apply(&base, front_end)?)
    }

    /// Options that say how to compare, but for the method, and whether they were given.
    pub(crate) fn given(&self) -> Vec<(&'static str, bool)> {
        vec![
            ("--band-width", self.band_width.is_some()),
            ("--band-stride", self.band_stride.is_some()),
            ("--neighbours", self.neighbours.is_some()),
            ("--density-exponent", self.density_exponent.is_some()),
            ("--density-rule", self.density_rule.is_some()),
            ("--metric", self.metric.is_some()),
            ("--aggregate", self.aggregate.is_some()),
            ("--fuse", self.fuse.is_some()),
            ("--combine-members", self.combine_members.is_some()),
        ]
    }
}
