//! The forms of results hold the same numbers.

use parquet::{file::reader::SerializedFileReader, record::RowAccessor};
use serde_json::Value;

use crate::support::{Sandbox, clip, constant_wav, faulty_clip, rows, wav_of};

const HEADER: &str = "path,start_seconds,score,p_value,calibrated,verdict,seconds,time,time_origin,domain,promised,\
                      alarm,copy_of,differs_most,reason,error,model_hash,heard";

/// A model, and three clips in `check/`: one of them silent.
fn plant() -> Sandbox {
    let sandbox = Sandbox::with_model();
    sandbox.write("check/a, \"b\".wav", wav_of(&clip()));
    sandbox.write("check/odd.wav", wav_of(&faulty_clip()));
    sandbox.write("check/silent.wav", constant_wav(0.0));
    sandbox
}

#[test]
fn csv_has_the_promised_header_and_a_row_a_clip_in_input_order() {
    let sandbox = plant();
    let csv = sandbox.run("score model.auscult check --csv").exits(2).stdout;
    assert_eq!(csv.lines().next(), Some(HEADER));
    let rows = rows(&csv);
    let paths: Vec<&str> = rows.iter().map(|row| &row[0]).collect();
    assert_eq!(paths, ["check/a, \"b\".wav", "check/odd.wav", "check/silent.wav"]);
    assert_eq!(
        rows[2].iter().skip(1).take(6).collect::<Vec<_>>(),
        ["0", "", "", "", "silent", "1"]
    );
    assert_eq!(&rows[1][5], "anomalous");
}

#[test]
fn csv_for_spreadsheets_has_no_formulas_and_the_same_numbers() {
    let sandbox = plant();
    sandbox.write("=cmd.wav", wav_of(&faulty_clip()));
    let lines = |form: &str| {
        rows(&sandbox.run(&format!("score model.auscult =cmd.wav {form}")).exits(0).stdout)
    };
    let (plain, safe) = (lines("--csv"), lines("--csv-safe"));
    let (mut alike, mut quoted) = (0, 0);
    for (plain, safe) in plain.iter().flatten().zip(safe.iter().flatten()) {
        if plain.starts_with(['=', '+', '@'])
            || (plain.starts_with('-') && plain.parse::<f64>().is_err())
        {
            assert_eq!(safe, &format!("'{plain}"));
            quoted += 1;
        } else {
            assert_eq!(safe, plain);
            alike += 1;
        }
    }
    assert!(quoted > 0 && alike > 5, "{plain:?}");
}

#[test]
fn json_forms_and_parquet_hold_what_csv_holds() {
    let sandbox = plant();
    let csv = rows(&sandbox.run("score model.auscult check --csv").exits(2).stdout);
    let json = sandbox.run("score model.auscult check --json").exits(2).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], 1);
    let counts = &json["run"]["summary"]["verdicts"];
    assert_eq!(counts, &serde_json::json!({ "anomalous": 1, "normal": 1, "silent": 1 }));
    let json = json["clips"].as_array().unwrap().clone();
    let lines = sandbox.run("score model.auscult check --jsonl").exits(2).stdout;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json, lines);
    sandbox.run("score model.auscult check --parquet out.parquet").exits(2);
    let file = std::fs::File::open(sandbox.path("out.parquet")).unwrap();
    let table: Vec<_> =
        SerializedFileReader::new(file).unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!((csv.len(), json.len(), table.len()), (3, 3, 3));
    for ((cells, object), row) in csv.iter().zip(&json).zip(&table) {
        for (column, name) in HEADER.split(',').enumerate() {
            let cell = &cells[column];
            match &object[name] {
                Value::String(text) => {
                    assert_eq!(text, cell);
                    assert_eq!(row.get_string(column).unwrap(), cell);
                }
                Value::Bool(is_so) => {
                    assert_eq!(cell, is_so.to_string());
                    assert_eq!(row.get_string(column).unwrap(), cell);
                }
                Value::Null => {
                    assert_eq!(cell, "");
                    assert!(row.get_double(column).is_err(), "{name} is there");
                }
                number => {
                    let number = number.as_f64().unwrap();
                    assert_eq!(cell.parse(), Ok(number), "full precision");
                    assert_eq!(row.get_double(column).unwrap().to_bits(), number.to_bits());
                }
            }
        }
    }
}

#[test]
fn band_columns_follow_the_promised_ones() {
    let sandbox = plant();
    let csv = sandbox.run("score model.auscult check/odd.wav --csv --bands").exits(0).stdout;
    let header = csv.lines().next().unwrap();
    assert_eq!(
        header,
        format!(
            "{HEADER},mean,mean_band_0,mean_band_1,mean_band_2,mean_band_3,\
             max,max_band_0,max_band_1,max_band_2,max_band_3"
        )
    );
    let cells = &rows(&csv)[0];
    let first = HEADER.split(',').count();
    let row: Vec<f64> = cells.iter().skip(first).map(|cell| cell.parse().unwrap()).collect();
    let (score, views) = (cells[2].parse::<f64>().unwrap(), [row[0], row[5]]);
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9 * a.abs();
    assert!(close(score, views[0].midpoint(views[1])), "the score is the mean of the views");
    assert!(
        close(views[0], row[1..5].iter().sum::<f64>() / 4.0),
        "a view is the mean of its bands"
    );
}

#[test]
fn results_go_to_a_file_on_request() {
    let sandbox = plant();
    for form in ["csv", "json", "jsonl"] {
        let printed = sandbox.run(&format!("score model.auscult check --{form}")).exits(2).stdout;
        let line = format!("score model.auscult check --{form} --output out.{form}");
        assert_eq!(sandbox.run(&line).exits(2).stdout, "");
        assert_eq!(String::from_utf8(sandbox.read(&format!("out.{form}"))).unwrap(), printed);
    }
}

#[test]
fn explanations_are_part_of_the_json() {
    let sandbox = plant();
    let line = sandbox.run("score model.auscult check/odd.wav --jsonl --explain").exits(0).stdout;
    let object: Value = serde_json::from_str(&line).unwrap();
    assert!(object["explanation"]["summary"].as_str().unwrap().contains("does not sound normal"));
}
