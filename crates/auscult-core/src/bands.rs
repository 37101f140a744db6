//! Cuts the feature axis into bands (paper, Sec. III-A).

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// How to cut the feature axis, before its length is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BandSettings {
    /// One band over the whole axis: global matching.
    Whole,
    /// Windows of `width` positions, one every `stride` positions.
    Windows {
        /// Positions in a band (the paper's C).
        width: usize,
        /// Positions between the starts of two bands (the paper's s).
        stride: usize,
    },
}

impl BandSettings {
    /// Bands that touch and do not overlap, but for the last one.
    pub fn touching(width: usize) -> Self {
        Self::Windows { width, stride: width }
    }

    /// The layout on an axis of `axis_len` positions.
    ///
    /// # Errors
    ///
    /// Those of [`BandLayout::new`].
    pub fn layout(self, axis_len: usize) -> Result<BandLayout> {
        match self {
            Self::Whole => BandLayout::new(axis_len, axis_len, axis_len),
            Self::Windows { width, stride } => BandLayout::new(axis_len, width, stride),
        }
    }
}

/// Where each band starts and ends on the feature axis.
///
/// Every band has the same length. When the stride does not land on the end of
/// the axis, one last band is added that ends there; it may overlap the band
/// before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BandLayout {
    axis_len: usize,
    bands: Vec<Range<usize>>,
}

impl BandLayout {
    /// Lays out bands of `width` positions, `stride` positions apart, over `axis_len` positions.
    ///
    /// A width beyond the axis is the whole axis: one band.
    ///
    /// # Errors
    ///
    /// [`Error::BandWidth`] if `width` or the axis is 0, and [`Error::BandStride`] if `stride` is
    /// 0.
    ///
    /// # Examples
    ///
    /// The paper's log-mel setting covers 128 mel bins with four bands:
    ///
    /// ```
    /// # fn main() -> auscult_core::Result<()> {
    /// let layout = auscult_core::BandLayout::new(128, 38, 38)?;
    /// assert_eq!(layout.bands(), [0..38, 38..76, 76..114, 90..128]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(axis_len: usize, width: usize, stride: usize) -> Result<Self> {
        let width = width.min(axis_len);
        if width == 0 {
            return Err(Error::BandWidth { axis_len });
        }
        if stride == 0 {
            return Err(Error::BandStride);
        }
        let last_start = axis_len - width;
        let mut bands: Vec<_> =
            (0..=last_start).step_by(stride).map(|start| start..start + width).collect();
        if !last_start.is_multiple_of(stride) {
            bands.push(last_start..axis_len);
        }
        Ok(Self { axis_len, bands })
    }

    /// A layout of bands made elsewhere, all within the axis.
    pub(crate) fn of_bands(axis_len: usize, bands: Vec<Range<usize>>) -> Self {
        Self { axis_len, bands }
    }

    /// The bands, in order along the axis.
    pub fn bands(&self) -> &[Range<usize>] {
        &self.bands
    }

    /// The length of the feature axis the layout covers.
    pub fn axis_len(&self) -> usize {
        self.axis_len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn band_counts_match_table_two_of_the_paper() {
        let cases = [
            ("log-mel 2020/2023", 128, 38, 4),
            ("log-mel 2024", 128, 76, 2),
            ("MFCC", 90, 20, 5),
            ("LPC spectrum", 8000, 3200, 3),
            ("BEATs", 6144, 768, 8),
        ];
        for (front_end, axis_len, width, expected) in cases {
            let layout = BandSettings::touching(width).layout(axis_len).unwrap();
            assert_eq!(layout.bands().len(), expected, "{front_end}");
        }
    }

    #[test]
    fn window_longer_than_axis_is_the_whole_axis() {
        let layout = BandLayout::new(90, 91, 1).unwrap();
        assert_eq!((layout.bands().len(), layout.bands()[0].clone()), (1, 0..90));
    }

    #[test]
    fn bands_without_width_or_stride_are_refused() {
        let error = BandLayout::new(90, 0, 1).unwrap_err();
        assert_eq!(error.to_string(), "band width must be in 1..=90, got 0");
        let error = BandLayout::new(90, 10, 0).unwrap_err();
        assert_eq!(error.to_string(), "band stride must be at least 1, got 0");
    }

    proptest::proptest! {
        #[test]
        fn every_position_is_covered_when_the_stride_is_not_wider_than_the_band(
            axis_len in 1_usize..300, width_share in 0.0..1.0_f64, stride_share in 0.0..1.0_f64,
        ) {
            let width = 1 + (width_share * (axis_len - 1) as f64) as usize;
            let stride = 1 + (stride_share * (width - 1) as f64) as usize;
            let layout = BandLayout::new(axis_len, width, stride).unwrap();
            for position in 0..axis_len {
                proptest::prop_assert!(layout.bands().iter().any(|band| band.contains(&position)));
            }
            proptest::prop_assert!(layout.bands().iter().all(|band| band.len() == width));
            proptest::prop_assert_eq!(layout.bands().last().unwrap().end, axis_len);
        }
    }
}
