//! Operators of `ai.onnx.ml`: encoders, linear models, trees, support vector machines.
//!
//! Their inputs are rows of features; a vector is one row. Sources: the public schemas of the operator set, and what
//! onnxruntime computes where a schema leaves it open.

use crate::shape::call::Call;
use crate::shape::fact::Num;
use crate::shape::sym::axis;
use highwater_model::graph::{DType, Dim, DimOp};

fn known(count: usize) -> Dim {
    Dim::Known(count as u64)
}

/// The number of items of the first of these attributes that lists any.
fn listed(call: &Call<'_>, names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| {
        let texts = call
            .node
            .attributes
            .n_texts(name)
            .and_then(|count| usize::try_from(count).ok());
        let ints = || call.list(name).map(<[i64]>::len);
        let floats = || call.floats(name).map(<[f64]>::len);
        texts.or_else(ints).or_else(floats).filter(|count| *count > 0)
    })
}

/// The number of rows of input 0.
fn rows(call: &Call<'_>) -> Option<Dim> {
    match *call.dims(0)? {
        [_] => Some(Dim::Known(1)),
        [rows, ..] => Some(rows),
        [] => None,
    }
}

/// Categories as numbers, or numbers as categories.
pub(super) fn category_mapper(call: &mut Call<'_>) -> Option<()> {
    let dtype = match call.dtype(0) {
        DType::Text => DType::Int64,
        DType::Int64 => DType::Text,
        _ => DType::Unknown,
    };
    call.set_dtype(0, dtype);
    call.like(0, 0)
}

/// The values' attribute decides the type; the first version maps texts to numbers and back.
pub(super) fn label_encoder(call: &mut Call<'_>) -> Option<()> {
    if call.has_attr("classes_strings") {
        return category_mapper(call);
    }
    let stated = [
        ("values_int64s", DType::Int64),
        ("values_floats", DType::Float32),
        ("values_strings", DType::Text),
    ];
    let by_list = stated.iter().find(|(name, _)| call.has_attr(name));
    let dtype = match (by_list, call.tensor("values_tensor")) {
        (Some((_, dtype)), _) => *dtype,
        (None, Some(tensor)) => tensor.dtype,
        (None, None) => DType::Unknown,
    };
    call.set_dtype(0, dtype);
    call.like(0, 0)
}

/// One more axis, with a place for each category.
pub(super) fn one_hot_encoder(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let categories = listed(call, &["cats_int64s", "cats_strings"]);
    dims.push(categories.map_or(Dim::Unknown, known));
    call.out(0, &dims)
}

/// The columns whose numbers input 1 lists.
pub(super) fn array_feature_extractor(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let picked = call.dims(1)?;
    let count = call.sym.product(&picked).map_or(Dim::Unknown, Num::dim);
    let last = axis(-1, dims.len())?;
    dims[last] = count;
    if last == 0 {
        dims.insert(0, Dim::Known(1));
    }
    call.out(0, &dims)
}

/// Rows of several inputs, side by side.
pub(super) fn feature_vectorizer(call: &mut Call<'_>) -> Option<()> {
    let rows = rows(call)?;
    let mut columns = call.list("inputdimensions").map(|sizes| sizes.iter().sum::<i64>());
    if columns.is_none_or(|columns| columns < 0) {
        columns = None;
    }
    let columns = columns.and_then(|columns| u64::try_from(columns).ok()).map(Dim::Known);
    let columns = match columns {
        Some(columns) => columns,
        None => (0..call.inputs.len())
            .try_fold(Dim::Known(0), |sum, input| {
                let dims = call.dims(input)?;
                Some(call.sym.dim(DimOp::Add, sum, *dims.last()?))
            })
            .unwrap_or(Dim::Unknown),
    };
    call.out(0, &[rows, columns])
}

/// A row of numbers for each row: as many as the attribute says, else one.
pub(super) fn regressor(call: &mut Call<'_>) -> Option<()> {
    let rows = rows(call)?;
    let name = if call.kind == "LinearRegressor" {
        "targets"
    } else {
        "n_targets"
    };
    let targets = u64::try_from(call.int_or(name, 1)).map_or(Dim::Unknown, Dim::Known);
    call.out(0, &[rows, targets])
}

const CLASSES: &[&str] = &["classlabels_strings", "classlabels_ints", "classlabels_int64s"];

/// A label for each row, and its scores.
pub(super) fn classifier(call: &mut Call<'_>) -> Option<()> {
    let has_texts = call.node.attributes.n_texts(CLASSES[0]).is_some_and(|count| count > 0);
    call.set_dtype(0, if has_texts { DType::Text } else { DType::Int64 });
    let rows = rows(call)?;
    call.out(0, &[rows]);
    let classes = listed(call, CLASSES).or_else(|| listed(call, &["intercepts"]));
    let has_vectors = listed(call, &["vectors_per_class"]).is_some();
    let has_odds = listed(call, &["prob_a"]).is_some();
    let scores = match classes {
        // Without probabilities, support vector machines score every pair of classes.
        Some(classes) if call.kind == "SVMClassifier" && has_vectors && !has_odds && classes > 2 => {
            known(classes * (classes - 1) / 2)
        }
        Some(classes) => known(classes),
        None => Dim::Unknown,
    };
    call.out(1, &[rows, scores])
}

/// A map as one row: a place for each key of the vocabulary.
pub(super) fn dict_vectorizer(call: &mut Call<'_>) -> Option<()> {
    let places = listed(call, &["string_vocabulary", "int64_vocabulary"]);
    call.out(0, &[Dim::Known(1), places.map_or(Dim::Unknown, known)])
}

/// A map as one row of its values.
pub(super) fn cast_map(call: &mut Call<'_>) -> Option<()> {
    let dtype = match call.text("cast_to") {
        "TO_STRING" => DType::Text,
        "TO_INT64" => DType::Int64,
        _ => DType::Float32,
    };
    call.set_dtype(0, dtype);
    let is_sparse = call.text("map_form") == "SPARSE";
    let places = call.int("max_map").filter(|_| is_sparse);
    let places = places.and_then(|places| u64::try_from(places).ok());
    call.out(0, &[Dim::Known(1), places.map_or(Dim::Unknown, Dim::Known)])
}
