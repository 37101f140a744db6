//! 6. Memory: the references, per view and band.

use std::{ops::Range, sync::Arc};

use serde::Serialize;

use crate::{
    Error, FrontEnd, FrontEndIdentity, Result, Storage,
    distance::{Metric, Scaled},
    nearest::{Centre, Copies, Line, Outline, Spare, map_panels},
    parallel,
    pooling::{ClipVectors, View},
    quality::ReferenceRecording,
    scaled::{ScaledMap, unit_factors},
};

/// Where a reference came from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Provenance {
    /// The file or stream, as the user named it.
    pub source: String,
    /// Where in it the clip starts.
    pub start_seconds: f64,
    /// The visit to the machine it was recorded on; clips of one visit resemble each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visit: Option<String>,
    /// The domain (operating or recording condition) it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Fingerprint of the clip's samples, empty if unknown.
    pub digest: String,
    /// How loud it was recorded; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level_dbfs: Option<f64>,
    /// What else is known of its recording; `None` in models that were written before that was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<ReferenceRecording>,
}

impl Provenance {
    /// A reference from `source` about which nothing more is known.
    pub fn of(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            start_seconds: 0.0,
            visit: None,
            domain: None,
            digest: String::new(),
            level_dbfs: None,
            recording: None,
        }
    }
}

/// A fingerprint of samples: the same sound gives the same one, whatever its file is called.
pub fn digest(samples: &[f32]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut bytes = [[0; 4]; 4096];
    for samples in samples.chunks(bytes.len()) {
        for (bytes, sample) in bytes.iter_mut().zip(samples) {
            *bytes = sample.to_le_bytes();
        }
        hasher.update(bytes[..samples.len()].as_flattened());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Normal clips: their vectors and where they came from.
///
/// All vectors are of one front end: the one the set was made for, or else that of the first clip
/// that has one. Vectors made by hand have none and are accepted if views and length fit.
#[derive(Debug, Clone, PartialEq)]
pub struct References {
    front_end: Option<Arc<FrontEndIdentity>>,
    views: Vec<View>,
    axis_len: usize,
    /// One matrix a view, references x axis, row-major.
    vectors: Vec<Vec<f32>>,
    provenance: Vec<Provenance>,
}

impl References {
    /// An empty set for the vectors of `front_end`.
    pub fn for_front_end(front_end: &dyn FrontEnd) -> Self {
        let empty = Self::new(front_end.views(), front_end.axis().len());
        Self { front_end: Some(Arc::new(front_end.identity())), ..empty }
    }

    /// An empty set for vectors with these views, of any one front end.
    pub fn new(views: &[View], axis_len: usize) -> Self {
        Self {
            front_end: None,
            views: views.to_vec(),
            axis_len,
            vectors: vec![Vec::new(); views.len()],
            provenance: Vec::new(),
        }
    }

    /// Adds one clip.
    ///
    /// # Errors
    ///
    /// [`Error::OtherFrontEnd`], [`Error::VectorLength`] or [`Error::Views`] if the clip has other
    /// vectors than this set.
    pub fn push(&mut self, clip: &ClipVectors, provenance: Provenance) -> Result<()> {
        self.check_clip(clip)?;
        let rows: Option<Vec<&[f32]>> = self.views.iter().map(|&view| clip.view(view)).collect();
        let Some(rows) = rows else {
            return Err(Error::Views { needed: self.views.len(), got: clip.views().len() });
        };
        for (matrix, row) in self.vectors.iter_mut().zip(rows) {
            matrix.extend_from_slice(row);
        }
        self.provenance.push(provenance);
        self.adopt(clip.front_end());
        Ok(())
    }

    /// Refuses a clip whose vectors cannot be compared with these.
    pub(crate) fn check_clip(&self, clip: &ClipVectors) -> Result<()> {
        FrontEndIdentity::check_same(self.front_end.as_ref(), clip.front_end())?;
        if clip.axis_len() != self.axis_len {
            let (got, expected) = (clip.axis_len(), self.axis_len);
            return Err(Error::VectorLength { what: "the clip", got, expected });
        }
        Ok(())
    }

    /// Refuses references whose vectors cannot be compared with these.
    pub(crate) fn check_others(&self, others: &Self) -> Result<()> {
        FrontEndIdentity::check_same(self.front_end.as_ref(), others.front_end.as_ref())?;
        if others.axis_len != self.axis_len {
            let (got, expected) = (others.axis_len, self.axis_len);
            return Err(Error::VectorLength { what: "the added references", got, expected });
        }
        if others.views != self.views {
            return Err(Error::Views { needed: self.views.len(), got: others.views.len() });
        }
        Ok(())
    }

    /// From here on vectors of other front ends are refused.
    fn adopt(&mut self, front_end: Option<&Arc<FrontEndIdentity>>) {
        if self.front_end.is_none() {
            self.front_end = front_end.cloned();
        }
    }

    /// These references as those of `front_end`.
    ///
    /// # Errors
    ///
    /// [`Error::OtherFrontEnd`] if they are known to be of another one.
    pub(crate) fn of_front_end(mut self, front_end: &FrontEndIdentity) -> Result<Self> {
        match &self.front_end {
            Some(own) => front_end.check(own)?,
            None => self.front_end = Some(Arc::new(front_end.clone())),
        }
        Ok(self)
    }

    /// Puts a set together from matrices (references x axis), as a model file holds them.
    ///
    /// # Errors
    ///
    /// [`Error::VectorLength`] if a matrix does not have one row a reference.
    pub fn from_matrices(
        axis_len: usize,
        matrices: Vec<(View, Vec<f32>)>,
        provenance: Vec<Provenance>,
    ) -> Result<Self> {
        for (view, matrix) in &matrices {
            let expected = axis_len.saturating_mul(provenance.len());
            if matrix.len() != expected {
                let got = matrix.len();
                return Err(Error::VectorLength { what: view.name(), got, expected });
            }
        }
        let (views, vectors) = matrices.into_iter().unzip();
        Ok(Self { front_end: None, views, axis_len, vectors, provenance })
    }

    /// Appends the references of another set, in order.
    ///
    /// # Errors
    ///
    /// Those of [`References::push`].
    pub fn extend(&mut self, other: &Self) -> Result<()> {
        self.check_others(other)?;
        for (matrix, more) in self.vectors.iter_mut().zip(&other.vectors) {
            matrix.extend_from_slice(more);
        }
        self.provenance.extend_from_slice(&other.provenance);
        self.adopt(other.front_end.as_ref());
        Ok(())
    }

    /// The references at `indices`, in that order.
    #[must_use]
    pub fn select(&self, indices: &[usize]) -> Self {
        let empty = Self::new(&self.views, self.axis_len);
        let mut chosen = Self { front_end: self.front_end.clone(), ..empty };
        for &index in indices {
            for (matrix, from) in chosen.vectors.iter_mut().zip(&self.vectors) {
                matrix.extend_from_slice(&from[index * self.axis_len..(index + 1) * self.axis_len]);
            }
            chosen.provenance.push(self.provenance[index].clone());
        }
        chosen
    }

    /// These references as `storage` keeps them.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if it cannot keep a number.
    pub fn stored_as(mut self, storage: Storage) -> Result<Self> {
        for matrix in &mut self.vectors {
            storage.round(matrix, self.axis_len)?;
        }
        Ok(self)
    }

    /// How many references there are (the paper's R).
    pub fn len(&self) -> usize {
        self.provenance.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.provenance.is_empty()
    }

    /// The front end the vectors are of; `None` if all of them were made by hand.
    pub fn front_end(&self) -> Option<&Arc<FrontEndIdentity>> {
        self.front_end.as_ref()
    }

    /// Length of every vector.
    pub fn axis_len(&self) -> usize {
        self.axis_len
    }

    /// The views each reference has.
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// Where each reference came from.
    pub fn provenance(&self) -> &[Provenance] {
        &self.provenance
    }

    /// The matrix of a view (references x axis), if there is one.
    pub fn matrix(&self, view: View) -> Option<&[f32]> {
        let index = self.views.iter().position(|&other| other == view)?;
        Some(&self.vectors[index])
    }

    /// The vector of one reference, if it exists.
    pub fn vector(&self, view: View, reference: usize) -> Option<&[f32]> {
        let start = reference.checked_mul(self.axis_len)?;
        self.matrix(view)?.get(start..start + self.axis_len)
    }

    /// The vectors of one reference.
    pub fn clip(&self, reference: usize) -> Option<ClipVectors> {
        let views =
            self.views.iter().map(|&view| Some((view, self.vector(view, reference)?.to_vec())));
        ClipVectors::of_reference(self.front_end.clone(), views.collect::<Option<_>>()?).ok()
    }
}

/// One band of one view of all references, ready to be compared with.
#[derive(Debug, Clone)]
pub(crate) struct BandMemory {
    band: Range<usize>,
    metric: Metric,
    /// References that others are compared with.
    len: usize,
    /// One a reference, and one for each that is only compared with them.
    factors: Vec<f64>,
    /// Of the scaled distance only.
    mapped: Option<Mapped>,
}

/// The references of a band as the scaled distance compares them.
#[derive(Debug, Clone)]
struct Mapped {
    map: ScaledMap,
    /// References x width of the band.
    rows: Vec<f32>,
}

impl Mapped {
    /// Maps every row; without a map, by one learnt from the first `len`.
    fn new(rows: &[&[f32]], len: usize, map: Option<ScaledMap>) -> Self {
        let width = rows.first().map_or(0, |row| row.len());
        let factors = unit_factors(rows);
        let map = map.unwrap_or_else(|| ScaledMap::of(width, &rows[..len], &factors));
        let mut values = vec![0.0; rows.len() * width];
        let places = values.chunks_exact_mut(width.max(1)).zip(rows.iter().zip(&factors));
        parallel::for_each(places.collect(), |(mapped, (row, &factor))| {
            map.apply(row, factor, mapped);
        });
        Self { map, rows: values }
    }
}

impl BandMemory {
    /// Prepares one band of one view's matrix. A map is for the scaled distance; without one, it is
    /// learnt from the references.
    pub(crate) fn new(
        matrix: &[f32],
        axis_len: usize,
        band: Range<usize>,
        metric: Metric,
        map: Option<ScaledMap>,
    ) -> Self {
        let rows: Vec<&[f32]> =
            matrix.chunks_exact(axis_len).map(|row| &row[band.clone()]).collect();
        let len = rows.len();
        let mapped = (metric == Metric::Scaled).then(|| Mapped::new(&rows, len, map));
        Self { factors: metric.factors_of(&rows), len, band, metric, mapped }
    }

    /// A memory of the first `len` rows for the scaled distance, by a map of its own; the other rows are
    /// there to be compared with it. Of a view's matrix it needs nothing more.
    pub(crate) fn of_part(len: usize, rows: &[&[f32]]) -> Self {
        let (metric, band) = (Metric::Scaled, 0..rows.first().map_or(0, |row| row.len()));
        let mapped = Some(Mapped::new(rows, len, None));
        Self { factors: vec![1.0; rows.len()], len, band, metric, mapped }
    }

    /// The map of the scaled distance; `None` for the others.
    pub(crate) fn map(&self) -> Option<&ScaledMap> {
        self.mapped.as_ref().map(|mapped| &mapped.map)
    }

    /// What queries are compared with.
    pub(crate) fn outline(&self, matrix: &[f32], axis_len: usize) -> Outline {
        Outline::of(self.width(), self.len(), |index| self.reference(matrix, axis_len, index))
    }

    /// What is taken away from every copy.
    pub(crate) fn centre(&self, matrix: &[f32], axis_len: usize) -> Centre {
        Centre::new(self.width(), self.len(), &|index| self.reference(matrix, axis_len, index))
    }

    /// What `work` makes of each panel's copies.
    pub(crate) fn map_panels<T: Send>(
        &self,
        matrix: &[f32],
        axis_len: usize,
        spare: &Spare<Line<f32>>,
        work: impl Fn(&Copies<'_>) -> T + Sync + Send,
    ) -> Vec<T> {
        let reference = |index| self.reference(matrix, axis_len, index);
        map_panels(self.width(), self.row_count(), spare, reference, work)
    }

    /// How many positions the band has.
    pub(crate) fn width(&self) -> usize {
        self.band.len()
    }

    pub(crate) fn metric(&self) -> Metric {
        self.metric
    }

    /// How many references are in it.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How many there are with those that are only compared with it.
    pub(crate) fn row_count(&self) -> usize {
        self.factors.len()
    }

    /// The values of the band in a vector.
    pub(crate) fn values<'a>(&self, vector: &'a [f32]) -> &'a [f32] {
        &vector[self.band.clone()]
    }

    /// The band of a vector, made like the references; `buffer` holds what has to be mapped.
    pub(crate) fn query<'a>(&self, vector: &'a [f32], buffer: &'a mut Vec<f32>) -> Scaled<'a> {
        let Some(mapped) = &self.mapped else { return self.plain_query(vector) };
        let band = self.values(vector);
        buffer.resize(band.len(), 0.0);
        mapped.map.apply(band, Metric::UnitEuclidean.factor(band), buffer);
        Scaled { vector: buffer, factor: 1.0 }
    }

    /// The same of distances without a map.
    pub(crate) fn plain_query<'a>(&self, vector: &'a [f32]) -> Scaled<'a> {
        let band = self.values(vector);
        Scaled { vector: band, factor: self.metric.factor(band) }
    }

    /// The band of reference `index` in the view's `matrix`, as it is compared.
    pub(crate) fn reference<'a>(
        &'a self,
        matrix: &'a [f32],
        axis_len: usize,
        index: usize,
    ) -> Scaled<'a> {
        let factor = self.factors[index];
        if let Some(Mapped { rows, .. }) = &self.mapped {
            let width = self.width();
            return Scaled { vector: &rows[index * width..(index + 1) * width], factor };
        }
        let start = index * axis_len;
        Scaled { vector: &matrix[start + self.band.start..start + self.band.end], factor }
    }

    /// Distance between two references.
    pub(crate) fn distance(&self, matrix: &[f32], axis_len: usize, from: usize, to: usize) -> f64 {
        let [distance] = self.distances(matrix, axis_len, from, [to]);
        distance
    }

    /// Distances from a reference to others.
    pub(crate) fn distances<const N: usize>(
        &self,
        matrix: &[f32],
        axis_len: usize,
        from: usize,
        to: [usize; N],
    ) -> [f64; N] {
        let reference = |index| self.reference(matrix, axis_len, index);
        self.metric.between(reference(from), to.map(reference))
    }

    /// Distance from a query to a reference.
    pub(crate) fn distance_to(
        &self,
        matrix: &[f32],
        axis_len: usize,
        query: Scaled<'_>,
        index: usize,
    ) -> f64 {
        let [distance] = self.metric.between(query, [self.reference(matrix, axis_len, index)]);
        distance
    }
}
