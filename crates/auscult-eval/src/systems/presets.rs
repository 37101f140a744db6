//! Systems by preset, and front ends whose members say how they compare.

use auscult::{FrontEndSpec, FrontEnds, members::MemberSpec};
use auscult_core::{BeamSettings, ClipLength, FrontEnd};

use super::SystemSettings;
use crate::Result;

impl SystemSettings {
    /// Puts the front end of a preset, or of tables, in the place of its text, which is all that is
    /// looked at later.
    pub(crate) fn read_front_ends(&mut self) {
        if let Some(preset) = self.preset {
            self.front_end = preset.front_end();
        }
        match std::mem::take(&mut self.front_ends).as_slice() {
            [] => {}
            [MemberSpec { front_end, convention, normalisation: None, options: None }] => {
                self.front_end.clone_from(front_end);
                self.convention.clone_from(convention);
            }
            members => {
                let texts: Vec<String> = members.iter().map(ToString::to_string).collect();
                self.front_end = texts.join("+");
            }
        }
    }

    /// The system for clips of one length, and why a member of its preset is missing, if one is.
    #[must_use]
    pub fn for_clips(&self, length: ClipLength) -> (Self, Option<String>) {
        let mut system = self.clone();
        let Some(preset) = self.preset else { return (system, None) };
        let (spec, note) = preset.spec(length);
        system.front_end = spec.name;
        (system, note)
    }

    /// The front ends it names.
    fn members(&self) -> Result<Vec<MemberSpec>> {
        Ok(FrontEndSpec::of(&self.front_end).members()?)
    }

    /// Whether its front end says how it compares, in parentheses.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Library`] if the front end cannot be read.
    pub fn front_end_compares(&self) -> Result<bool> {
        Ok(self.members()?.iter().any(|member| member.options.is_some()))
    }

    /// How its front end compares, if that says so.
    pub(super) fn own_detector(&self, front_end: &dyn FrontEnd) -> Result<Option<BeamSettings>> {
        if !self.front_end_compares()? {
            return Ok(None);
        }
        let spec = FrontEndSpec::of(&self.front_end);
        Ok(Some(FrontEnds::new(None, None).usual_detector(&spec, front_end)?))
    }

    /// The most neighbours in a local scale.
    pub(crate) fn most_neighbours(&self) -> usize {
        if let Some(detector) = &self.detector {
            let members = detector.ensemble.iter().flat_map(|ensemble| &ensemble.members);
            let of_members = members.map(|member| member.neighbours.unwrap_or(detector.neighbours));
            return of_members.max().unwrap_or(detector.neighbours);
        }
        let members = self.members().unwrap_or_default();
        let own = members.iter().filter_map(|member| member.options.as_ref());
        own.map(|own| own.neighbours.unwrap_or(1)).max().unwrap_or(self.neighbours())
    }
}

#[cfg(test)]
mod tests {
    use auscult::Preset;
    use auscult_core::ClipSettings;

    use super::*;
    use crate::protocol::Protocol;

    fn system(text: &str) -> SystemSettings {
        let head = "name = 'a'\ntitle = 'b'\ndatasets = ['folder']\n[[system]]\nname = 'x'\n";
        Protocol::parse(&format!("{head}{text}")).unwrap().systems.remove(0)
    }

    fn length(seconds: f64) -> ClipLength {
        ClipSettings { seconds, ..ClipSettings::default() }.check().unwrap()
    }

    #[test]
    fn a_preset_tables_and_text_are_the_same_system() {
        let preset = system("preset = 'fast'");
        let text = system(&format!("front_end = '{}'", Preset::Fast.front_end()));
        let tables = system(
            "front_ends = [{ front_end = 'log-mel', convention = 'dcase', exponent = 'auto' }, \
             { front_end = 'modulation', metric = 'scaled', neighbours = 3 }]",
        );
        assert_eq!(text, tables);
        assert_eq!(SystemSettings { preset: None, ..preset.clone() }, text);
        let front_ends = FrontEnds::standard();
        let (front_end, detector, _) = Preset::Fast.build(&front_ends, length(2.0)).unwrap();
        assert_eq!(text.beam_settings(&*front_end).unwrap(), detector);
        assert_eq!(text.most_neighbours(), 3);
    }

    #[test]
    fn the_preset_of_the_paper_is_a_system_about_which_nothing_was_said() {
        let paper = system("preset = 'paper'");
        assert_eq!(SystemSettings { preset: None, ..paper }, system(""));
    }

    #[test]
    fn one_front_end_says_how_it_compares_too() {
        let ced = system("front_end = 'mfcc(metric=scaled,neighbours=3)'");
        let front_ends = FrontEnds::standard();
        let mfcc = front_ends.named(&FrontEndSpec::of("mfcc"), length(2.0)).unwrap();
        assert_eq!(ced.beam_settings(&*mfcc).unwrap().neighbours, 3);
        let dcase = system("front_ends = [{ front_end = 'log-mel', convention = 'dcase' }]");
        assert_eq!(dcase, system("front_end = 'log-mel'\nconvention = 'dcase'"));
    }

    #[test]
    fn short_clips_go_without_the_modulation_spectrum() {
        let (short, note) = system("preset = 'fast'").for_clips(length(0.5));
        assert_eq!(short.front_end, "log-mel(convention=dcase,exponent=auto)");
        assert!(
            note.unwrap().contains("goes without modulation, which needs clips of at least 1 s")
        );
        assert_eq!(system("preset = 'fast'").for_clips(length(2.0)).1, None);
    }
}
