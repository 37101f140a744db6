//! Who may do what: users, tokens, sessions, and the record of what they did.

mod audit;
mod idempotency;
mod needs;
mod passwords;
mod pushes;
mod secrets;
mod sessions;
mod store;
mod tokens;
mod users;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::{
    audit::{AuditEntry, NewAudit},
    idempotency::{Earlier, StoredAnswer},
    needs::{NEEDS, Need, need_of},
    pushes::{PushState, Pushed},
    sessions::Session,
    store::{AccessError, Store},
    tokens::{NewToken, Token},
    users::User,
};
pub(crate) use self::{passwords::verify, sessions::LONGEST_SECONDS as SESSION_SECONDS};

/// What a user may do; each may do what those before may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Looks and listens.
    Viewer,
    /// Acknowledges, shelves, gives feedback, decides what is learnt.
    Operator,
    /// Adds machines, users and tokens, sets budgets.
    Administrator,
}

impl Role {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Administrator => "administrator",
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.name())
    }
}

impl std::str::FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "viewer" => Ok(Self::Viewer),
            "operator" => Ok(Self::Operator),
            "administrator" | "admin" => Ok(Self::Administrator),
            other => Err(format!("{other:?} is not a role: viewer, operator or administrator")),
        }
    }
}

/// What a token may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// What viewers may do.
    Read,
    /// Sending sound of machines that are pushed to, and saying whether machines run.
    Push,
    /// Having sound scored.
    Score,
    /// What operators may do.
    Operate,
    /// Everything.
    Admin,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Read, Self::Push, Self::Score, Self::Operate, Self::Admin];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Push => "push",
            Self::Score => "score",
            Self::Operate => "operate",
            Self::Admin => "admin",
        }
    }
}

impl std::str::FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|scope| scope.name() == text);
        found.ok_or_else(|| format!("{text:?} is not a scope: read, push, score, operate or admin"))
    }
}

/// Who sent a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Principal {
    /// Nobody who is known.
    Nobody,
    /// Whoever sits at this computer, as long as there are no users.
    Local,
    /// Somebody who logged in.
    User(Session),
    /// A program with a token.
    Token {
        /// What the token is called.
        name: String,
        /// What it may be used for.
        scopes: Vec<Scope>,
    },
}

impl Principal {
    /// Who did it, as history and audit log have it.
    pub fn name(&self) -> String {
        match self {
            Self::Nobody => "nobody".to_owned(),
            Self::Local => "local".to_owned(),
            Self::User(session) => session.user.clone(),
            Self::Token { name, .. } => format!("token {name}"),
        }
    }

    /// Whether they may do what is needed.
    pub fn may(&self, need: Need) -> bool {
        match self {
            Self::Nobody => need == Need::Nothing,
            Self::Local => true,
            Self::User(session) => need.role().is_none_or(|role| session.role >= role),
            Self::Token { scopes, .. } => {
                let is_enough = |scope: &Scope| need.is_met_by(*scope);
                need == Need::Nothing || scopes.iter().any(is_enough)
            }
        }
    }

    /// Whether they may see where things are on this computer.
    pub fn is_administrator(&self) -> bool {
        self.may(Need::Administer)
    }
}
