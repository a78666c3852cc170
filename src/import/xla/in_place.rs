//! Which nodes of a result may take the bytes of an operand: the rules of XLA for computing in place.
//!
//! ```text
//! element by element      of an operand of the same shape
//! updates                 dynamic-update-slice, scatter: of the operand that they change
//! sort                    output k in operand k
//! fusions                 where their root is an update of a parameter; a loop fusion that reads a parameter
//!                         element by element alone
//! output_to_operand_aliasing={{1}: (0, {})}    as the file says
//! ```
//!
//! Whether the operand is read later is not asked here. Layouts count as equal where sizes, padding and memory are. Source:
//! XLA's buffer sharing rules for operands and users.

use super::cursor::parts;
use super::model::{Alias, Computation, InPlace, Instruction};
use super::shape::Shape;

/// Ops that compute each element from the elements at its place.
#[rustfmt::skip]
const ELEMENTWISE: &[&str] = &[
    "abs", "acos", "acosh", "add", "and", "asin", "asinh", "atan2", "atanh", "bitcast-convert", "cbrt", "ceil", "clamp",
    "compare", "complex", "convert", "copy", "cosh", "cosine", "count-leading-zeros", "divide", "erf", "exponential",
    "exponential-minus-one", "floor", "imag", "is-finite", "log", "log-plus-one", "logistic", "map", "maximum", "minimum",
    "multiply", "negate", "not", "or", "popcnt", "population-count", "power", "real", "reduce-precision", "remainder",
    "round-nearest-afz", "round-nearest-even", "rsqrt", "select", "shift-left", "shift-right-arithmetic",
    "shift-right-logical", "sign", "sine", "sinh", "sqrt", "stochastic-convert", "subtract", "tan", "tanh", "xor",
];

fn is_elementwise(instruction: &Instruction) -> bool {
    ELEMENTWISE.binary_search(&&*instruction.opcode).is_ok()
}

/// The pairs of an instruction.
pub(super) fn pairs(computation: &Computation, instruction: &Instruction) -> Vec<InPlace> {
    let pair = |node: u32, operand: u32, is_update: bool| InPlace {
        node,
        operand,
        operand_node: 0,
        is_update,
    };
    let count = u32::try_from(instruction.operands.len()).unwrap_or(u32::MAX);
    // Operand k and element k of the result, or the whole result where there is one operand.
    let each = |n_operands: u32, is_update: bool| {
        let starts = &instruction.starts;
        let node = move |operand: u32| match n_operands {
            1 => Some(0),
            _ => starts.get(operand as usize).copied(),
        };
        (0..n_operands)
            .filter_map(|operand| Some(pair(node(operand)?, operand, is_update)))
            .collect::<Vec<InPlace>>()
    };
    let mut pairs = match &*instruction.opcode {
        "dynamic-update-slice" | "set-dimension-size" => vec![pair(0, 0, true)],
        "ragged-all-to-all" => vec![pair(0, 1, true)],
        // Operands, indices, updates.
        "scatter" => each(count.saturating_sub(1) / 2, true),
        "sort" => each(count, false),
        "triangular-solve" => vec![pair(0, 1, false)],
        "fusion" => instruction.in_place.to_vec(),
        _ if is_elementwise(instruction) => (0..count).map(|operand| pair(0, operand, false)).collect(),
        _ => Vec::new(),
    };
    let stated = instruction.aliases.iter().filter_map(|alias| {
        let operand = instruction.operands.get(usize::try_from(alias.operand).ok()?)?;
        Some(InPlace {
            node: instruction.shape.node(&alias.output)?,
            operand: u32::try_from(alias.operand).ok()?,
            operand_node: computation.instructions[*operand as usize].shape.node(&alias.path)?,
            is_update: true,
        })
    });
    pairs.extend(stated);
    if pairs.is_empty() {
        return pairs;
    }
    let own = instruction.shape.flat();
    let operands = instruction.operands.iter();
    let operands: Vec<Vec<&Shape>> = operands
        .map(|operand| computation.instructions[*operand as usize].shape.flat())
        .collect();
    pairs.retain(|pair| {
        let own = own.get(pair.node as usize);
        let operand = operands.get(pair.operand as usize);
        matches!(own, Some(Shape::Array(_))) && own == operand.and_then(|nodes| nodes.get(pair.operand_node as usize))
    });
    pairs
}

/// What a fusion computes in place, from the computation that it calls. `is_loop`: each element of its result by itself.
pub(super) fn of_fusion(fused: &Computation, is_loop: bool) -> Vec<InPlace> {
    let mut found = updates(fused);
    if is_loop {
        elementwise(fused, &mut found);
    }
    found
}

/// Results that are updates of a parameter.
fn updates(fused: &Computation) -> Vec<InPlace> {
    let root = fused.root;
    let Some(shape) = fused.instructions.get(root as usize).map(|root| &root.shape) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let elements = match shape {
        Shape::Tuple(elements) => elements.len(),
        _ => 1,
    };
    let starts = shape.starts();
    for element in 0..elements {
        let (source, node) = match shape {
            Shape::Tuple(_) => (element_source(fused, root, element), starts[element]),
            _ => (Some(root), 0),
        };
        let Some(update) = source.map(|source| through(fused, source)) else {
            continue;
        };
        let instruction = &fused.instructions[update as usize];
        if !matches!(&*instruction.opcode, "dynamic-update-slice" | "scatter") {
            continue;
        }
        let changed = instruction.operands.first().map(|operand| through(fused, *operand));
        if let Some(parameter) = changed.map(|changed| &fused.instructions[changed as usize])
            && &*parameter.opcode == "parameter"
        {
            found.push(InPlace {
                node,
                operand: u32::try_from(parameter.number).unwrap_or(u32::MAX),
                operand_node: 0,
                is_update: true,
            });
        }
    }
    found
}

/// The instruction that makes an element of a tuple.
fn element_source(fused: &Computation, tuple: u32, element: usize) -> Option<u32> {
    let instruction = &fused.instructions[tuple as usize];
    let is_tuple = &*instruction.opcode == "tuple";
    instruction.operands.get(element).copied().filter(|_| is_tuple)
}

/// The instruction behind bitcasts.
fn through(fused: &Computation, mut at: u32) -> u32 {
    loop {
        let instruction = &fused.instructions[at as usize];
        match instruction.operands.first() {
            Some(operand) if &*instruction.opcode == "bitcast" && *operand < at => at = *operand,
            _ => return at,
        }
    }
}

/// Parameters that are read element by element alone, down to the root; any result may take their bytes.
fn elementwise(fused: &Computation, found: &mut Vec<InPlace>) {
    let count = fused.instructions.len();
    // Whether a use of the instruction, or of what is computed from it, is not element by element.
    let mut is_spread = vec![false; count];
    for (at, instruction) in fused.instructions.iter().enumerate().rev() {
        let is_tuple = &*instruction.opcode == "tuple";
        for operand in &instruction.operands {
            let keeps = is_tuple || is_elementwise(instruction) && has_sizes_of(fused, *operand, instruction);
            is_spread[*operand as usize] |= !keeps || is_spread[at];
        }
    }
    let Some(root) = fused.instructions.get(fused.root as usize) else {
        return;
    };
    let nodes = root.shape.flat();
    for (parameter, is_spread) in fused.instructions.iter().zip(is_spread) {
        if &*parameter.opcode == "parameter" && !is_spread {
            let number = u32::try_from(parameter.number).unwrap_or(u32::MAX);
            let fits = (0..).zip(&nodes).filter(|(_, shape)| **shape == &parameter.shape);
            found.extend(fits.map(|(node, _)| InPlace {
                node,
                operand: number,
                operand_node: 0,
                is_update: false,
            }));
        }
    }
}

/// Whether the elements of an operand are as many as those of the result, whatever their types.
fn has_sizes_of(fused: &Computation, operand: u32, instruction: &Instruction) -> bool {
    match (&fused.instructions[operand as usize].shape, &instruction.shape) {
        (Shape::Array(one), Shape::Array(other)) => one.sizes == other.sizes,
        _ => false,
    }
}

/// What a text says of shared buffers: the list between the outer braces of `{{}: (0, {}), {1}: (2, {0}, may-alias)}`.
pub(super) fn aliases(text: &str) -> Vec<Alias> {
    let path = |text: &str| -> Vec<u64> {
        let inner = text.trim().trim_start_matches('{').trim_end_matches('}');
        inner.split(',').filter_map(|step| step.trim().parse().ok()).collect()
    };
    let alias = |part: &str| {
        let (output, rest) = part.split_once(':')?;
        let mut rest = parts(rest.trim().strip_prefix('(')?.strip_suffix(')')?);
        Some(Alias {
            output: path(output),
            operand: rest.next()?.parse().ok()?,
            path: path(rest.next().unwrap_or("")),
        })
    };
    parts(text).filter_map(alias).collect()
}
