//! Facts about the build, for `auscult --version`.

use std::process::Command;

fn main() {
    let commit = output("git", &["rev-parse", "--short=12", "HEAD"]);
    let compiler =
        output(&std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into()), &["--version"]);
    let target = std::env::var("TARGET").unwrap_or_default();
    let profile = std::env::var("PROFILE").unwrap_or_default();
    println!("cargo::rustc-env=AUSCULT_COMMIT={}", commit.unwrap_or_else(|| "unknown".into()));
    println!("cargo::rustc-env=AUSCULT_COMPILER={}", compiler.unwrap_or_else(|| "unknown".into()));
    println!("cargo::rustc-env=AUSCULT_TARGET={target}");
    println!("cargo::rustc-env=AUSCULT_PROFILE={profile}");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../.git/HEAD");
    println!("cargo::rerun-if-changed=../../.git/logs/HEAD");
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
