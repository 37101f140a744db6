//! Where the service can be reached from, by which names, and whose headers are believed.

use std::net::{IpAddr, SocketAddr};

use auscult_monitor::site::Site;
use axum::http::{HeaderMap, Uri, header};

/// The address of whoever is connected; put into each request by the listener.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

/// Who may reach the service, and how.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Whether it listens on this computer only.
    is_loopback: bool,
    /// Whether it speaks TLS itself.
    has_tls: bool,
    /// Names beside localhost and addresses.
    hosts: Vec<String>,
    proxies: Vec<IpAddr>,
    forwarded_for: String,
    forwarded_proto: String,
}

/// Where a request came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The client, as far as it can be trusted.
    pub(crate) address: IpAddr,
    /// Whether it sits at this computer, and no proxy is between.
    pub(crate) is_local: bool,
    /// Whether its browser speaks TLS.
    pub(crate) is_secure: bool,
}

impl Policy {
    /// Of a service that listens at an address, as the configuration has it.
    pub fn new(listen: SocketAddr, site: &Site) -> Self {
        let server = &site.server;
        let mut hosts: Vec<String> = server.hosts.iter().map(|host| host.to_lowercase()).collect();
        // Links in messages lead here.
        let public = site.public_url.as_ref().and_then(|url| url.parse::<Uri>().ok());
        hosts.extend(public.and_then(|url| url.host().map(str::to_lowercase)));
        Self {
            is_loopback: listen.ip().is_loopback(),
            has_tls: server.tls_certificate.is_some(),
            hosts,
            proxies: server.trusted_proxies.iter().filter_map(|text| text.parse().ok()).collect(),
            forwarded_for: server.forwarded_for.to_lowercase(),
            forwarded_proto: server.forwarded_proto.to_lowercase(),
        }
    }

    /// Whether it listens on this computer only.
    pub fn is_loopback(&self) -> bool {
        self.is_loopback
    }

    /// Whether a request may name this host. A page elsewhere can point its own name at this computer, but it cannot
    /// choose another one: only names that are ours pass, and addresses, which no name can turn into.
    pub(crate) fn knows_host(&self, host: &str) -> bool {
        let Some(name) = host_name(host) else { return false };
        if name == "localhost" || self.hosts.contains(&name) {
            return true;
        }
        match name.parse::<IpAddr>() {
            Ok(address) => !self.is_loopback || address.is_loopback(),
            Err(_) => false,
        }
    }

    /// Where a request came from. Headers count only if a trusted proxy sent them.
    pub(crate) fn origin(&self, peer: SocketAddr, headers: &HeaderMap) -> Origin {
        let peer = peer.ip().to_canonical();
        let has_proxy_headers = [header::FORWARDED.as_str(), "x-forwarded-for", "x-forwarded-host"]
            .into_iter()
            .chain([self.forwarded_for.as_str()])
            .any(|name| headers.contains_key(name));
        let is_trusted = self.proxies.contains(&peer);
        let address = if is_trusted { self.client(peer, headers) } else { peer };
        let proto = headers.get(self.forwarded_proto.as_str()).filter(|_| is_trusted);
        Origin {
            address,
            is_local: self.is_loopback
                && self.proxies.is_empty()
                && !has_proxy_headers
                && peer.is_loopback(),
            is_secure: self.has_tls || proto.is_some_and(|proto| proto == "https"),
        }
    }

    /// The last address that a trusted proxy names and that is not a trusted proxy itself.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let named = headers.get_all(self.forwarded_for.as_str()).iter();
        let named: Vec<&str> = named
            .filter_map(|value| value.to_str().ok())
            .flat_map(|text| text.split(','))
            .collect();
        let mut client = peer;
        for text in named.into_iter().rev() {
            let Ok(address) = text.trim().parse::<IpAddr>() else { break };
            client = address.to_canonical();
            if !self.proxies.contains(&client) {
                break;
            }
        }
        client
    }
}

/// The name of a host without its port, in lower case; `None` if it is not a host at all.
fn host_name(host: &str) -> Option<String> {
    let authority: axum::http::uri::Authority = host.parse().ok()?;
    if authority.as_str().contains('@') {
        return None;
    }
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    Some(name.trim_end_matches('.').to_lowercase()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(listen: &str, server: &str) -> Policy {
        let text = format!(
            "public_url = \"https://plant.example/x\"\n[[machine]]\nname = \"a\"\n[server]\n{server}"
        );
        let site = Site::parse(&text, std::path::Path::new("site.toml")).unwrap();
        Policy::new(listen.parse().unwrap(), &site)
    }

    #[test]
    fn only_our_own_names_and_addresses_pass() {
        let here = policy("127.0.0.1:8080", "hosts = [\"Pumps.local\"]");
        for host in [
            "localhost",
            "localhost:8080",
            "127.0.0.1:8080",
            "[::1]:80",
            "LOCALHOST.",
            "pumps.local",
            "plant.example",
        ] {
            assert!(here.knows_host(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "127.0.0.1.nip.io",
            "user@localhost",
            "local host",
            "[::1",
            "2130706433",
        ] {
            assert!(!here.knows_host(host), "{host}");
        }
        assert!(policy("0.0.0.0:80", "").knows_host("10.0.0.1"));
        assert!(!policy("0.0.0.0:80", "").knows_host("evil.example"));
    }

    #[test]
    fn headers_of_strangers_are_not_believed() {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", "9.9.9.9, 1.2.3.4, 10.0.0.3".parse().unwrap());
        headers.insert("x-forwarded-proto", "https".parse().unwrap());
        let peer: SocketAddr = "127.0.0.1:5".parse().unwrap();
        let alone = policy("127.0.0.1:80", "").origin(peer, &headers);
        assert_eq!(alone.address.to_string(), "127.0.0.1");
        assert!(!alone.is_local, "a proxy stands between");
        assert!(!alone.is_secure);
        let behind = policy("127.0.0.1:80", "trusted_proxies = [\"127.0.0.1\", \"10.0.0.3\"]");
        let behind = behind.origin(peer, &headers);
        assert_eq!(behind.address.to_string(), "1.2.3.4", "9.9.9.9 is what the client said");
        assert!(behind.is_secure && !behind.is_local);
        let plain = policy("127.0.0.1:80", "").origin(peer, &HeaderMap::new());
        assert!(plain.is_local);
        let far: SocketAddr = "10.0.0.9:5".parse().unwrap();
        assert!(!policy("0.0.0.0:80", "").origin(far, &HeaderMap::new()).is_local);
        assert!(!policy("0.0.0.0:80", "").origin(peer, &HeaderMap::new()).is_local);
    }
}
