//! Certificates and keys that a configuration names: files in PEM.

use std::path::Path;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

/// Why a file holds no certificates, if it does not.
pub(super) fn check_certificates(path: &Path) -> Result<(), String> {
    let failed = |error: rustls::pki_types::pem::Error| {
        format!("{} cannot be read as certificates: {error}", path.display())
    };
    let mut count = 0;
    for certificate in CertificateDer::pem_file_iter(path).map_err(failed)? {
        certificate.map_err(failed)?;
        count += 1;
    }
    if count > 0 {
        return Ok(());
    }
    Err(format!(
        "{} holds no certificate; a file in PEM is needed, with -----BEGIN CERTIFICATE-----",
        path.display()
    ))
}

/// Why a file holds no private key, if it does not.
pub(super) fn check_key(path: &Path) -> Result<(), String> {
    let key = PrivateKeyDer::from_pem_file(path);
    key.map(drop).map_err(|error| {
        format!(
            "{} cannot be read as a private key: {error}; a file in PEM is needed, with -----BEGIN PRIVATE KEY-----",
            path.display()
        )
    })
}
