//! Manifests through `expand`, and row by row.

use super::*;
use crate::{Expanded, Label, Location, UnknownLabel};

/// Expands a manifest that lies beside `a.wav` and `sub/b.wav`.
fn expand_manifest(name: &str, content: impl AsRef<[u8]>) -> (tempfile::TempDir, Expanded) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    for file in ["a.wav", "sub/b.wav"] {
        std::fs::write(folder.path().join(file), "").unwrap();
    }
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let expanded = crate::expand(&[path.to_str().unwrap().to_owned()]);
    (folder, expanded)
}

fn problems(expanded: &Expanded) -> Vec<String> {
    expanded.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn csv_rows_become_sources_relative_to_the_manifest() {
    let (folder, expanded) = expand_manifest(
        "list.CSV",
        "\u{feff}machine,visit,path,domain\nfan,1,a.wav,\nfan,,\"sub/b.wav\",target\n",
    );
    assert_eq!(problems(&expanded), [""; 0]);
    let [first, second] = &expanded.sources[..] else { panic!("two sources") };
    assert_eq!(first.location, Location::File(folder.path().join("a.wav")));
    assert_eq!((first.visit.as_deref(), first.domain.as_deref()), (Some("1"), None));
    assert_eq!(second.location, Location::File(folder.path().join("sub/b.wav")));
    assert_eq!((second.visit.as_deref(), second.domain.as_deref()), (None, Some("target")));
}

#[test]
fn json_lines_become_sources_and_numbers_are_text() {
    let (_folder, expanded) = expand_manifest(
        "list.jsonl",
        "\u{feff}{\"path\":\"a.wav\",\"visit\":7,\"gain\":[1]}\n\n{\"path\":\"sub/b.wav\",\"visit\":\"\"}",
    );
    assert_eq!(problems(&expanded), [""; 0]);
    let visits: Vec<_> = expanded.sources.iter().map(|source| source.visit.clone()).collect();
    assert_eq!(visits, [Some("7".to_owned()), None]);
}

#[test]
fn bad_rows_are_named_by_their_line_and_the_others_go_on() {
    let csv = b"path,visit\ngone.wav,1\na.wav,1,2\n,1\nsub,1\n\xff,1\na.wav,2\n";
    let (_folder, expanded) = expand_manifest("list.csv", csv);
    assert_eq!(expanded.sources.len(), 1);
    let expected = [
        (2, "no such file"),
        (3, "the row has 3 cells but the header has 2"),
        (4, "the path is empty"),
        (5, "is a folder"),
        (6, "not UTF-8"),
    ];
    let problems = problems(&expanded);
    assert_eq!(problems.len(), expected.len());
    for (problem, (line, reason)) in problems.iter().zip(expected) {
        assert!(problem.contains(&format!("list.csv:{line}: ")), "{problem}");
        assert!(problem.contains(reason), "{problem}");
    }
}

#[test]
fn bad_json_lines_are_named_by_their_line() {
    let lines = "{\"path\":\"a.wav\"}\n{path}\n[]\n{\"path\":\"a.wav\",\"visit\":true}\n{}\n";
    let (_folder, expanded) = expand_manifest("list.ndjson", lines);
    assert_eq!(expanded.sources.len(), 1);
    let problems = problems(&expanded);
    assert_eq!(problems.len(), 4);
    for (problem, line) in problems.iter().zip(2..) {
        assert!(problem.contains(&format!("list.ndjson:{line}: ")), "{problem}");
        assert!(!problem.contains("at line 1"), "{problem}");
    }
}

#[test]
fn csv_without_a_path_column_is_refused_with_what_it_has() {
    let (_folder, expanded) = expand_manifest("list.csv", "file;visit\na.wav;1\n");
    let problems = problems(&expanded);
    assert!(problems[0].contains("no column `path` (it has: file;visit)"), "{problems:?}");
}

#[test]
fn empty_manifests_are_refused() {
    for (name, content) in [("a.csv", ""), ("b.csv", "path\n"), ("c.jsonl", "\n\n")] {
        let (_folder, expanded) = expand_manifest(name, content);
        assert!(expanded.sources.is_empty());
        assert_eq!(expanded.problems.len(), 1, "{name}");
    }
}

#[test]
fn endless_line_is_refused() {
    let (_folder, expanded) = expand_manifest("list.jsonl", vec![b'x'; 3 << 20]);
    assert!(problems(&expanded)[0].contains("longer than 1048576 bytes"));
}

fn open(name: &str, content: impl AsRef<[u8]>) -> Result<Manifest> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    Manifest::open(&path)
}

/// Everything a row can say, in upper case where a reader might mind.
fn check_whole_row(row: &Row) {
    assert_eq!(row.written_path, "a.wav");
    assert!(row.path.is_absolute() && row.path.ends_with("a.wav"));
    let texts = [&row.visit, &row.domain, &row.split, &row.machine, &row.section, &row.time];
    let texts = texts.map(|text| text.as_deref().unwrap_or_default());
    assert_eq!(texts, ["3", "target", "Test", "fan", "00", "2024-05-03T14:22:10Z"]);
    assert_eq!(row.label, Some(Ok(Label::Anomaly)));
    assert_eq!((row.start_seconds, row.seconds), (Some(1.5), Some(10.0)));
}

#[test]
fn every_format_says_the_same() {
    let csv = "Path,VISIT,domain,Label,split,machine,section,time,start_seconds,seconds,other\n\
        a.wav,3,target,NG,Test,fan,00,2024-05-03T14:22:10Z,1.5,10,x\n";
    let json = r#"{"PATH":"a.wav","visit":3,"domain":"target","label":true,"split":"Test","machine":"fan",
        "section":"00","time":"2024-05-03T14:22:10Z","Start_Seconds":1.5,"seconds":"10","other":[{}]}"#
        .replace('\n', "");
    for (name, content, line) in [("a.csv", csv, 2), ("a.jsonl", json.as_str(), 1)] {
        let manifest = open(name, content).unwrap();
        let row = manifest.rows[0].as_ref().unwrap();
        assert_eq!(row.line, line);
        check_whole_row(row);
        assert!(Column::ALL.iter().all(|column| manifest.has(*column)), "{name}");
    }
}

#[test]
fn unknown_labels_and_cells_without_text_stay_in_the_row() {
    let manifest = open("a.csv", "path,label,visit\na.wav,maybe,\nb.wav, ,\n").unwrap();
    let label = |at: usize| manifest.rows[at].as_ref().unwrap().label.clone();
    assert_eq!(label(0), Some(Err(UnknownLabel("maybe".to_owned()))));
    assert_eq!(label(1), None);
    assert!(manifest.has(Column::Label) && !manifest.has(Column::Split));
}

#[test]
fn parts_of_a_recording_must_be_times() {
    for (name, seconds) in [("start_seconds", "soon"), ("seconds", "-1"), ("seconds", "NaN")] {
        let manifest = open("a.csv", format!("path,{name}\na.wav,{seconds}\nb.wav,2\n")).unwrap();
        let error = manifest.rows[0].as_ref().unwrap_err().to_string();
        let expected = format!("a.csv:2: {name} must be a number from 0 to 1e8, got {seconds:?}");
        assert!(error.ends_with(&expected), "{error}");
        assert!(manifest.rows[1].is_ok());
    }
}

#[test]
fn times_go_to_the_sources_and_nonsense_is_noted() {
    let (_folder, expanded) = expand_manifest(
        "a.csv",
        "path,time\na.wav,2024-05-03T14:22:10Z\nsub/b.wav,2024-13-01T00:00:00Z\na.wav,noon\n",
    );
    let [first, second, _] = &expanded.sources[..] else { panic!("three sources") };
    assert_eq!(first.recorded_at().unwrap().to_string(), "2024-05-03T14:22:10Z");
    assert_eq!(second.time, None);
    let [note] = &expanded.notes[..] else { panic!("{:?}", expanded.notes) };
    let note = note.to_string();
    assert!(note.contains("a.csv:3: the time \"2024-13-01T00:00:00Z\" is ignored"), "{note}");
    assert!(note.ends_with("; so are those of 1 more rows"), "{note}");
}

#[test]
fn columns_that_are_there_twice_are_refused() {
    let error = open("a.csv", "path,label,LABEL\na.wav,0,1\n").unwrap_err().to_string();
    assert!(error.contains("names the column `label` twice"), "{error}");
    let manifest = open("a.jsonl", r#"{"path":"a.wav","Visit":1,"visit":2}"#).unwrap();
    let error = manifest.rows[0].as_ref().unwrap_err().to_string();
    assert!(error.contains("the key `visit` is there twice"), "{error}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_is_refused_with_what_is_missing() {
    let error = open("a.parquet", "PAR1").unwrap_err();
    assert!(matches!(error, Error::NoParquet { .. }));
    assert!(error.to_string().contains("built with the cargo feature `parquet`"), "{error}");
}

#[cfg(feature = "parquet")]
mod parquet {
    use ::parquet::basic::Compression;
    use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
    use ::parquet::file::properties::WriterProperties;
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;
    use proptest::prelude::*;

    use super::*;

    /// One row in a table with all columns and one more.
    fn table(compression: Compression) -> Vec<u8> {
        let schema = "message table { required binary path (STRING); optional int64 other; \
            required int64 visit; required binary domain (STRING); required boolean label; \
            required binary split (STRING); required binary Machine (STRING); \
            required binary section (STRING); required binary time (STRING); \
            required double start_seconds; required double seconds; }";
        let properties = WriterProperties::builder().set_compression(compression).build();
        let schema = parse_message_type(schema).unwrap().into();
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties.into()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let text = |text: &str| Some(ByteArray::from(text));
        let texts = [
            text("a.wav"),
            None,
            None,
            text("target"),
            None,
            text("Test"),
            text("fan"),
            text("00"),
            text("2024-05-03T14:22:10Z"),
        ];
        let mut at = 0;
        while let Some(mut column) = group.next_column().unwrap() {
            match (at, texts.get(at).cloned().flatten()) {
                (_, Some(text)) => {
                    column.typed::<ByteArrayType>().write_batch(&[text], None, None).unwrap()
                }
                (1, _) => column.typed::<Int64Type>().write_batch(&[], Some(&[0]), None).unwrap(),
                (2, _) => column.typed::<Int64Type>().write_batch(&[3], None, None).unwrap(),
                (4, _) => column.typed::<BoolType>().write_batch(&[true], None, None).unwrap(),
                (9, _) => column.typed::<DoubleType>().write_batch(&[1.5], None, None).unwrap(),
                _ => column.typed::<DoubleType>().write_batch(&[10.0], None, None).unwrap(),
            };
            column.close().unwrap();
            at += 1;
        }
        group.close().unwrap();
        writer.into_inner().unwrap()
    }

    #[test]
    fn parquet_says_the_same() {
        for compression in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(::parquet::basic::GzipLevel::default()),
        ] {
            let manifest = open("a.parquet", table(compression)).unwrap();
            let [Ok(row)] = &manifest.rows[..] else { panic!("{manifest:?}") };
            check_whole_row(row);
            assert!(Column::ALL.iter().all(|column| manifest.has(*column)));
        }
    }

    #[test]
    fn what_is_not_parquet_is_refused() {
        for content in ["", "PAR1", "path,visit\na.wav,1\n"] {
            let error = open("a.parquet", content).unwrap_err().to_string();
            assert!(error.contains("a.parquet: cannot be read as Parquet"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn flipped_bytes_give_rows_or_a_clean_error(
            flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..4),
        ) {
            let mut bytes = table(Compression::SNAPPY);
            for (index, value) in flips {
                let at = index.index(bytes.len());
                bytes[at] ^= value;
            }
            let _ = open("a.parquet", bytes);
        }
    }
}
