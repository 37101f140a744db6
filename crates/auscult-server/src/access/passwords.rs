//! Passwords: argon2id with the parameters of the library, which follow OWASP.

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};

use super::store::AccessError;

/// The shortest and the longest password, in bytes.
const LENGTH: std::ops::RangeInclusive<usize> = 10..=1024;

/// What is kept of a password.
pub(super) fn hash(password: &str) -> Result<String, AccessError> {
    if !LENGTH.contains(&password.len()) {
        return Err(AccessError::PasswordLength);
    }
    let hashed = Argon2::default().hash_password(password.as_bytes());
    Ok(hashed.map_err(|_| AccessError::NoRandomness)?.to_string())
}

/// A hash that no password has, so that an unknown name takes as long as a wrong password.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$GpZ3sK/oH9p7VIiV56G/64Zo/8GaUw434IimaPqxwCo";

/// Whether a password is the one; without a user it never is.
pub(crate) fn verify(kept: Option<&str>, password: &str) -> bool {
    let is_known = kept.is_some();
    let Ok(kept) = PasswordHash::new(kept.unwrap_or(NOBODY)) else { return false };
    Argon2::default().verify_password(password.as_bytes(), &kept).is_ok() && is_known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_kept_as_argon2id_and_recognised() {
        let kept = hash("correct horse").unwrap();
        assert!(kept.starts_with("$argon2id$v=19$"), "{kept}");
        assert!(verify(Some(&kept), "correct horse"));
        assert!(!verify(Some(&kept), "correct horsf"));
        assert!(!verify(None, "correct horse"));
        assert!(PasswordHash::new(NOBODY).is_ok());
        assert!(matches!(hash("short"), Err(AccessError::PasswordLength)));
        assert!(matches!(hash(&"x".repeat(1025)), Err(AccessError::PasswordLength)));
    }
}
