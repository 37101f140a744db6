//! Clips beside the split: the machine without its hall, or the hall without the machine (DCASE 2025).

use super::{Dataset, DatasetClip, Split};
use crate::{Error, Result, metrics::Label};

impl Dataset {
    /// Learns from the clean sound of machines in `supplemental` folders, too. Clips of noise alone are of no machine, and
    /// nothing learns from them.
    ///
    /// # Errors
    ///
    /// [`Error::Dataset`] if there are no clean clips.
    pub fn learn_from_supplemental(&mut self) -> Result<()> {
        let is_extra = |clip: &DatasetClip| clip.split == Split::Supplemental;
        let all = self.clips.iter().filter(|clip| is_extra(clip)).count();
        let mut clean = 0;
        for clip in self.clips.iter_mut().filter(|clip| is_extra(clip) && !is_noise(&clip.name)) {
            clip.split = Split::Train;
            clip.label = Some(Label::Normal);
            clean += 1;
        }
        if clean == 0 {
            let reason = format!(
                "no clean clips in folders called supplemental ({all} clips of noise); only DCASE 2025 has some"
            );
            return Err(Error::Dataset { kind: self.kind.to_string(), reason });
        }
        let noise = all - clean;
        self.remarks.push(format!(
            "supplemental clips: clean ones that are learnt from {clean}, of noise alone and not used {noise}"
        ));
        Ok(())
    }
}

/// `section_00_noise_0001_.wav`.
fn is_noise(name: &str) -> bool {
    name.to_ascii_lowercase().contains("noise")
}
