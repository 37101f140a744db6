//! What each address needs: the one table that decides, and what is not in it is for administrators only.

use axum::http::Method;

use super::{Role, Scope};

/// What somebody must be allowed to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Nothing: anybody may.
    Nothing,
    /// Look and listen.
    Look,
    /// Send sound, or say whether a machine runs.
    Push,
    /// Have sound scored.
    Score,
    /// Decide about machines.
    Operate,
    /// Decide about everything.
    Administer,
}

impl Need {
    /// The least role that may; `None` if nobody needs one.
    pub(super) fn role(self) -> Option<Role> {
        match self {
            Self::Nothing => None,
            Self::Look => Some(Role::Viewer),
            Self::Push | Self::Score | Self::Operate => Some(Role::Operator),
            Self::Administer => Some(Role::Administrator),
        }
    }

    pub(super) fn is_met_by(self, scope: Scope) -> bool {
        match self {
            Self::Nothing => true,
            Self::Look => matches!(scope, Scope::Read | Scope::Operate | Scope::Admin),
            Self::Push => matches!(scope, Scope::Push | Scope::Operate | Scope::Admin),
            Self::Score => matches!(scope, Scope::Score | Scope::Operate | Scope::Admin),
            Self::Operate => matches!(scope, Scope::Operate | Scope::Admin),
            Self::Administer => scope == Scope::Admin,
        }
    }

    /// What is missing, for people.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Look => "the role viewer, or a token with the scope read",
            Self::Push => "the role operator, or a token with the scope push",
            Self::Score => "the role operator, or a token with the scope score",
            Self::Operate => "the role operator, or a token with the scope operate",
            Self::Administer => "the role administrator, or a token with the scope admin",
        }
    }
}

/// Method, address as the router has it, and what it needs. `GET` covers `HEAD`.
pub const NEEDS: &[(&str, &str, Need)] = &[
    ("GET", "/healthz", Need::Nothing),
    ("GET", "/readyz", Need::Nothing),
    ("GET", "/metrics", Need::Look),
    ("GET", "/api/v1/openapi.json", Need::Nothing),
    ("GET", "/api/v1/session", Need::Nothing),
    ("POST", "/api/v1/session", Need::Nothing),
    ("DELETE", "/api/v1/session", Need::Nothing),
    ("GET", "/api/v1/machines", Need::Look),
    ("POST", "/api/v1/machines", Need::Administer),
    ("GET", "/api/v1/machines/{machine}", Need::Look),
    ("DELETE", "/api/v1/machines/{machine}", Need::Administer),
    ("GET", "/api/v1/machines/{machine}/trend", Need::Look),
    ("GET", "/api/v1/machines/{machine}/live", Need::Look),
    ("GET", "/api/v1/machines/{machine}/clips", Need::Look),
    ("GET", "/api/v1/machines/{machine}/clips/{step}", Need::Look),
    ("GET", "/api/v1/machines/{machine}/clips/{step}/sound", Need::Look),
    ("GET", "/api/v1/machines/{machine}/clips/{step}/spectrogram", Need::Look),
    ("GET", "/api/v1/events", Need::Look),
    ("GET", "/api/v1/events/{event}", Need::Look),
    ("GET", "/api/v1/events/{event}/page", Need::Look),
    ("GET", "/api/v1/stream", Need::Look),
    ("POST", "/api/v1/machines/{machine}/acknowledge", Need::Operate),
    ("POST", "/api/v1/machines/{machine}/shelve", Need::Operate),
    ("POST", "/api/v1/machines/{machine}/unshelve", Need::Operate),
    ("POST", "/api/v1/machines/{machine}/out-of-service", Need::Operate),
    ("POST", "/api/v1/machines/{machine}/in-service", Need::Operate),
    ("POST", "/api/v1/machines/{machine}/accept-drift", Need::Operate),
    ("PUT", "/api/v1/machines/{machine}/operating-state", Need::Push),
    ("POST", "/api/v1/machines/{machine}/feedback", Need::Operate),
    ("GET", "/api/v1/feedback", Need::Look),
    ("GET", "/api/v1/waiting", Need::Look),
    ("GET", "/api/v1/machines/{machine}/waiting", Need::Look),
    ("POST", "/api/v1/machines/{machine}/waiting/accept", Need::Operate),
    ("POST", "/api/v1/machines/{machine}/waiting/reject", Need::Operate),
    ("POST", "/api/v1/machines/{machine}/learn", Need::Operate),
    ("POST", "/api/v1/machines/{machine}/baseline", Need::Operate),
    ("POST", "/api/v1/machines/{machine}/forget", Need::Operate),
    ("GET", "/api/v1/machines/{machine}/models", Need::Look),
    ("POST", "/api/v1/machines/{machine}/models/rollback", Need::Operate),
    ("GET", "/api/v1/machines/{machine}/budget", Need::Look),
    ("PUT", "/api/v1/machines/{machine}/budget", Need::Administer),
    ("POST", "/api/v1/machines/{machine}/score", Need::Score),
    ("GET", "/api/v1/sources", Need::Look),
    ("GET", "/api/v1/sources/{machine}", Need::Look),
    ("POST", "/api/v1/sources/{machine}/audio", Need::Push),
    ("GET", "/api/v1/exports/clips", Need::Look),
    ("GET", "/api/v1/exports/events", Need::Look),
    ("GET", "/api/v1/exports/week", Need::Look),
    ("GET", "/api/v1/system", Need::Look),
];

/// What a request needs, by its method and the address it was routed to.
pub fn need_of(method: &Method, path: &str) -> Need {
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    let found = NEEDS.iter().find(|(known, at, _)| *known == method && *at == path);
    found.map_or(Need::Administer, |(_, _, need)| *need)
}
