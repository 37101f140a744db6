//! One generic body, compiled once for each instruction set.

/// Makes `fn name(isa, ...)` that runs `body::<Arithmetic>(...)` compiled with the features of
/// `isa`. The body must be `#[inline(always)]`, so that it takes on the features of its caller.
macro_rules! for_each_isa {
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) = $body:ident;
    ) => {
        $(#[$attribute])*
        $visibility fn $name(isa: $crate::Isa, $($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($argument: $type),*) {
                $body::<$crate::arithmetic::Fused>($($argument),*);
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx2,fma")]
            fn avx512($($argument: $type),*) {
                $body::<$crate::arithmetic::Fused>($($argument),*);
            }

            match isa {
                $crate::Isa::Scalar => $body::<$crate::arithmetic::Fused>($($argument),*),
                $crate::Isa::Portable => $body::<$crate::arithmetic::Unfused>($($argument),*),
                #[cfg(target_arch = "x86_64")]
                $crate::Isa::Avx2 => {
                    isa.assert_available();
                    // SAFETY: this machine has AVX2 and FMA, asserted above.
                    unsafe { avx2($($argument),*) }
                }
                #[cfg(target_arch = "x86_64")]
                $crate::Isa::Avx512 => {
                    isa.assert_available();
                    // SAFETY: this machine has AVX-512F, AVX2 and FMA, asserted above.
                    unsafe { avx512($($argument),*) }
                }
                // NEON is part of every AArch64 target Rust has, so plain code already uses it.
                #[cfg(target_arch = "aarch64")]
                $crate::Isa::Neon => $body::<$crate::arithmetic::Fused>($($argument),*),
            }
        }
    };
}

pub(crate) use for_each_isa;
