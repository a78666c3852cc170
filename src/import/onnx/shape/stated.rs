//! Reconciles the type that the file states of a value with the inferred one.
//!
//! The computed shape counts, because stated shapes stay behind when a model is edited, and runtimes compute their own; the
//! stated one fills gaps. The stated element type counts: onnxruntime 1.32.0 refuses a model whose op computes another type
//! than the file states, so that of a model that runs is right. Contradictions are noted for the report.

use super::{Infer, dtype_of, lists};
use crate::dim_text;
use crate::names::NameIdx;
use crate::onnx::model::{Composite, GraphIdx, RawDim, RawType};
use crate::shape::fact::{Fact, Num};
use highwater_model::graph::{DType, Dim};

pub(super) const MAX_CONTRADICTIONS: usize = 10_000;

impl Infer<'_> {
    /// Fills gaps of a fact from the type that the file states.
    pub(super) fn completed(&mut self, fact: Fact, ty: &RawType, of: (GraphIdx, NameIdx)) -> Fact {
        self.compare(&fact, ty, of);
        match &ty.composite {
            Some(composite) => self.with_elements(fact, composite),
            None => self.filled(fact, ty),
        }
    }

    /// Fills gaps of a sequence or an optional from the stated type of its tensors.
    fn with_elements(&mut self, fact: Fact, composite: &Composite) -> Fact {
        if fact.items.is_some() {
            return fact;
        }
        match composite {
            Composite::Sequence(ty) => {
                let element = lists::element(&fact).unwrap_or(Fact::UNKNOWN);
                let length = fact.handle.map_or(Dim::Unknown, |handle| handle.length);
                let element = self.filled(element, ty);
                lists::of_equal(&element, length)
            }
            Composite::Optional(ty) if fact.handle.is_none() => {
                let content = self.filled(fact, ty);
                lists::holding(content, &mut self.sym).unwrap_or(Fact::UNKNOWN)
            }
            _ => fact,
        }
    }

    /// Fills gaps of the fact of a tensor.
    fn filled(&mut self, fact: Fact, ty: &RawType) -> Fact {
        let dtype = match dtype_of(ty) {
            DType::Unknown => fact.dtype,
            stated => stated,
        };
        let inferred: Option<Vec<Dim>> = fact.shape.map(|shape| self.sym.dims(shape).to_vec());
        let shape = match (inferred, &ty.dims) {
            (None, Some(stated)) => {
                let dims: Vec<Dim> = stated.iter().map(|dim| self.stated_dim(*dim)).collect();
                self.sym.shape(&dims)
            }
            (Some(dims), Some(stated)) if dims.len() == stated.len() && dims.contains(&Dim::Unknown) => {
                let pairs = dims.iter().zip(stated);
                let dims: Vec<Dim> = pairs
                    .map(|(dim, stated)| {
                        if *dim == Dim::Unknown {
                            self.stated_dim(*stated)
                        } else {
                            *dim
                        }
                    })
                    .collect();
                self.sym.shape(&dims)
            }
            _ => fact.shape,
        };
        Fact { dtype, shape, ..fact }
    }

    /// Notes a contradiction. Loops are inferred several times: the last time counts.
    fn compare(&mut self, fact: &Fact, ty: &RawType, of: (GraphIdx, NameIdx)) {
        let stated = dtype_of(ty);
        let is_other_type = fact.dtype != DType::Unknown && stated != DType::Unknown && fact.dtype != stated;
        let computed = fact.shape.map(|shape| self.sym.dims(shape));
        let is_other_shape = match (computed, &ty.dims) {
            (Some(computed), Some(stated)) => {
                let differs = |(computed, stated): (&Dim, &RawDim)| match (computed, stated) {
                    (Dim::Known(computed), RawDim::Value(stated)) => {
                        u64::try_from(*stated).is_ok_and(|stated| stated != *computed)
                    }
                    _ => false,
                };
                computed.len() != stated.len() || computed.iter().zip(&**stated).any(differs)
            }
            _ => false,
        };
        if is_other_type && self.other_types.len() < MAX_CONTRADICTIONS {
            self.other_types.insert(of, fact.dtype);
        } else if !is_other_type {
            self.other_types.remove(&of);
        }
        if is_other_shape {
            if self.contradictions.len() < MAX_CONTRADICTIONS {
                self.contradictions.insert(
                    of,
                    Fact {
                        value: None,
                        ..fact.clone()
                    },
                );
            }
        } else {
            self.contradictions.remove(&of);
        }
    }

    /// A dimension of `value_info`; only the main graph may name new symbols.
    fn stated_dim(&mut self, dim: RawDim) -> Dim {
        match dim {
            RawDim::Value(size) => Num::Int(size).dim(),
            RawDim::Unnamed => Dim::Unknown,
            RawDim::Text(name) => {
                let is_main = self.frames.len() == 1;
                let exprs = &mut self.sym.exprs;
                let id = dim_text::parse(self.model.names.text(name), exprs, is_main);
                id.map_or(Dim::Unknown, |id| exprs.dim(id))
            }
        }
    }
}
