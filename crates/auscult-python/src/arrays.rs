//! Arrays as the library takes them. Their type and layout are settled in `auscult._arrays`.

use numpy::{PyArrayDescrMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::error::input_error;

/// The values of a vector.
pub(crate) fn vector<'a, T: numpy::Element>(
    array: &'a PyReadonlyArray1<'_, T>,
) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| not_contiguous(array.py(), &array.dtype()))
}

/// The values of a matrix, row by row, with the length of a row.
pub(crate) fn matrix<'a, T: numpy::Element>(
    array: &'a PyReadonlyArray2<'_, T>,
) -> PyResult<(&'a [T], usize)> {
    let values = array.as_slice().map_err(|_| not_contiguous(array.py(), &array.dtype()))?;
    Ok((values, array.shape()[1]))
}

fn not_contiguous(py: Python<'_>, kind: &Bound<'_, numpy::PyArrayDescr>) -> PyErr {
    let kind = kind.typeobj();
    input_error(py, format!("an array of {kind} must be C-contiguous; use numpy.ascontiguousarray"))
}
