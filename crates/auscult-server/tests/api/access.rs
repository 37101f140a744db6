use std::time::Duration;

use auscult_server::{
    access::{NEEDS, Need, Scope, need_of},
    description,
};
use axum::{
    body::Body,
    http::{Method, header},
};
use serde_json::json;

use crate::support::{PASSWORD, Service};

/// Every address with a method, also those that only administrators may use.
fn all_routes() -> Vec<(Method, String)> {
    let value = serde_json::to_value(description()).unwrap();
    let mut routes: Vec<(Method, String)> = Vec::new();
    for (path, methods) in value["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            routes.push((method.to_uppercase().parse().unwrap(), path.clone()));
        }
    }
    routes.push((Method::GET, "/metrics".to_owned()));
    routes
}

fn example(path: &str) -> String {
    path.replace("{machine}", "pump-7")
        .replace("{step}", "1")
        .replace("{event}", "pump-7-1")
        .replace("{user}", "nobody")
        .replace("{token}", "nothing")
}

#[test]
fn the_table_of_needs_and_the_description_agree() {
    let routes = all_routes();
    assert!(routes.len() > 45, "{}", routes.len());
    for (method, path) in &routes {
        let is_listed = NEEDS.iter().any(|(of, at, _)| *of == method.as_str() && at == path);
        let is_for_administrators =
            ["/users", "/tokens", "/audit"].iter().any(|it| path.contains(it));
        assert!(is_listed != is_for_administrators, "{method} {path}");
    }
    let beside = ["/healthz", "/readyz", "/metrics", "/api/v1/openapi.json"];
    for (method, path, _) in NEEDS {
        let is_there = routes.iter().any(|(of, at)| of.as_str() == *method && at == path);
        assert!(is_there || beside.contains(path), "{method} {path} is nowhere");
    }
    assert_eq!(need_of(&Method::GET, "/api/v1/something-new"), Need::Administer);
}

#[test]
fn the_description_says_who_may() {
    let value = serde_json::to_value(description()).unwrap();
    for (path, methods) in value["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let need = need_of(&method.to_uppercase().parse().unwrap(), path);
            let wanted = match need {
                Need::Nothing => json!([]),
                _ => json!([{"token": []}, {"session": []}]),
            };
            assert_eq!(operation["security"], wanted, "{method} {path}");
            let text = operation["description"].as_str().unwrap_or_default();
            assert_eq!(
                text.contains("Needs the role"),
                need != Need::Nothing,
                "{method} {path}: {text}"
            );
        }
    }
    let operate = &value["paths"]["/api/v1/machines/{machine}/shelve"]["post"]["description"];
    assert!(
        operate
            .as_str()
            .unwrap()
            .ends_with("Needs the role operator, or a token with the scope operate.")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_write_is_taken_with_the_token_of_another_session() {
    let service = Service::with_users().await;
    let (anna, otto) = (service.login("anna").await, service.login("otto").await);
    let csrf = otto.get("/api/v1/session").await.json()["csrf"].as_str().unwrap().to_owned();
    let mut writes = 0;
    for (method, path) in all_routes() {
        // Logging in makes a session and needs none.
        let is_login = method == Method::POST && path.ends_with("/session");
        if method == Method::GET || is_login {
            continue;
        }
        for client in [anna.with("x-auscult-csrf", &csrf), anna.without("x-auscult-csrf")] {
            let answer = client.call(method.clone(), &example(&path), &json!({})).await;
            answer.is_problem(403);
            assert!(answer.text().contains("X-Auscult-CSRF"), "{method} {path}: {}", answer.text());
        }
        writes += 1;
    }
    assert!(writes > 20, "{writes}");
    assert_eq!(anna.get("/api/v1/machines").await.status, 200, "the session is still there");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_address_refuses_those_who_may_not() {
    let service = Service::with_users().await;
    let nobody = service.client();
    let people = [
        ("vera", service.login("vera").await),
        ("otto", service.login("otto").await),
        ("anna", service.login("anna").await),
    ];
    for (method, path) in all_routes() {
        let need = need_of(&method, &path);
        let address = example(&path);
        let answer = nobody.call(method.clone(), &address, &json!({})).await;
        match need {
            Need::Nothing => assert_ne!(answer.status, 403, "{method} {path}"),
            _ => answer.is_problem(401),
        }
        let is_session = path.ends_with("/session");
        for (level, (name, client)) in people.iter().enumerate() {
            // Administrators see where the data are; another test looks at that.
            if is_session || (*name == "anna" && path.ends_with("/system")) {
                continue;
            }
            let may = match need {
                Need::Nothing | Need::Look => true,
                Need::Push | Need::Score | Need::Operate => level >= 1,
                Need::Administer => level >= 2,
            };
            let answer = client.call(method.clone(), &address, &json!({"nonsense": 1})).await;
            if may {
                assert!(
                    ![401, 403].contains(&answer.status),
                    "{name} {method} {path}: {}",
                    answer.text()
                );
            } else {
                answer.is_problem(403);
            }
        }
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_needs_the_token_of_its_own_session() {
    let service = Service::with_users().await;
    let otto = service.login("otto").await;
    let path = "/api/v1/machines/pump-7/shelve";
    let body = json!({ "minutes": 5, "reason": "new seals" });
    otto.without("x-auscult-csrf").post(path, &body).await.is_problem(403);
    let other = service.login("anna").await.get("/api/v1/session").await.json();
    let stolen = otto.with("x-auscult-csrf", other["csrf"].as_str().unwrap());
    stolen.post(path, &body).await.is_problem(403);
    otto.with("x-auscult-csrf", "").post(path, &body).await.is_problem(403);
    assert_eq!(otto.post(path, &body).await.status, 200);
    // A program without cookies has no such token, and needs none.
    let program = service.program(&[Scope::Operate]);
    assert_eq!(program.post(path, &body).await.status, 200);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_other_sites_are_refused() {
    let service = Service::start().await;
    let local = service.client();
    let path = "/api/v1/machines/pump-7/shelve";
    let body = json!({ "minutes": 5, "reason": "x" });
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:8081"),
        ("origin", "http://127.0.0.1:8080.evil.example"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        local.with(name, value).post(path, &body).await.is_problem(403);
    }
    let own = local.with("origin", "http://127.0.0.1:8080").with("sec-fetch-site", "same-origin");
    assert_eq!(own.post(path, &body).await.status, 200);
    // What forms of other pages can send is not understood.
    let form = local.with("content-type", "text/plain");
    let request = form.request(Method::POST, path, Body::from(body.to_string()));
    form.send(request).await.is_problem(415);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_are_not_ours_are_refused() {
    let service = Service::start().await;
    let local = service.client();
    for host in ["evil.example", "127.0.0.1.evil.example:8080", "10.0.0.1", "a b", ""] {
        let answer = local.with("host", host).get("/api/v1/machines").await;
        assert!([400, 421].contains(&answer.status), "{host}: {}", answer.text());
    }
    for host in ["localhost:8080", "[::1]:8080", "127.0.0.1"] {
        assert_eq!(local.with("host", host).get("/api/v1/machines").await.status, 200, "{host}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_users_only_this_computer_is_administrator() {
    let service = Service::start().await;
    let local = service.client();
    let session = local.get("/api/v1/session").await.json();
    assert_eq!(session["user"], json!({"name": "local", "role": "administrator"}));
    assert_eq!(session["needs_login"], false);
    local.at_address("10.0.0.9:1").get("/api/v1/machines").await.is_problem(401);
    for name in ["x-forwarded-for", "forwarded", "x-forwarded-host"] {
        local.with(name, "127.0.0.1").get("/api/v1/machines").await.is_problem(401);
    }
    // The first user must be able to add others.
    let viewer = json!({"name": "vera", "role": "viewer", "password": PASSWORD});
    local.post("/api/v1/users", &viewer).await.is_problem(422);
    let first = json!({"name": "anna", "role": "administrator", "password": PASSWORD});
    assert_eq!(local.post("/api/v1/users", &first).await.status, 201);
    local.get("/api/v1/machines").await.is_problem(401);
    assert_eq!(local.get("/api/v1/session").await.json()["needs_login"], true);
    assert_eq!(local.get("/healthz").await.status, 200);
    assert_eq!(local.get("/readyz").await.status, 200);
    local.get("/metrics").await.is_problem(401);
    assert_eq!(service.program(&[Scope::Read]).get("/metrics").await.status, 200);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn logins_are_throttled_and_cookies_are_closed_to_scripts() {
    let service = Service::with_users().await;
    let client = service.client();
    let right = json!({"name": "anna", "password": PASSWORD});
    let answer = client.post("/api/v1/session", &right).await;
    let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(answer.body.is_empty());
    for name in ["anna", "nobody"] {
        let wrong = json!({"name": name, "password": "wrong password"});
        let answers = [
            client.post("/api/v1/session", &wrong).await,
            client.post("/api/v1/session", &wrong).await,
        ];
        for answer in answers {
            answer.is_problem(401);
            assert_eq!(answer.json()["detail"], "name or password is wrong");
        }
    }
    client.post("/api/v1/session", &json!({"name": "anna", "password": "x"})).await.is_problem(401);
    let throttled = client.post("/api/v1/session", &right).await;
    throttled.is_problem(429);
    assert!(throttled.headers.contains_key(header::RETRY_AFTER));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_end_with_logging_out_another_password_and_the_user() {
    let service = Service::with_users().await;
    let anna = service.login("anna").await;
    let [first, second, third] =
        [service.login("vera").await, service.login("vera").await, service.login("vera").await];
    let answer = first.call(Method::DELETE, "/api/v1/session", &json!({})).await;
    assert_eq!(answer.status, 204);
    first.get("/api/v1/machines").await.is_problem(401);
    assert_eq!(second.get("/api/v1/machines").await.status, 200);
    let promoted = json!({"role": "operator"});
    assert_eq!(anna.call(Method::PATCH, "/api/v1/users/vera", &promoted).await.status, 204);
    assert_eq!(second.get("/api/v1/session").await.json()["user"]["role"], "operator");
    let other = json!({"password": "another password"});
    assert_eq!(anna.call(Method::PATCH, "/api/v1/users/vera", &other).await.status, 204);
    second.get("/api/v1/machines").await.is_problem(401);
    third.get("/api/v1/machines").await.is_problem(401);
    let otto = service.login("otto").await;
    assert_eq!(anna.call(Method::DELETE, "/api/v1/users/otto", &json!({})).await.status, 204);
    otto.get("/api/v1/machines").await.is_problem(401);
    anna.call(Method::DELETE, "/api/v1/users/anna", &json!({})).await.is_problem(409);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_do_what_their_scopes_say_until_they_are_revoked() {
    let service = Service::with_users().await;
    let sound = crate::support::wav(1, 0, 1.0);
    let push = |client: crate::support::Client, sequence| {
        let (service, sound) = (&service, sound.clone());
        async move { service.push(&client, "fan-2", sequence, &sound).await.status }
    };
    let reader = service.program(&[Scope::Read]);
    assert_eq!(reader.get("/api/v1/machines").await.status, 200);
    assert_eq!(push(reader.clone(), 0).await, 403);
    reader.get("/api/v1/users").await.is_problem(403);
    let pusher = service.program(&[Scope::Push]);
    assert_eq!(push(pusher.clone(), 0).await, 202);
    pusher.get("/api/v1/machines").await.is_problem(403);
    let score = service.program(&[Scope::Score]);
    // It has no model yet, and that is all that is wrong.
    let answer = score.send_bytes("/api/v1/machines/fan-2/score", "audio/wav", &sound).await;
    answer.is_problem(409);
    score.post("/api/v1/machines/fan-2/acknowledge", &json!({})).await.is_problem(403);
    let administrator = service.program(&[Scope::Admin]);
    assert_eq!(administrator.get("/api/v1/audit").await.status, 200);
    let made = administrator
        .post("/api/v1/tokens", &json!({"name": "edge", "scopes": ["push"], "expires_days": 30}))
        .await;
    assert_eq!(made.status, 201);
    let secret = made.json()["secret"].as_str().unwrap().to_owned();
    let listed = administrator.get("/api/v1/tokens").await.text();
    assert!(listed.contains("edge") && !listed.contains(&secret));
    let edge = service.client().with("authorization", &format!("bearer {secret}"));
    assert_eq!(push(edge.clone(), 1).await, 202);
    let gone = administrator.call(Method::DELETE, "/api/v1/tokens/edge", &json!({})).await;
    assert_eq!(gone.status, 204);
    assert_eq!(push(edge, 2).await, 401);
    for shown in ["Bearer", "Bearer x", "Basic YTpi", "auscult_x", "Bearer auscult_"] {
        let client = service.client().with("authorization", shown);
        client.get("/api/v1/machines").await.is_problem(401);
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_tell_browsers_to_be_careful() {
    let service = Service::start().await;
    for path in ["/", "/api/v1/machines", "/nothing.txt", "/api/v1/nothing"] {
        let answer = service.client().get(path).await;
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"));
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert_eq!(answer.headers["x-frame-options"], "DENY");
        assert_eq!(answer.headers["referrer-policy"], "no-referrer");
    }
    service.stop().await;
}
