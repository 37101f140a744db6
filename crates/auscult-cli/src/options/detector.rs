//! How clips are compared, by options.

use auscult::{BandSettings, BeamSettings, DensityExponent, FrontEnd, Method};

use crate::args::{ComparingArguments, MethodName};

impl ComparingArguments {
    /// The paper's settings for a front end, with what was given in their place.
    pub(crate) fn detector(
        &self,
        name: &str,
        front_end: &dyn FrontEnd,
    ) -> anyhow::Result<BeamSettings> {
        let one_view = front_end.views().len() < 2;
        let method = match self.method {
            None if one_view => Method::Beam,
            None => Method::AdaBeam,
            Some(MethodName::Comparing(Method::AdaBeam)) if one_view => {
                anyhow::bail!("adabeam needs two views and {name} has one; use --method beam")
            }
            Some(MethodName::Comparing(method)) => method,
            Some(MethodName::Autoencoder) => {
                anyhow::bail!("an autoencoder does not compare; here it is --back-end autoencoder")
            }
        };
        let mut detector = BeamSettings::paper(method, front_end);
        if self.fuse.is_some() {
            anyhow::ensure!(!one_view, "--fuse needs two views and {name} has one; leave it out");
            anyhow::ensure!(
                method != Method::Beam,
                "--fuse needs two views and beam has one; use --method adabeam or global"
            );
            detector.views = front_end.views().to_vec();
        }
        match (&mut detector.ensemble, self.combine_members) {
            (Some(ensemble), combine) => {
                ensemble.combine = combine.unwrap_or_default();
                anyhow::ensure!(
                    self.band_width.is_none() && self.band_stride.is_none(),
                    "the members of {name} have bands of their own; leave out --band-width and --band-stride"
                );
            }
            (None, Some(_)) => {
                anyhow::bail!("--combine-members needs several front ends, such as ced+mfcc")
            }
            (None, None) => detector.bands = self.bands_over(detector.bands)?,
        }
        self.check_exponent()?;
        Ok(self.over(detector))
    }

    /// The settings of a file, with what was given in their place.
    pub(crate) fn detector_over(
        &self,
        file: &BeamSettings,
        is_other_front_end: bool,
        front_end: &dyn FrontEnd,
    ) -> anyhow::Result<BeamSettings> {
        // Another front end has another axis: the file's bands and views say nothing about it.
        let starts_over = is_other_front_end || self.method.is_some();
        let given = if starts_over || self.fuse.is_some() {
            self.detector(&front_end.identity().name, front_end)?
        } else {
            file.clone()
        };
        let bands = if starts_over { given.bands } else { self.bands_over(file.bands)? };
        let views = given.views;
        Ok(self.over(BeamSettings { bands, views, ensemble: given.ensemble, ..file.clone() }))
    }

    /// What stands alone: any detector may have it.
    fn over(&self, detector: BeamSettings) -> BeamSettings {
        BeamSettings {
            metric: self.metric.unwrap_or(detector.metric),
            neighbours: self.neighbours.unwrap_or(detector.neighbours),
            exponent: self.density_exponent.unwrap_or(detector.exponent),
            rule: self.density_rule.unwrap_or(detector.rule),
            aggregation: self.aggregate.unwrap_or(detector.aggregation),
            fusion: self.fuse.unwrap_or(detector.fusion),
            ..detector
        }
    }

    fn check_exponent(&self) -> anyhow::Result<()> {
        let is_auto = self.density_exponent == Some(DensityExponent::Auto);
        anyhow::ensure!(
            self.neighbours != Some(0) || !is_auto,
            "--density-exponent auto needs local scales; leave it out with --neighbours 0"
        );
        Ok(())
    }

    /// The paper's bands, with what was given in their place.
    fn bands_over(&self, paper: BandSettings) -> anyhow::Result<BandSettings> {
        Ok(match (self.band_width, self.band_stride, paper) {
            (None, None, paper) => paper,
            (_, _, BandSettings::Whole) => {
                anyhow::bail!(
                    "global matching has no bands; leave out --band-width and --band-stride"
                )
            }
            (width, stride, BandSettings::Windows { width: paper, .. }) => {
                let width = width.unwrap_or(paper);
                BandSettings::Windows { width, stride: stride.unwrap_or(width) }
            }
        })
    }
}
