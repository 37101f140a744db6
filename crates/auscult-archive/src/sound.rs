//! 4. Clips from disks, web addresses and object stores.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use auscult::fetch::{Encryption, Fetcher};

/// The largest recording that is taken from elsewhere, in bytes; it is held in memory.
pub const LARGEST_OBJECT_BYTES: u64 = 1 << 30;

/// Where the recordings of a manifest are.
#[derive(Debug)]
pub struct Sound {
    base: PathBuf,
    encryption: Encryption,
    https: OnceLock<Result<Fetcher, String>>,
    http: OnceLock<Result<Fetcher, String>>,
    #[cfg(feature = "object-store")]
    objects: objects::Objects,
}

/// A recording that can be read.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    File(PathBuf),
    Bytes(Arc<[u8]>),
}

/// What an address begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    File,
    Http,
    Https,
    /// A store of objects.
    Store,
    Unknown,
}

impl Scheme {
    fn of(uri: &str) -> Self {
        match uri.split_once("://") {
            // A path may contain anything.
            None | Some(("file", _)) => Self::File,
            Some(("http", _)) => Self::Http,
            Some(("https", _)) => Self::Https,
            Some(("s3" | "s3a" | "gs" | "az", _)) => Self::Store,
            Some(_) => Self::Unknown,
        }
    }
}

impl Sound {
    /// Recordings whose paths are relative to a folder, usually that of the manifest. Web addresses without encryption are
    /// taken only where it is not required.
    pub fn new(base: impl Into<PathBuf>, encryption: Encryption) -> Self {
        Self {
            base: base.into(),
            encryption,
            https: OnceLock::new(),
            http: OnceLock::new(),
            #[cfg(feature = "object-store")]
            objects: objects::Objects::default(),
        }
    }

    /// Recordings beside a manifest.
    pub fn beside(manifest: &Path, encryption: Encryption) -> Self {
        Self::new(manifest.parent().unwrap_or(Path::new("")), encryption)
    }

    /// Whether a recording has to be fetched.
    pub fn is_remote(uri: &str) -> bool {
        Scheme::of(uri) != Scheme::File
    }

    /// The path of a recording on this machine.
    pub fn path_of(&self, uri: &str) -> Option<PathBuf> {
        let is_here = Scheme::of(uri) == Scheme::File;
        is_here.then(|| self.base.join(uri.strip_prefix("file://").unwrap_or(uri)))
    }

    /// Fetches a recording that is elsewhere, or says why it cannot be had.
    pub(crate) fn open(&self, uri: &str) -> Result<Place, String> {
        let fetcher = match Scheme::of(uri) {
            Scheme::File => return Ok(Place::File(self.path_of(uri).unwrap_or_default())),
            Scheme::Http => &self.http,
            Scheme::Https => &self.https,
            Scheme::Store => return self.object(uri),
            Scheme::Unknown => {
                return Err(format!(
                    "{uri}: not a path, nor an address that begins with https://, http:// or s3://"
                ));
            }
        };
        let new = || Fetcher::new(uri, self.encryption).map_err(|error| error.to_string());
        let fetcher = fetcher.get_or_init(new).as_ref().map_err(Clone::clone)?;
        let advice = "check the address and the connection, and run again";
        let bytes = fetcher.bytes(uri, LARGEST_OBJECT_BYTES, advice);
        bytes.map(|bytes| Place::Bytes(bytes.into())).map_err(|error| error.to_string())
    }

    #[cfg(feature = "object-store")]
    fn object(&self, uri: &str) -> Result<Place, String> {
        self.objects.get(uri).map(Place::Bytes).map_err(|reason| format!("{uri}: {reason}"))
    }

    #[cfg(not(feature = "object-store"))]
    #[expect(clippy::unused_self, reason = "the same form as with the feature")]
    fn object(&self, uri: &str) -> Result<Place, String> {
        Err(format!(
            "{uri}: this build cannot read from object stores; use one built with the cargo feature `object-store`"
        ))
    }
}

/// Stores of objects, with the keys that the environment has for them.
#[cfg(feature = "object-store")]
mod objects {
    use std::{
        collections::BTreeMap,
        sync::{Arc, Mutex, PoisonError},
    };

    use object_store::{ObjectStore, ObjectStoreExt, path::Path};
    use tokio::runtime::Runtime;
    use url::Url;

    use super::LARGEST_OBJECT_BYTES;

    /// One client a bucket.
    #[derive(Debug, Default)]
    pub(super) struct Objects(Mutex<Option<State>>);

    #[derive(Debug)]
    struct State {
        runtime: Arc<Runtime>,
        stores: BTreeMap<String, Arc<dyn ObjectStore>>,
    }

    impl Objects {
        pub(super) fn get(&self, uri: &str) -> Result<Arc<[u8]>, String> {
            let url = Url::parse(uri).map_err(|error| error.to_string())?;
            let (runtime, store) = self.store(&url)?;
            let path = Path::from_url_path(url.path()).map_err(|error| error.to_string())?;
            let fetch = async {
                let found = store.get(&path).await?;
                if found.meta.size > LARGEST_OBJECT_BYTES {
                    return Ok(Err(found.meta.size));
                }
                found.bytes().await.map(Ok)
            };
            match runtime.block_on(fetch) {
                Ok(Ok(bytes)) => Ok(bytes.as_ref().into()),
                Ok(Err(size)) => Err(format!(
                    "it has {size} bytes, and at most {LARGEST_OBJECT_BYTES} are taken"
                )),
                Err(error) => Err(error.to_string()),
            }
        }

        fn store(&self, url: &Url) -> Result<(Arc<Runtime>, Arc<dyn ObjectStore>), String> {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let state = match &mut *state {
                Some(state) => state,
                none => {
                    // The provider must be the process's before the first connection; a second is not needed.
                    let _ = rustls::crypto::ring::default_provider().install_default();
                    let mut builder = tokio::runtime::Builder::new_multi_thread();
                    let runtime = builder.worker_threads(1).enable_all().build();
                    let runtime = Arc::new(runtime.map_err(|error| error.to_string())?);
                    none.insert(State { runtime, stores: BTreeMap::new() })
                }
            };
            let bucket = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
            let store = match state.stores.get(&bucket) {
                Some(store) => Arc::clone(store),
                None => {
                    let options = std::env::vars().filter(|(key, _)| key.starts_with("AWS_"));
                    let options = options.map(|(key, value)| (key.to_ascii_lowercase(), value));
                    let made = object_store::parse_url_opts(url, options);
                    let store: Arc<dyn ObjectStore> =
                        made.map_err(|error| error.to_string())?.0.into();
                    state.stores.insert(bucket, Arc::clone(&store));
                    store
                }
            };
            Ok((Arc::clone(&state.runtime), store))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_beside_the_manifest_whatever_they_contain() {
        let sound = Sound::beside(Path::new("data/clips.csv"), Encryption::Required);
        assert_eq!(sound.path_of("a.wav"), Some(PathBuf::from("data/a.wav")));
        assert_eq!(sound.path_of("/x/a:b.wav"), Some(PathBuf::from("/x/a:b.wav")));
        assert_eq!(sound.path_of("file:///x/a.wav"), Some(PathBuf::from("/x/a.wav")));
        assert_eq!(sound.path_of("https://host/a.wav"), None);
        assert!(Sound::is_remote("s3://bucket/a.wav") && !Sound::is_remote("a.wav"));
    }

    #[test]
    fn addresses_that_cannot_be_read_say_why() {
        let sound = Sound::new("", Encryption::Required);
        let reason = |uri| sound.open(uri).unwrap_err();
        assert!(reason("http://127.0.0.1:1/a.wav").contains("does not begin with https"));
        assert!(reason("ftp://host/a.wav").contains("not a path, nor an address"));
        #[cfg(not(feature = "object-store"))]
        assert!(reason("s3://bucket/a.wav").contains("cargo feature `object-store`"));
    }
}
