//! `auscult serve` before it serves: who may log in, and refusing to be open to everybody.

use crate::support::{Ran, Sandbox};

/// Fails unless standard output holds this text.
#[track_caller]
fn shows(ran: Ran, text: &str) -> String {
    let ran = ran.exits(0);
    assert!(ran.stdout.contains(text), "no {text:?} in {ran:#?}");
    ran.stdout
}

#[test]
fn beyond_this_computer_somebody_must_be_able_to_log_in() {
    let sandbox = Sandbox::new();
    sandbox.write("site.toml", "[[machine]]\nname = \"pump-7\"\n");
    let serve = "serve site.toml --data data --listen 0.0.0.0:0 --for 1s";
    sandbox.run(serve).exits(2).says("auscult serve user add NAME --role admin");
    sandbox.run("serve --data data").exits(2).says("auscult serve --demo");
    sandbox.run("serve nothing.toml --data data").exits(2);
    sandbox.run("serve site.toml --data data --listen nowhere").exits(2);
    sandbox.run("serve token add edge --scope push --data data").exits(0);
    sandbox.run(serve).exits(0);
}

#[test]
fn users_are_added_changed_and_removed() {
    let sandbox = Sandbox::new();
    let add = |name: &str, role: &str, password: &str| {
        let line = format!("serve user add {name} --role {role} --data data");
        sandbox.run_with_input(&line, password.as_bytes())
    };
    let list = "serve user list --data data";
    sandbox.run(list).exits(2).says("data: there is no such data folder; name it with --data");
    assert!(!sandbox.path("data").exists());
    std::fs::create_dir(sandbox.path("data")).unwrap();
    shows(sandbox.run(list), "no users");
    shows(add("anna", "admin", "correct horse\n"), "anna is administrator now");
    add("anna", "viewer", "correct horse\n").exits(2).says("already");
    add("bert", "king", "correct horse\n").exits(2).says("viewer, operator or administrator");
    add("bert", "viewer", "short\n").exits(2).says("10 to 1024");
    add("b/t", "viewer", "correct horse\n").exits(2).says("letters");
    add("bert", "viewer", "correct horse\n").exits(0);
    let listed = sandbox.run("serve user list --json --data data").exits(0).stdout;
    assert!(listed.contains("\"role\": \"viewer\"") && !listed.contains("argon2"), "{listed}");
    let changed =
        sandbox.run_with_input("serve user password bert --data data", b"another horse\n");
    shows(changed, "log in again");
    sandbox.run("serve user remove anna --data data").exits(2).says("only administrator");
    sandbox.run("serve user remove bert --data data").exits(0);
    sandbox.run("serve user remove bert --data data").exits(2).says("no user");
    let file = sandbox.read("data/access.db");
    assert!(!file.windows(13).any(|part| part == b"correct horse"));
    // The audit log has what the command line did, too.
    for done in ["user add anna --role administrator", "user password bert", "user remove bert"] {
        let line = format!("auscult serve {done}").into_bytes();
        assert!(file.windows(line.len()).any(|part| part == line), "{done}");
    }
}

#[test]
fn tokens_are_shown_once() {
    let sandbox = Sandbox::new();
    sandbox.run("serve token add edge --data data").exits(2).says("--scope");
    sandbox.run("serve token add edge --scope everything --data data").exits(2).says("push");
    let line = "serve token add edge --scope push --scope read --expires 30 --data data";
    let secret = sandbox.run(line).exits(0).stdout;
    assert!(secret.starts_with("auscult_"), "{secret}");
    let listed = shows(sandbox.run("serve token list --data data"), "read, push");
    assert!(!listed.contains(secret.trim()));
    let listed = sandbox.run("serve token list --json --data data").exits(0).stdout;
    assert!(listed.contains("\"expires\": \"2") && !listed.contains(secret.trim()), "{listed}");
    sandbox.run("serve token revoke edge --data data").exits(0);
    sandbox.run("serve token revoke edge --data data").exits(2).says("no token");
}
