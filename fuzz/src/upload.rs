//! Checks of the service: sound in the body of a request.

use auscult_server::take_sound;

/// A request with sound: its Content-Type, the end of a line, and its body.
///
/// # Panics
///
/// If it is answered with a failure of the service, or something is left on the disk.
pub fn body(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (kind, body) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => panic!("no temporary folder: {error}"),
    };
    match take_sound(folder.path(), &String::from_utf8_lossy(kind), body) {
        Ok(samples) => assert!(samples > 0, "sound without a sample was taken"),
        Err(problem) => {
            let status = problem.status().as_u16();
            assert!([413, 415, 422].contains(&status), "answered with {status}: {problem:?}");
        }
    }
    let left = std::fs::read_dir(folder.path().join("incoming")).into_iter().flatten().count();
    assert_eq!(left, 0, "a file was left");
}
