//! Opens a model, whoever made it (the program, this library, or Python: the file is the same), and scores one recording:
//! `cargo run -p auscult --example open_model -- pump.auscult today.wav`

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use auscult::{Explanation, Listen, Machine, Sources};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, recording] = arguments.as_slice() else {
        return Err("give the path of a model and of a recording".into());
    };
    let pump = Machine::open(model)?;
    let settings = pump.model().settings();
    println!(
        "{}: {} s clips at {} Hz",
        settings.front_end, settings.clip.seconds, settings.clip.sample_rate
    );
    println!("{} references, model {}", pump.learned().references, pump.hash());

    let listen = Listen { explain: true, ..Listen::default() };
    for clip in pump.listen_with(Sources::of([recording])?, &listen)? {
        let clip = clip?;
        println!("{} {} {:?}", clip.name(), clip.verdict(), clip.score());
        for sentence in clip.explanation.iter().flat_map(Explanation::sentences) {
            println!("  {sentence}");
        }
    }
    Ok(())
}
