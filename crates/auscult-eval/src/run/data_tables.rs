//! The clips that are there and the windows they are compared in, beside the paper's (its Tables 1 and 2).

use auscult_core::{BandSettings, ClipLength};
use auscult_encoders::KnownEncoder;
use serde::Serialize;

use super::{
    front_ends::{FrontEndMaker, FrontEndName},
    tables::part_name,
    text_table::TextTable,
    worker::MissingFrontEnd,
};
use crate::{
    Result,
    datasets::{Dataset, DatasetKind, GroupCounts},
    paper::{ClipCounts, PaperCounts, PaperWindows, SplitName, WindowsRequest},
    protocol::Protocol,
};

/// The clips of one section and split.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CountsRow {
    /// The data set.
    pub dataset: DatasetKind,
    /// The part of it.
    pub set: String,
    /// The machine and its section.
    pub section: String,
    /// Training or test clips.
    pub split: SplitName,
    /// The clips that are there.
    pub found: ClipCounts,
    /// Test clips without a label, which are in no column.
    pub unlabelled: usize,
    /// What the paper gives.
    pub paper: PaperCounts,
    /// Whether they are the same; `None` where labels are missing, or the paper gives nothing.
    pub as_paper: Option<bool>,
}

/// The windows of one front end on one data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WindowsRow {
    /// The front end, with its convention.
    pub front_end: String,
    /// The data set.
    pub dataset: DatasetKind,
    /// Positions of the whole vector.
    pub axis_len: usize,
    /// Positions in a window, as it will be used.
    pub width: usize,
    /// Positions from one window to the next.
    pub stride: usize,
    /// How many windows there are.
    pub windows: usize,
    /// What the paper gives.
    pub paper: Option<PaperWindows>,
    /// Whether they are the same; `None` where the paper gives none.
    pub as_paper: Option<bool>,
}

/// What the data and the windows are, where the protocol asks for them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DataTables {
    /// The clips of each section beside the paper's.
    pub counts: Vec<CountsRow>,
    /// The windows of each front end beside the paper's.
    pub windows: Vec<WindowsRow>,
    /// Front ends that could not be made.
    pub missing: Vec<MissingFrontEnd>,
}

impl DataTables {
    /// Counts the clips of the data sets, and lays out the windows of the protocol's front ends.
    ///
    /// # Errors
    ///
    /// If a front end cannot have the windows asked for.
    pub fn of(
        protocol: &Protocol,
        datasets: &[Dataset],
        length: ClipLength,
        make: &FrontEndMaker<'_>,
    ) -> Result<Self> {
        let (windows, missing) = windows(protocol, length, make)?;
        let counts = datasets.iter().flat_map(|dataset| counts(protocol, dataset)).collect();
        Ok(Self { counts, windows, missing })
    }
}

/// Counts a data set's clips beside what the protocol has of the paper, and alone where that has nothing.
fn counts(protocol: &Protocol, dataset: &Dataset) -> Vec<CountsRow> {
    if protocol.counts.is_empty() {
        return Vec::new();
    }
    let of_dataset = protocol.counts.iter().filter(|paper| paper.dataset == dataset.kind);
    let mut paper: Vec<PaperCounts> = of_dataset.copied().collect();
    if paper.is_empty() {
        let clips = ClipCounts::default();
        let unknown = |split| PaperCounts { dataset: dataset.kind, split, at_most: false, clips };
        paper.extend([SplitName::Train, SplitName::Test].map(unknown));
    }
    let rows = |group| {
        let found = GroupCounts::of(dataset.kind, &group);
        paper.iter().map(move |&paper| row(dataset.kind, &found, paper)).collect::<Vec<_>>()
    };
    dataset.groups().into_iter().flat_map(rows).collect()
}

fn row(dataset: DatasetKind, section: &GroupCounts, paper: PaperCounts) -> CountsRow {
    let wanted = paper.clips;
    let is_known = wanted != ClipCounts::default();
    let [source_normal, source_anomalous, target_normal, target_anomalous] = section.test;
    let of_target = section.train_target + target_normal + target_anomalous;
    let has_domains = if is_known { wanted.target_normal.is_some() } else { of_target > 0 };
    let found = match (paper.split, has_domains) {
        (SplitName::Train, true) => ClipCounts {
            source_normal: Some(section.train_source),
            target_normal: Some(section.train_target),
            ..ClipCounts::default()
        },
        (SplitName::Train, false) => ClipCounts {
            source_normal: Some(section.train_source + section.train_target),
            ..ClipCounts::default()
        },
        (SplitName::Test, true) => ClipCounts {
            source_normal: Some(source_normal),
            source_anomalous: Some(source_anomalous),
            target_normal: Some(target_normal),
            target_anomalous: Some(target_anomalous),
        },
        (SplitName::Test, false) => ClipCounts {
            source_normal: Some(source_normal + target_normal),
            source_anomalous: Some(source_anomalous + target_anomalous),
            ..ClipCounts::default()
        },
    };
    let unlabelled = if paper.split == SplitName::Test { section.unlabelled } else { 0 };
    let agrees = |(found, wanted): (Option<usize>, Option<usize>)| match (found, wanted) {
        (Some(found), Some(wanted)) if paper.at_most => found <= wanted,
        (found, wanted) => found == wanted,
    };
    let agrees = found.columns().into_iter().zip(wanted.columns()).all(agrees);
    CountsRow {
        dataset,
        set: section.set.clone(),
        section: section.name(),
        split: paper.split,
        found,
        unlabelled,
        paper,
        as_paper: (is_known && unlabelled == 0).then_some(agrees),
    }
}

/// The windows of every front end of the protocol on each of its data sets, and the front ends that could
/// not be made.
fn windows(
    protocol: &Protocol,
    length: ClipLength,
    make: &FrontEndMaker<'_>,
) -> Result<(Vec<WindowsRow>, Vec<MissingFrontEnd>)> {
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    for request in &protocol.windows {
        let (system, name) = (request.system(), FrontEndName::of_windows(request));
        match (make(&name, length), published(request)) {
            (Ok(front_end), _) => {
                for &dataset in &protocol.datasets {
                    let system = system.for_dataset(&dataset.to_string());
                    let bands = system.beam_settings(&*front_end)?.bands;
                    rows.push(windows_row(request, dataset, front_end.axis().len(), bands)?);
                }
            }
            (Err(_), Some((axis_len, bands))) => {
                for &dataset in &protocol.datasets {
                    rows.push(windows_row(request, dataset, axis_len, bands)?);
                }
            }
            (Err(reason), None) => {
                let (front_end, systems) = (name.to_string(), Vec::new());
                missing.push(MissingFrontEnd { front_end, reason, systems });
            }
        }
    }
    Ok((rows, missing))
}

/// The axis of a released encoder and its bands, one a frequency row: they are known without its weights.
fn published(request: &WindowsRequest) -> Option<(usize, BandSettings)> {
    let known = KnownEncoder::named(&request.front_end)?;
    let (rows, width) = known.bands();
    request.band_width_for.is_empty().then(|| (rows * width, BandSettings::touching(width)))
}

fn windows_row(
    request: &WindowsRequest,
    dataset: DatasetKind,
    axis_len: usize,
    bands: BandSettings,
) -> Result<WindowsRow> {
    let (width, stride) = match bands {
        BandSettings::Windows { width, stride } => (width, stride),
        BandSettings::Whole => (axis_len, axis_len),
    };
    let windows = bands.layout(axis_len)?.bands().len();
    let paper = paper_windows(request, dataset);
    let as_paper = |paper: &PaperWindows| {
        (paper.width, paper.stride, paper.windows) == (width, stride, windows)
    };
    Ok(WindowsRow {
        front_end: FrontEndName::of_windows(request).to_string(),
        dataset,
        axis_len,
        width,
        stride,
        windows,
        as_paper: paper.map(as_paper),
        paper: paper.cloned(),
    })
}

fn paper_windows(request: &WindowsRequest, dataset: DatasetKind) -> Option<&PaperWindows> {
    request.paper.iter().find(|row| row.datasets.is_empty() || row.datasets.contains(&dataset))
}

/// Both tables as text; those without rows are not there.
pub(super) fn tables(counts: &[CountsRow], windows: &[WindowsRow]) -> Vec<TextTable> {
    let mut tables = Vec::new();
    if !counts.is_empty() {
        tables.push(TextTable {
            title: "Clips of each section; the paper's in brackets".to_owned(),
            heads: [
                "part",
                "section",
                "split",
                "source normal",
                "anomalous",
                "target normal",
                "anomalous",
                "no label",
                "as in the paper",
            ]
            .map(str::to_owned)
            .to_vec(),
            rows: counts.iter().map(counts_cells).collect(),
        });
    }
    if !windows.is_empty() {
        tables.push(TextTable {
            title: "Windows; the paper's in brackets".to_owned(),
            heads: [
                "front end",
                "data set",
                "positions",
                "window",
                "stride",
                "windows",
                "as in the paper",
            ]
            .map(str::to_owned)
            .to_vec(),
            rows: windows.iter().map(windows_cells).collect(),
        });
    }
    tables
}

fn counts_cells(row: &CountsRow) -> Vec<String> {
    let most = if row.paper.at_most { "at most " } else { "" };
    let cell = |(found, paper): (Option<usize>, Option<usize>)| match (found, paper) {
        (None, _) => "-".to_owned(),
        (Some(found), None) => found.to_string(),
        (Some(found), Some(paper)) => format!("{found} ({most}{paper})"),
    };
    let mut cells =
        vec![part_name(row.dataset, &row.set), row.section.clone(), row.split.name().to_owned()];
    cells.extend(row.found.columns().into_iter().zip(row.paper.clips.columns()).map(cell));
    cells.push(row.unlabelled.to_string());
    let unknown = if row.unlabelled > 0 { "labels are missing" } else { "not in the paper" };
    cells.push(agreement(row.as_paper, unknown));
    cells
}

fn windows_cells(row: &WindowsRow) -> Vec<String> {
    let paper = row.paper.as_ref();
    let cell = |ours: usize, paper: Option<usize>| {
        paper.map_or_else(|| ours.to_string(), |paper| format!("{ours} ({paper})"))
    };
    vec![
        row.front_end.clone(),
        row.dataset.to_string(),
        row.axis_len.to_string(),
        cell(row.width, paper.map(|paper| paper.width)),
        cell(row.stride, paper.map(|paper| paper.stride)),
        cell(row.windows, paper.map(|paper| paper.windows)),
        agreement(row.as_paper, "not in the paper"),
    ]
}

fn agreement(as_paper: Option<bool>, unknown: &str) -> String {
    match as_paper {
        Some(true) => "yes".to_owned(),
        Some(false) => "no".to_owned(),
        None => unknown.to_owned(),
    }
}
