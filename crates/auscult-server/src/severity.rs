//! In which order people should look at machines.

use auscult_monitor::watch::MachineStatus;
use serde::Serialize;
use utoipa::ToSchema;

/// Where a machine stands, and how urgent that is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct Severe {
    /// Where it stands.
    #[serde(flatten)]
    pub(crate) status: MachineStatus,
    /// 0 is worst.
    pub(crate) severity: u32,
}

/// States, the worst first.
pub(crate) const ORDER: [&str; 7] =
    ["alarm", "sensor-fault", "alert", "no-data", "learning", "not-running", "normal"];

impl Severe {
    pub(crate) fn of(status: MachineStatus) -> Self {
        let state = ORDER.iter().position(|state| *state == status.state).unwrap_or(ORDER.len());
        // A normal that has moved comes before others of the same state; what nobody wants to hear of comes last.
        let is_sunk = status.shelved.is_some() || status.out_of_service.is_some();
        let severity = 2 * state as u32 + u32::from(!status.drift) + if is_sunk { 100 } else { 0 };
        Self { status, severity }
    }

    pub(crate) fn key(&self) -> (u32, &str) {
        (self.severity, &self.status.name)
    }
}
