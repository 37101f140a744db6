//! Sums of products between panels: what bounds among references are made of.

use multiversion::{multiversion, target::target_cfg_f};

use super::copies::{Line, PANEL};

/// One sum for each reference of a panel and each of two others.
pub(crate) type Products = auscult_kernels::PanelProducts;

/// Sums the products of a panel with two others: `$left` and `$right` are the sums of as many rows
/// as there are registers for. Named one by one, and written one by one, so that the compiler keeps
/// them there.
macro_rules! multiply_rows {
    ($panel:ident, $others:ident, $products:ident, $plus_product:expr, $count:literal,
     $($row:literal $left:ident $right:ident),+) => {
        for (group, products) in $products.as_chunks_mut::<$count>().0.iter_mut().enumerate() {
            $(let [mut $left, mut $right] = [[0.0_f32; PANEL]; 2];)+
            let others = $others[0].iter().zip($others[1]);
            for (Line(factors), (Line(first), Line(second))) in $panel.iter().zip(others) {
                let factors = &factors.as_chunks::<$count>().0[group];
                for lane in 0..PANEL {
                    $($left[lane] = $plus_product($left[lane], factors[$row], first[lane]);)+
                }
                for lane in 0..PANEL {
                    $($right[lane] = $plus_product($right[lane], factors[$row], second[lane]);)+
                }
            }
            $(products[$row] = [$left, $right];)+
        }
    };
}

/// All products between a panel and two others.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
pub(crate) fn multiply(panel: &[Line<f32>], others: [&[Line<f32>]; 2], products: &mut Products) {
    // Without the instruction a fused product is a slow function call.
    let is_fused = target_cfg_f!(target_feature = "fma");
    let plus_product =
        |sum: f32, a: f32, b: f32| if is_fused { a.mul_add(b, sum) } else { sum + a * b };
    if target_cfg_f!(target_feature = "avx512f") {
        multiply_rows!(
            panel, others, products, plus_product, 8,
            0 l0 r0, 1 l1 r1, 2 l2 r2, 3 l3 r3, 4 l4 r4, 5 l5 r5, 6 l6 r6, 7 l7 r7
        );
    } else {
        multiply_rows!(panel, others, products, plus_product, 2, 0 l0 r0, 1 l1 r1);
    }
}
