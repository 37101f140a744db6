//! Numbers as text: a column of a CSV file is a recording.

use std::fmt;
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::str::FromStr;

use crate::decode::{Block, Format, check_format};
use crate::{Error, MAX_SAMPLE_RATE, MIN_SAMPLE_RATE, Result};

/// The longest line that is read, in bytes.
const MAX_LINE_BYTES: usize = 1 << 16;

/// Samples of a block.
const BLOCK_LEN: usize = 4_096;

/// Which column of a table holds samples, and what its numbers mean.
///
/// Written `COLUMN@HZ` or `COLUMN@HZ/FULL_SCALE`. The column is a name in the header, or a number
/// counted from 0. Numbers are divided by the full scale, which is 1 if not given, and none may be
/// beyond it.
///
/// # Examples
///
/// ```
/// use auscult_audio::SampleColumn;
///
/// let column: SampleColumn = "acceleration@25600/16".parse()?;
/// assert_eq!((column.sample_rate(), column.full_scale()), (25_600, 16.0));
/// assert_eq!(column.to_string(), "acceleration@25600/16");
/// # Ok::<(), auscult_audio::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SampleColumn {
    column: String,
    sample_rate: u32,
    full_scale: f64,
}

// A full scale is a finite number above 0.
impl Eq for SampleColumn {}

impl Hash for SampleColumn {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.column, self.sample_rate, self.full_scale.to_bits()).hash(state);
    }
}

impl SampleColumn {
    /// The sample rate, in Hz.
    pub fn sample_rate(&self) -> u32 {
        self.sample_rate
    }

    /// What a sample of 1 stands for, in the unit of the table.
    pub fn full_scale(&self) -> f64 {
        self.full_scale
    }
}

impl fmt::Display for SampleColumn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}", self.column, self.sample_rate)?;
        if self.full_scale == 1.0 { Ok(()) } else { write!(formatter, "/{}", self.full_scale) }
    }
}

impl FromStr for SampleColumn {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refused = |allowed: String| Error::Setting {
            name: "column of samples",
            value: format!("{text:?}"),
            allowed,
        };
        let form = || {
            let form = "COLUMN@HZ or COLUMN@HZ/FULL_SCALE, such as acceleration@25600/16";
            refused(form.to_owned())
        };
        let (column, numbers) = text.rsplit_once('@').ok_or_else(form)?;
        let (rate, full_scale) = match numbers.split_once('/') {
            Some((rate, full_scale)) => (rate, full_scale.parse().map_err(|_| form())?),
            None => (numbers, 1.0),
        };
        let sample_rate: u32 = rate.parse().map_err(|_| form())?;
        if column.trim().is_empty() {
            return Err(form());
        }
        if !(MIN_SAMPLE_RATE..=MAX_SAMPLE_RATE).contains(&sample_rate) {
            let (min, max) = (MIN_SAMPLE_RATE, MAX_SAMPLE_RATE);
            return Err(refused(format!("at a sample rate of {min} to {max} Hz")));
        }
        if !(f64::is_finite(full_scale) && full_scale > 0.0) {
            return Err(refused("with a full scale above 0".to_owned()));
        }
        Ok(Self { column: column.trim().to_owned(), sample_rate, full_scale })
    }
}

/// Whether a path has the extension of a table, in upper or lower case.
pub(crate) fn has_table_extension(path: &Path) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case("csv"))
}

/// A table, read line by line.
pub(crate) struct TableReader {
    lines: Lines,
    wanted: SampleColumn,
    separator: u8,
    /// The index of the column.
    column: usize,
    /// Cells of every row.
    width: usize,
    format: Format,
    /// The first line, if it is a row of numbers.
    first: Option<Vec<u8>>,
}

impl TableReader {
    pub(crate) fn open(path: &Path, wanted: &SampleColumn) -> Result<Self> {
        let failed = |error| Error::from_io(path, error);
        let file = File::open(path).map_err(failed)?;
        let label = path.display().to_string();
        if file.metadata().map_err(failed)?.is_dir() {
            return Err(Error::IsFolder { input: label });
        }
        Self::new(&label, Box::new(file), wanted)
    }

    fn new(label: &str, file: Box<dyn Read + Send + Sync>, wanted: &SampleColumn) -> Result<Self> {
        check_format(label, wanted.sample_rate, 1)?;
        let mut lines = Lines::new(file);
        let refused = |line, reason| {
            let input = label.to_owned();
            Error::TableRow { input, line, reason }
        };
        let first = match lines.next_line() {
            Ok(Some(line)) => line.to_vec(),
            Ok(None) => return Err(Error::EmptyFile { input: label.to_owned() }),
            Err(reason) => return Err(refused(lines.number, reason)),
        };
        let separator = separator_of(&first);
        let header = cells(&first, separator);
        let (column, holds) =
            find_column(&wanted.column, &header).map_err(|reason| refused(lines.number, reason))?;
        Ok(Self {
            lines,
            wanted: wanted.clone(),
            separator,
            column,
            width: header.len(),
            format: Format {
                sample_rate: wanted.sample_rate,
                channels: 1,
                codec: "csv".to_owned(),
                bits: None,
            },
            first: (holds == FirstLine::Numbers).then_some(first),
        })
    }

    pub(crate) fn format(&self) -> &Format {
        &self.format
    }

    /// The line that was read last, counted from 1.
    pub(crate) fn line(&self) -> u64 {
        self.lines.number
    }

    /// As [`Decoder::next_block`](crate::decode::Decoder::next_block).
    pub(crate) fn next_block(
        &mut self,
        samples: &mut Vec<f32>,
    ) -> std::result::Result<Block, String> {
        samples.clear();
        let row = Row { separator: self.separator, column: self.column, width: self.width };
        if let Some(line) = self.first.take() {
            samples.push(row.sample(&line, &self.wanted)?);
        }
        while samples.len() < BLOCK_LEN {
            match self.lines.next_line() {
                Ok(Some(line)) => match row.sample(line, &self.wanted) {
                    Ok(sample) => samples.push(sample),
                    Err(reason) => return self.lines.stop(reason, samples),
                },
                Ok(None) if samples.is_empty() => return Ok(Block::End),
                Ok(None) => break,
                Err(reason) => return self.lines.stop(reason, samples),
            }
        }
        Ok(Block::Samples)
    }
}

/// Lines of bounded length, without their ends; empty ones are left out.
struct Lines {
    reader: BufReader<Box<dyn Read + Send + Sync>>,
    line: Vec<u8>,
    number: u64,
    /// What stands in the way after the samples that were given.
    problem: Option<String>,
}

impl Lines {
    fn new(file: Box<dyn Read + Send + Sync>) -> Self {
        Self { reader: BufReader::new(file), line: Vec::new(), number: 0, problem: None }
    }

    fn next_line(&mut self) -> std::result::Result<Option<&[u8]>, String> {
        if let Some(problem) = self.problem.take() {
            return Err(problem);
        }
        loop {
            self.line.clear();
            let mut bounded = self.reader.by_ref().take(MAX_LINE_BYTES as u64);
            let len = bounded
                .read_until(b'\n', &mut self.line)
                .map_err(|error| format!("cannot be read: {error}"))?;
            if len == 0 {
                return Ok(None);
            }
            self.number += 1;
            if len == MAX_LINE_BYTES {
                return Err(format!(
                    "the line is longer than {MAX_LINE_BYTES} bytes; write one row a line"
                ));
            }
            if self.number == 1 {
                self.strip_mark()?;
            }
            while self.line.last().is_some_and(u8::is_ascii_whitespace) {
                self.line.pop();
            }
            if !self.line.is_empty() {
                return Ok(Some(&self.line));
            }
        }
    }

    /// Takes the mark of UTF-8 away.
    fn strip_mark(&mut self) -> std::result::Result<(), String> {
        if self.line.starts_with(b"\xEF\xBB\xBF") {
            self.line.drain(..3);
        }
        if self.line.starts_with(b"\xFF\xFE") || self.line.contains(&0) {
            return Err("the text is not UTF-8; save the file as UTF-8".to_owned());
        }
        Ok(())
    }

    /// Gives the samples before a problem first, the problem next time.
    fn stop(&mut self, reason: String, samples: &[f32]) -> std::result::Result<Block, String> {
        if samples.is_empty() {
            return Err(reason);
        }
        self.problem = Some(reason);
        Ok(Block::Samples)
    }
}

/// Tab, semicolon or comma: the first of them that the first line has.
fn separator_of(line: &[u8]) -> u8 {
    let is_there = |separator: &u8| {
        let mut quoted = false;
        line.iter().any(|byte| {
            quoted ^= *byte == b'"';
            !quoted && byte == separator
        })
    };
    [b'\t', b';', b','].into_iter().find(is_there).unwrap_or(b',')
}

/// The cells of a row, without quotes and the space around them.
fn cells(line: &[u8], separator: u8) -> Vec<String> {
    let mut quoted = false;
    let ends_cell = |byte: &u8| {
        quoted ^= *byte == b'"';
        !quoted && *byte == separator
    };
    line.split(ends_cell).map(|cell| unquoted(cell).into_owned()).collect()
}

fn unquoted(cell: &[u8]) -> std::borrow::Cow<'_, str> {
    let cell = cell.trim_ascii();
    let inner = cell.strip_prefix(b"\"").and_then(|cell| cell.strip_suffix(b"\""));
    String::from_utf8_lossy(inner.unwrap_or(cell).trim_ascii())
}

/// The number in a cell, if it is finite.
fn number(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|value: &f64| value.is_finite())
}

/// What the first line of a table holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstLine {
    Names,
    Numbers,
}

/// A name in the header, otherwise a number counted from 0.
fn find_column(wanted: &str, header: &[String]) -> std::result::Result<(usize, FirstLine), String> {
    let has_names = header.iter().any(|cell| number(cell).is_none());
    let named = header.iter().position(|name| has_names && name == wanted);
    if let Some(index) = named {
        return Ok((index, FirstLine::Names));
    }
    match wanted.parse::<usize>() {
        Ok(index) if index < header.len() => {
            let is_name = number(&header[index]).is_none();
            return Ok((index, if is_name { FirstLine::Names } else { FirstLine::Numbers }));
        }
        Ok(index) => {
            let count = header.len();
            return Err(format!("there is no column {index}: the row has {count}, counted from 0"));
        }
        Err(_) => {}
    }
    if !has_names {
        return Err(format!(
            "there is no column {wanted:?}: the file starts with numbers, not with the names of \
             columns; give the number of the column, counted from 0"
        ));
    }
    let names: Vec<&str> = header.iter().map(|name| shortened(name)).take(MOST_NAMES).collect();
    let more = if header.len() > MOST_NAMES { ", ..." } else { "" };
    Err(format!(
        "there is no column {wanted:?}; the columns are: {}{more} (or give the number of the \
         column, counted from 0)",
        names.join(", ")
    ))
}

/// Columns that an error lists.
const MOST_NAMES: usize = 20;

/// Not more of a cell than a message can show.
fn shortened(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end])
}

/// How a row is read.
#[derive(Clone, Copy)]
struct Row {
    separator: u8,
    column: usize,
    width: usize,
}

impl Row {
    fn sample(self, line: &[u8], wanted: &SampleColumn) -> std::result::Result<f32, String> {
        let value = self.value(line)?;
        let scaled = value / wanted.full_scale;
        if scaled.abs() <= 1.0 {
            return Ok(scaled as f32);
        }
        let SampleColumn { column, sample_rate, full_scale } = wanted;
        let enough = value.abs().log2().ceil().exp2();
        Err(format!(
            "the value {value} is beyond the full scale of {full_scale}; give the full scale of \
             the sensor, such as {column}@{sample_rate}/{enough}"
        ))
    }

    fn value(self, line: &[u8]) -> std::result::Result<f64, String> {
        if line.contains(&b'"') {
            let cells = cells(line, self.separator);
            return self.parse(cells.get(self.column).map(String::as_str), cells.len());
        }
        let width = line.split(|byte| *byte == self.separator).count();
        let cell = line.split(|byte| *byte == self.separator).nth(self.column);
        let cell = cell.map(|cell| String::from_utf8_lossy(cell.trim_ascii()));
        self.parse(cell.as_deref(), width)
    }

    fn parse(self, cell: Option<&str>, width: usize) -> std::result::Result<f64, String> {
        if width != self.width {
            let hint = if self.separator == b',' && width > self.width {
                "; numbers with a decimal comma are not read, write a point"
            } else {
                "; every row needs the same cells"
            };
            return Err(format!(
                "the row has {width} cells but the first line has {}{hint}",
                self.width
            ));
        }
        let cell = cell.unwrap_or_default();
        number(cell).ok_or_else(|| match cell {
            "" => "the cell is empty; every row needs a number".to_owned(),
            _ if number(&cell.replacen(',', ".", 1)).is_some() => {
                format!("{cell:?} has a decimal comma, which is not read; write a point")
            }
            _ => format!("{:?} is not a number; every row needs one", shortened(cell)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn open(text: &str, wanted: &str) -> Result<TableReader> {
        let bytes = Cursor::new(text.as_bytes().to_vec());
        TableReader::new("t.csv", Box::new(bytes), &wanted.parse().unwrap())
    }

    /// All samples, or the first problem with its line.
    fn read(text: &str, wanted: &str) -> std::result::Result<Vec<f32>, String> {
        let mut reader = open(text, wanted).map_err(|error| error.to_string())?;
        let (mut all, mut block) = (Vec::new(), Vec::new());
        loop {
            match reader.next_block(&mut block) {
                Ok(Block::Samples) => all.extend_from_slice(&block),
                Ok(Block::End) => return Ok(all),
                Err(reason) => return Err(format!("{}: {reason}", reader.line())),
            }
        }
    }

    #[test]
    fn every_usual_form_of_a_table_is_read() {
        for text in [
            "time,x\n0,0.25\n1,-0.5\n",
            "time,x\r\n0,0.25\r\n1,-0.5\r\n",
            "time;x\n0;0.25\n\n1;-5e-1",
            "\u{feff}time\tx\n0\t0.25\n1\t-0.5\n",
            "\"time\", \"x\"\n\"0\", \"0.25\"\n1, -0.5\n",
            "\"time, in s\";x\n0;+0.25\n1;-.5\n",
        ] {
            for column in ["x@1000", "1@1000"] {
                assert_eq!(read(text, column).as_deref(), Ok(&[0.25, -0.5][..]), "{text:?}");
            }
        }
        assert_eq!(read("0.25\n-0.5\n", "0@1000").unwrap(), [0.25, -0.5]);
        assert_eq!(read("g\n4\n-8\n", "g@1000/16").unwrap(), [0.25, -0.5]);
        // Without names a number is a position, whatever stands in the first row.
        assert_eq!(read("1,0\n0.5,0.25\n", "1@1000").unwrap(), [0.0, 0.25]);
        assert_eq!(read("1,a\n0.5,0.25\n", "1@1000").unwrap(), [0.5]);
        assert_eq!(read("x\n", "x@1000").unwrap(), [] as [f32; 0]);
    }

    #[test]
    fn blocks_are_bounded_and_join() {
        let text: String =
            (0..10_000).map(|at| (f64::from(at) / 16_384.0).to_string() + "\n").collect();
        let want: Vec<f32> = (0..10_000).map(|at| at as f32 / 16_384.0).collect();
        assert_eq!(read(&text, "0@1000").unwrap(), want);
        let mut reader = open(&text, "0@1000").unwrap();
        let mut block = Vec::new();
        reader.next_block(&mut block).unwrap();
        assert_eq!(block.len(), BLOCK_LEN);
    }

    #[test]
    fn problems_name_the_line_the_value_and_what_to_do() {
        let long = format!("x\n{}\n", "1".repeat(MAX_LINE_BYTES));
        for (text, column, expected) in [
            ("x\n0.5\nabc\n", "x@1000", "3: \"abc\" is not a number"),
            ("x\n0.5\nnan\n", "x@1000", "3: \"nan\" is not a number"),
            ("a,x\n1,0.5\n1,\n", "x@1000", "3: the cell is empty"),
            ("a;x\n1;0,5\n", "x@1000", "2: \"0,5\" has a decimal comma"),
            ("x\n0,5\n", "x@1000", "2: the row has 2 cells but the first line has 1; numbers with"),
            ("a,x\n1\n", "x@1000", "2: the row has 1 cells but the first line has 2; every row"),
            ("x\n0.5\n-9.81\n", "x@1000", "3: the value -9.81 is beyond the full scale of 1; give"),
            (
                "x\n-9.81\n",
                "x@1000",
                "2: the value -9.81 is beyond the full scale of 1; give the \
              full scale of the sensor, such as x@1000/16",
            ),
            ("x\n20\n", "x@1000/16", "2: the value 20 is beyond the full scale of 16"),
            ("a,b\n1,2\n", "x@1000", "t.csv:1: there is no column \"x\"; the columns are: a, b"),
            ("1,2\n1,2\n", "x@1000", "t.csv:1: there is no column \"x\": the file starts with"),
            ("a,b\n1,2\n", "2@1000", "t.csv:1: there is no column 2: the row has 2, counted"),
            ("", "x@1000", "t.csv: the file is empty"),
            ("\n\r\n", "x@1000", "t.csv: the file is empty"),
            ("x\0\n", "x@1000", "t.csv:1: the text is not UTF-8"),
            (&long, "x@1000", "2: the line is longer than 65536 bytes"),
        ] {
            let error = read(text, column).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn columns_are_written_as_they_are_parsed() {
        for text in ["x@25600", "a@b@1000/0.5", "0@48000/16"] {
            assert_eq!(text.parse::<SampleColumn>().unwrap().to_string(), text);
        }
        for text in ["x", "x@", "@1000", "x@1000/", "x@1000/0", "x@1000/-1", "x@1000/inf", "x@999"]
        {
            let error = text.parse::<SampleColumn>().unwrap_err().to_string();
            assert!(error.starts_with("column of samples must be "), "{error}");
            assert!(error.contains(text), "{error}");
        }
    }
}
