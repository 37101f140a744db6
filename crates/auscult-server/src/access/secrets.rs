//! Secrets: made at random, kept as fingerprints.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use super::store::AccessError;

/// A new secret of 256 bits, as text that is safe in addresses and headers.
pub(super) fn make() -> Result<String, AccessError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| AccessError::NoRandomness)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// What is kept of a secret. It is random and long, so nobody can guess it from this.
pub(crate) fn digest(secret: &[u8]) -> [u8; 32] {
    Sha256::digest(secret).into()
}
