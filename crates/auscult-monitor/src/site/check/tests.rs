use super::*;

fn problems(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    std::fs::create_dir(folder.path().join("other")).unwrap();
    std::fs::write(folder.path().join("junk.pem"), "this is not a certificate").unwrap();
    match Site::parse(text, &folder.path().join("site.toml")) {
        Ok(_) => Vec::new(),
        Err(problems) => {
            let line = |problem: &Problem| {
                let text = problem.text.replace(&folder.path().display().to_string(), "…");
                format!("{}: {text}", problem.line.unwrap_or(0))
            };
            problems.problems.iter().map(line).collect()
        }
    }
}

#[test]
fn five_lines_are_enough() {
    assert_eq!(problems("[[machine]]\nname = \"pump\"\nfolder = \"in\"\n"), Vec::<String>::new());
}

#[test]
fn the_template_is_fine_once_its_folder_is_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("recordings/pump-7")).unwrap();
    let site = Site::parse(crate::site::TEMPLATE, &folder.path().join("site.toml")).unwrap();
    assert_eq!(site.machines.len(), 1);
    assert_eq!(site.history, crate::site::HistoryFile::default());
}

#[test]
fn every_key_of_the_template_is_known() {
    // What is commented out must be right, too: without the marks it is a configuration.
    let text: Vec<&str> = crate::site::TEMPLATE
        .lines()
        .map(|line| {
            line.strip_prefix("# ").filter(|rest| rest.contains(['=', '['])).unwrap_or(line)
        })
        .filter(|line| !line.starts_with("Check it") && !line.starts_with("Other sources"))
        .collect();
    let found = problems(&text.join("\n"));
    assert!(found.iter().all(|problem| !problem.contains("unknown field")), "{found:?}");
    let sources =
        3 + usize::from(cfg!(feature = "microphone")) + usize::from(cfg!(feature = "rtsp"));
    let expected = format!("{sources} sources");
    assert!(found.iter().any(|problem| problem.contains(&expected)), "{found:?}");
    assert!(
        found.iter().all(|problem| !problem.contains("clip = 10 s: 1 s to 600 s")),
        "{found:?}"
    );
}

#[test]
fn impossible_rules_are_refused_with_their_line() {
    let machine = "[[machine]]\nname = \"pump\"\nfolder = \"in\"\n";
    for (more, expected) in [
        (
            "[machine.alarm]\nraise = 6\n",
            "4: machine \"pump\": clips that raise an alarm must be 1 to",
        ),
        (
            "[machine.alarm]\nwindow = \"5s\"\n",
            "5: machine \"pump\": alarm.window = 5 s is shorter",
        ),
        ("no_data_after = \"3s\"\n", "4: machine \"pump\": no_data_after = 3 s is shorter"),
        ("no_data_after = \"soon\"\n", "4: \"soon\" is not a length of time"),
        ("colour = \"red\"\n", "4: colour = \"red\": unknown key; known here: name, model"),
        ("tcp = \"here\"\n", "4: machine \"pump\": tcp = \"here\" is not an address"),
        (
            "model = \"none.auscult\"\n",
            "4: machine \"pump\": the model …/none.auscult is not there",
        ),
        ("preset = \"worst\"\n", "4: machine \"pump\":"),
        ("alarms = \"never\"\n", "4: alarm budget"),
        (
            "[[machine]]\nname = \"PUMP\"\nfolder = \"other\"\n",
            "4: machine \"PUMP\" and machine \"pump\" would share",
        ),
        (
            "[[machine]]\nname = \"b\"\nfolder = \"in\"\n",
            "4: machine \"b\" and machine \"pump\" listen to the same",
        ),
        ("[[machine]]\nname = \"a/b\"\nfolder = \"other\"\n", "5: name = \"a/b\": a name has"),
        (
            "[[machine]]\nname = \"b\"\nfolder = \"gone\"\n",
            "6: machine \"b\": the folder …/gone is not there; make it first",
        ),
        (
            "[[machine]]\nname = \"b\"\ntcp = \"127.0.0.1:1\"\n",
            "4: machine \"b\": raw samples need sample_rate",
        ),
        ("[[webhook]]\nurl = \"ftp://x\"\n", "5: webhook.url"),
        (
            "[[webhook]]\nurl = \"http://x\"\ntells = [\"fire\"]\n",
            "6: webhook.tells: \"fire\" is not one of alarm",
        ),
        (
            "[[webhook]]\nurl = \"http://x\"\nsecret_env = \"NO_SUCH_ONE\"\n",
            "the environment variable NO_SUCH_ONE",
        ),
        (
            "[[machine]]\nname = \"b\"\nfolder = \"in/../in\"\n",
            "4: machine \"b\" and machine \"pump\" would judge the same recordings",
        ),
        (
            "[[machine]]\nname = \"b\"\ntcp = \"127.0.0.1:7\"\nsample_rate = 8000\n[[machine]]\nname = \"c\"\ntcp = \"0.0.0.0:7\"\n\
             sample_rate = 8000\n",
            "8: machine \"c\": 0.0.0.0:7 and 127.0.0.1:7 are the same port",
        ),
        ("[[machine]]\nname = \"-x\"\nfolder = \"other\"\n", "5: name = \"-x\": a name has"),
        ("running.above_dbfs = nan\n", "machine \"pump\": running.above_dbfs = NaN"),
        ("running.topic = \"plant/#\"\n", "machine \"pump\": running.topic = \"plant/#\""),
        ("poll = \"0s\"\n", "4: machine \"pump\": poll = 0 s"),
        ("channel = \"1\"\n", "4: channel = \"1\": a whole number is needed here, not \"1\""),
        ("channel = -1\n", "4: channel = -1: a whole number from 0 on is needed here, not -1"),
        ("keep = \"some\"\n", "4: keep = \"some\": some is not one of none, alarms, all"),
        ("stdin = \"yes\"\n", "4: stdin = \"yes\": true or false is needed here, not \"yes\""),
        ("poll = true\n", "4: poll = true: write a number, or a text with a unit"),
        (
            "[machine.learn]\nvisits = 50\nclips = 10\n",
            "6: machine \"pump\": learn.clips = 10: at least 2",
        ),
        (
            "[history]\nhours = \"9d\"\n",
            "5: history.hours = 9 days is shorter than history.minutes = 60 days",
        ),
        ("[mqtt]\nbroker = \"a b\"\n", "5: mqtt.broker"),
        (
            "[mqtt]\nbroker = \"a\"\ntls = true\nca = \"junk.pem\"\n",
            "7: mqtt.ca: …/junk.pem holds no certificate",
        ),
        (
            "[mqtt]\nbroker = \"a\"\ntls = true\nca = \"gone.pem\"\n",
            "7: mqtt.ca: …/gone.pem is not there",
        ),
        ("[mqtt]\nbroker = \"a\"\nca = \"junk.pem\"\n", "6: mqtt.ca has no effect"),
        (
            "[server]\ntls_certificate = \"junk.pem\"\ntls_key = \"junk.pem\"\n",
            "5: server.tls_certificate: …/junk.pem holds no certificate",
        ),
        (
            "[server]\ntls_certificate = \"junk.pem\"\ntls_key = \"junk.pem\"\n",
            "6: server.tls_key: …/junk.pem cannot be read as a private key",
        ),
        ("every = \"3s\"\n", "4: machine \"pump\": every = 3 s: from the 10 s of a clip to a day"),
        (
            "every = \"5m\"\nno_data_after = \"1m\"\n",
            "5: machine \"pump\": no_data_after = 60 s is shorter than the 300 s",
        ),
        (
            "every = \"5m\"\nalarm.window = \"1m\"\n",
            "alarm.window = 60 s is shorter than the 300 s from one",
        ),
        (
            "[history]\nclips = \"90d\"\n",
            "4: history.minutes = 60 days is shorter than history.clips = 90 days",
        ),
    ] {
        let found = problems(&format!("{machine}{more}"));
        assert!(found.iter().any(|problem| problem.contains(expected)), "{more}: {found:?}");
    }
    assert_eq!(problems(""), ["0: there is no [[machine]]: nothing would be watched"]);
    assert!(problems("schema = 9\n")[1].contains("schema = 9"), "{:?}", problems("schema = 9\n"));
}

#[test]
fn channels_of_one_source_are_machines() {
    let machine = |name: &str, channel: u16| {
        format!(
            "[[machine]]\nname = \"{name}\"\ntcp = \"127.0.0.1:7007\"\nsample_rate = 16000\nchannels = 2\n\
             channel = {channel}\n"
        )
    };
    assert!(problems(&(machine("a", 1) + &machine("b", 2))).is_empty());
    let found = problems(&(machine("a", 1) + &machine("b", 3)));
    assert!(found[0].contains("the source has 2"), "{found:?}");
}

#[test]
fn one_bracket_too_few_is_said() {
    let found = problems("[machine]\nname = \"a\"\nfolder = \"in\"\n");
    assert_eq!(found, ["1: there may be several of these: write [[machine]]"]);
    let twice = "[[machine]]\nname = \"a\"\nfolder = \"in\"\nrunning.topic = \"t\"\n[[machine]]\nname = \"b\"\nfolder = \"other\"\n\
        running.topic = \"t\"\n[mqtt]\nbroker = \"localhost\"\n";
    assert!(
        problems(twice)[0].contains("8: machine \"b\" and machine \"a\" have the same"),
        "{:?}",
        problems(twice)
    );
}
