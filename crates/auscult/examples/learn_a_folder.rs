//! Learns a machine from a folder of normal recordings and checks another folder:
//! `cargo run -p auscult --example learn_a_folder -- recordings/ today/ pump.auscult`

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use auscult::{Learn, Machine, Sources};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [recordings, today, model] = arguments.as_slice() else {
        return Err(
            "give three paths: normal recordings, new recordings, and the model to write".into()
        );
    };

    let pump = Machine::learn(recordings.as_str(), &Learn::default())?;
    let learned = pump.learned();
    println!("{} references from {} visits", learned.references, learned.visits.len());
    for left_out in &learned.left_out {
        println!("{left_out}");
    }
    pump.save(model)?;

    let pump = Machine::open(model)?;
    for clip in pump.listen(Sources::of([today])?) {
        let clip = clip?;
        println!("{}: {}; {}", clip.name(), clip.verdict(), clip.reason());
    }
    Ok(())
}
