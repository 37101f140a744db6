//! Learns with a progress line and stops after a given number of recordings:
//! `cargo run -p auscult --example progress_and_cancel -- recordings/ 3`

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example shows its result")]

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use auscult::{Cancel, Control, Error, Event, Learn, Machine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let recordings = arguments.next().ok_or("give the folder of the recordings")?;
    let most: usize = arguments.next().map_or(Ok(usize::MAX), |text| text.parse())?;

    let done = AtomicUsize::new(0);
    let events = move |event: Event<'_>| {
        match event {
            Event::Started { what, total, .. } => eprintln!("{total} {what}"),
            Event::Advanced => {
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                eprintln!("{done} done");
                if done >= most {
                    return ControlFlow::Break(());
                }
            }
            Event::Problem(text) | Event::Note(text) => eprintln!("{text}"),
            _ => {}
        }
        ControlFlow::Continue(())
    };
    // Another thread, such as that of a signal or a button, can cancel through a clone of the handle.
    let cancel = Cancel::new();
    let control = Control::new(cancel.clone(), Arc::new(events));
    match Machine::learn(recordings.as_str(), &Learn { control, ..Learn::default() }) {
        Ok(machine) => println!("learnt {} references", machine.learned().references),
        Err(Error::Cancelled) => println!("stopped; nothing was written"),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
