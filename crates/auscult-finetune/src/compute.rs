//! Where the arithmetic of a run is done.

use burn_tensor::Device;

use crate::{Error, Result};

/// Where the arithmetic is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Compute {
    /// The cores of this machine.
    #[default]
    Cpu,
    /// The fastest graphics card, through Vulkan, Metal or DirectX 12; needs the feature `gpu`.
    Gpu,
}

impl Compute {
    /// The device, ready to work.
    ///
    /// # Errors
    ///
    /// [`Error::NoGpuFeature`] if this program cannot use it, [`Error::NoDevice`] if this machine
    /// has none.
    pub(super) fn open(self) -> Result<Device> {
        match self {
            Self::Cpu => Ok(Device::flex().autodiff()),
            Self::Gpu => gpu(),
        }
    }
}

#[cfg(not(feature = "gpu"))]
fn gpu() -> Result<Device> {
    Err(Error::NoGpuFeature)
}

#[cfg(feature = "gpu")]
fn gpu() -> Result<Device> {
    use std::sync::OnceLock;

    // The library opens an adapter once in a process and refuses to do it again.
    static OPENED: OnceLock<std::result::Result<Device, String>> = OnceLock::new();
    let opened = OPENED.get_or_init(|| {
        let (device, setup) = Device::wgpu_options()
            .init_with_setup()
            .map_err(|error| format!("no GPU can be used: {error}"))?;
        let adapter = setup.adapter.get_info();
        let is_software = adapter.device_type == burn_tensor::wgpu::wgpu::DeviceType::Cpu;
        if is_software && std::env::var_os(CHOICE).is_none() {
            return Err(format!(
                "no GPU was found, only {}, which imitates one on the CPU ({CHOICE}=Cpu uses it \
                 nevertheless)",
                adapter.name
            ));
        }
        Ok(device)
    });
    match opened {
        Ok(device) => Ok(device.clone().autodiff()),
        Err(reason) => Err(Error::NoDevice { reason: reason.clone() }),
    }
}

/// The tensor library's own variable to name an adapter, such as `DiscreteGpu(1)`.
#[cfg(feature = "gpu")]
const CHOICE: &str = "CUBECL_WGPU_DEFAULT_DEVICE";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_opens_again_and_again_or_is_refused_with_the_reason() {
        Compute::Cpu.open().unwrap();
        let [first, second] = [(); 2].map(|()| Compute::Gpu.open().map(|_| ()));
        match (first, second) {
            (Ok(()), Ok(())) if cfg!(feature = "gpu") => (),
            (Err(first), Err(second)) => {
                let text = first.to_string();
                assert_eq!(text, second.to_string());
                let reason =
                    if cfg!(feature = "gpu") { "no GPU" } else { "built without the feature" };
                assert!(text.contains(reason) && text.contains("train on the CPU"), "{text}");
            }
            other => panic!("without the feature, or once so and once otherwise: {other:?}"),
        }
    }
}
