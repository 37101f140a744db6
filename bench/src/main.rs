//! Runs one piece of work when asked, and says how long it took.
//!
//! `auscult-bench serve FOLDER` reads names of work from standard input, one a line, and answers
//! each with nanoseconds, so that `bench/compare.py` can run us and the peers in turns. `auscult-bench
//! numbers FOLDER NAME` prints what the work computes, so that it can see that both computed the
//! same. `auscult-bench repeat NAME COUNT` does work on made-up inputs, for `bench/instructions.py`,
//! `auscult-bench scaling references|clips COUNT` measures one size, for `bench/scaling.py`,
//! `auscult-bench preset COUNT ROUNDS` what the preset `fast` costs, and `auscult-bench growth fast|best COUNT
//! fit|calibrate` what presets cost with growing memories, for `bench/presets.py`, and
//! `auscult-bench fit FOLDER MODEL` and `auscult-bench score MODEL FILE` are whole programs.
#![expect(clippy::print_stdout, reason = "the answers")]

mod presets;
mod program;
mod scaling;
mod work;

use std::{
    io::{BufRead, Write, stdin, stdout},
    path::Path,
    time::Instant,
};

use anyhow::{Context, Result, bail};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["serve", folder] => serve(Path::new(folder)),
        ["numbers", folder, name] => {
            let mut work = work::load(name, Path::new(folder))?;
            for number in work()? {
                println!("{number}");
            }
            Ok(())
        }
        ["repeat", name, count] => {
            let mut work = work::load(name, Path::new("made-up"))?;
            for _ in 0..count.parse::<usize>()? {
                std::hint::black_box(work()?);
            }
            Ok(())
        }
        ["fit", folder, model] => program::fit(Path::new(folder), Path::new(model)),
        ["score", model, path] => program::score(Path::new(model), Path::new(path)),
        ["preset", count, rounds] => presets::run(count.parse()?, rounds.parse()?),
        ["growth", preset, count, how @ ("fit" | "calibrate")] => {
            presets::growth(preset, count.parse()?, how == "calibrate")
        }
        ["scaling", "references", count] => scaling::references(count.parse()?),
        ["scaling", "clips", count] => scaling::clips(count.parse()?),
        _ => bail!(
            "auscult-bench serve FOLDER | numbers FOLDER NAME | repeat NAME COUNT | \
             preset COUNT ROUNDS | growth fast|best COUNT fit|calibrate | scaling WHAT COUNT | fit FOLDER MODEL | score MODEL FILE"
        ),
    }
}

fn serve(folder: &Path) -> Result<()> {
    let mut loaded: Vec<(String, work::Work)> = Vec::new();
    for line in stdin().lock().lines() {
        let name = line?;
        let known = loaded.iter().position(|(known, _)| *known == name);
        let at = known.unwrap_or(loaded.len());
        if known.is_none() {
            let work = work::load(&name, folder).with_context(|| name.clone())?;
            loaded.push((name, work));
        }
        let start = Instant::now();
        let numbers = (loaded[at].1)()?;
        let elapsed = start.elapsed().as_nanos();
        // The numbers are made and dropped outside: the peers' are, too.
        std::hint::black_box(numbers);
        println!("{elapsed}");
        stdout().flush()?;
    }
    Ok(())
}
