//! Users and tokens.

use auscult_monitor::clock::utc;
use auscult_server::access::{Scope, Token, User};

use super::{Align, Table};

pub(crate) fn user_table(users: &[User]) -> String {
    if users.is_empty() {
        return "no users: whoever sits at this computer may do everything\n".to_owned();
    }
    let mut table =
        Table::new(&[("user", Align::Left), ("role", Align::Left), ("since", Align::Left)]);
    for user in users {
        table.row([user.name.clone(), user.role.to_string(), utc(user.created)]);
    }
    table.render()
}

pub(crate) fn token_table(tokens: &[Token]) -> String {
    if tokens.is_empty() {
        return "no tokens\n".to_owned();
    }
    let columns = ["token", "scopes", "since", "until", "last used"];
    let mut table = Table::new(&columns.map(|name| (name, Align::Left)));
    for token in tokens {
        let scopes: Vec<&str> = token.scopes.iter().copied().map(Scope::name).collect();
        table.row([
            token.name.clone(),
            scopes.join(", "),
            utc(token.created),
            token.expires.map_or_else(|| "for ever".to_owned(), utc),
            token.last_used.map_or_else(|| "never".to_owned(), utc),
        ]);
    }
    table.render()
}
