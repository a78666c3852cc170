//! Reconciles the shape that the file states with the inferred one: stated numbers count, inference fills gaps (-1, or
//! an unknown rank).

use crate::shape::attribute::{RawShape, dims_of};
use crate::shape::fact::Fact;
use crate::shape::sym::Sym;
use highwater_model::graph::Dim;

/// The fact under a stated shape, and whether the two agree.
pub(super) fn reconciled(mut fact: Fact, stated: &RawShape, sym: &mut Sym) -> (Fact, bool) {
    let Some(stated) = stated else {
        return (fact, true);
    };
    let stated = dims_of(stated);
    let Some(found) = fact.shape.map(|shape| sym.dims(shape)) else {
        fact.shape = sym.shape(&stated);
        return (fact, true);
    };
    let mut agrees = found.len() == stated.len();
    let dims: Vec<Dim> = if agrees {
        let pairs = found.iter().zip(&stated);
        let dims = pairs.map(|(found, stated)| match (found, stated) {
            (found, Dim::Unknown) => *found,
            (Dim::Known(found), Dim::Known(stated)) if found != stated => {
                agrees = false;
                Dim::Known(*stated)
            }
            (_, stated) => *stated,
        });
        dims.collect()
    } else {
        stated
    };
    if found != dims {
        fact.shape = sym.shape(&dims);
        // Elements of another shape belong to another tensor.
        fact.value = fact.value.filter(|value| value.fits(&dims));
    }
    (fact, agrees)
}
