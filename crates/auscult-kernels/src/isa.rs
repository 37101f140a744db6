//! Which instructions the kernels use.

use std::sync::OnceLock;

/// An instruction set the kernels are written for.
///
/// All of them but [`Isa::Portable`] give the same bits: every output value is one chain of fused
/// multiply-adds in the same order, whatever the width of the registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Isa {
    /// Plain code with fused multiply-adds: the oracle of the tests. Slow where the processor has
    /// no such instruction.
    Scalar,
    /// Plain code with separate multiplications and additions, for processors without fused ones.
    Portable,
    /// x86-64 with AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// x86-64 with AVX-512F.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AArch64 with NEON.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Isa {
    /// The fastest one this machine has.
    pub fn best() -> Self {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| Self::available().last().copied().unwrap_or(Self::Portable))
    }

    /// Those this machine has, slowest first.
    pub fn available() -> Vec<Self> {
        let all = [
            Self::Scalar,
            Self::Portable,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512,
            #[cfg(target_arch = "aarch64")]
            Self::Neon,
        ];
        all.into_iter().filter(|isa| isa.is_available()).collect()
    }

    /// Whether this machine has the instructions.
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar | Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => is_x86_feature_detected!("avx512f") && Self::Avx2.is_available(),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
        }
    }

    /// The name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
            #[cfg(target_arch = "aarch64")]
            Self::Neon => "neon",
        }
    }

    /// # Panics
    ///
    /// If this machine lacks the instructions: the caller did not ask [`Isa::available`].
    pub(crate) fn assert_available(self) {
        assert!(self.is_available(), "this machine has no {}", self.name());
    }
}
