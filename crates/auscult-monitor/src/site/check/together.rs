//! What machines must not share.

use std::{collections::BTreeMap, net::SocketAddr, ops::Range, path::PathBuf};

use super::Checking;
use crate::site::{MachineSpec, SourceSpec};

impl Checking<'_> {
    /// What no machine can see alone.
    pub(super) fn machines_together(
        &mut self,
        machines: &[(Range<usize>, MachineSpec)],
        has_mqtt: bool,
    ) {
        let mut names: BTreeMap<String, &str> = BTreeMap::new();
        let mut channels: BTreeMap<(&SourceSpec, u16), &str> = BTreeMap::new();
        let mut addresses: BTreeMap<SocketAddr, &SourceSpec> = BTreeMap::new();
        let mut folders: Vec<(PathBuf, &MachineSpec)> = Vec::new();
        let mut topics: BTreeMap<&str, &str> = BTreeMap::new();
        for (span, machine) in machines {
            // Topics and folders do not tell upper from lower case everywhere.
            if let Some(other) = names.insert(machine.name.to_lowercase(), &machine.name) {
                let text = format!(
                    "machine {:?} and machine {other:?} would share a topic and a folder; names must differ in more \
                     than their case",
                    machine.name
                );
                self.problem(Some(span.clone()), text);
            }
            if machine.source != SourceSpec::Push
                && let Some(other) =
                    channels.insert((&machine.source, machine.channel), &machine.name)
            {
                let text = format!(
                    "machine {:?} and machine {other:?} listen to the same channel of {}",
                    machine.name, machine.source
                );
                self.problem(Some(span.clone()), text);
            }
            if let SourceSpec::Tcp { address, .. } = &machine.source
                && addresses
                    .insert(*address, &machine.source)
                    .is_some_and(|it| *it != machine.source)
            {
                let text = format!(
                    "machine {:?}: another machine expects samples of another form at {address}",
                    machine.name
                );
                self.problem(Some(span.clone()), text);
            }
            if let SourceSpec::Tcp { address, .. } = &machine.source {
                // Whoever listens everywhere listens at this address, too.
                let other = addresses.keys().find(|other| {
                    *other != address
                        && other.port() == address.port()
                        && (other.ip().is_unspecified() || address.ip().is_unspecified())
                });
                if let Some(other) = other {
                    let text = format!(
                        "machine {:?}: {address} and {other} are the same port",
                        machine.name
                    );
                    self.problem(Some(span.clone()), text);
                }
            }
            if let SourceSpec::Folder { path, .. } = &machine.source
                && let Ok(path) = path.canonicalize()
            {
                // Channels of the same recordings may be machines of their own.
                let other = folders.iter().find(|(other, spec)| {
                    spec.source != machine.source
                        && spec.channel == machine.channel
                        && (path.starts_with(other) || other.starts_with(&path))
                });
                if let Some((other, spec)) = other {
                    let text = format!(
                        "machine {:?} and machine {:?} would judge the same recordings: {} and {}",
                        machine.name,
                        spec.name,
                        path.display(),
                        other.display()
                    );
                    self.problem(Some(span.clone()), text);
                }
                folders.push((path, machine));
            }
            let topic = machine.running.as_ref().and_then(|running| running.topic.as_deref());
            if topic.is_some() && !has_mqtt {
                let text = format!("machine {:?}: running.topic needs [mqtt]", machine.name);
                self.problem_of(span, "running.topic", text);
            }
            if let Some(topic) = topic
                && let Some(other) = topics.insert(topic, &machine.name)
            {
                let text = format!(
                    "machine {:?} and machine {other:?} have the same running.topic {topic:?}; give each its own",
                    machine.name
                );
                self.problem_of(span, "running.topic", text);
            }
        }
    }
}
