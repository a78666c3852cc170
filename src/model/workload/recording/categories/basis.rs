//! What an inferred category rests on, one row each: its key, its sentence, and what is possible where it stays unknown.

use super::Category;

/// What the category of a block rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CategoryBasis {
    /// Unknown: neither a line of its stack, nor its name, nor an annotation, nor its age tells.
    #[default]
    Nothing,
    /// A rule of the document.
    Rule,
    /// A line of its call stack, and its life.
    CallStack,
    /// Its name, and its life.
    Name,
    /// The annotation at its event, and its life.
    Annotation,
    /// A thread without Python, in a recording of training, and its life.
    Thread,
    /// Its life alone.
    Life,
    /// The program asked for it between two steps.
    BetweenSteps,
    /// It was live when a request failed, which ended the step.
    FailedRequest,
    /// Other blocks of its call stack and size.
    Alike,
    /// Its size, beside those of parameters or gradients.
    Size,
    /// It is older, and was freed in one go with blocks of the sizes of all gradients.
    FreedTogether,
    /// It is older, and a backward pass freed it whose forward pass was recorded in part.
    FreedByBackward,
    /// Unknown: older, and there are more such blocks than gradients of its size.
    ParameterOrState,
    /// Unknown: older, and no gradient has its size.
    NoGradient,
    /// Unknown: older, and freed where several ends are possible.
    OlderFreed,
    /// Unknown: live beyond its step.
    BeyondStep,
    /// Unknown: of the backward pass, live when it ended or a request failed.
    GradientOrTemporary,
    /// Unknown: of the forward pass, live when a request failed.
    ActivationOrTemporary,
    /// Unknown: of the optimizer, live when a request failed.
    StateOrTemporary,
    /// Unknown: of the program, outside of the model.
    InputOrTemporary,
    /// Unknown: copied or loaded, and there are more such blocks than gradients of its size.
    Copy,
}

use CategoryBasis as Basis;

/// Basis, key, sentence.
const ROWS: [(Basis, &str, &str); 22] = [
    (
        Basis::Nothing,
        "nothing",
        "neither a call stack, nor a name, nor an annotation tells",
    ),
    (Basis::Rule, "rule", "a rule of the document"),
    (Basis::CallStack, "call_stack", "its call stack and how long it lives"),
    (Basis::Name, "name", "its name and how long it lives"),
    (
        Basis::Annotation,
        "annotation",
        "the annotation at its event and how long it lives",
    ),
    (
        Basis::Thread,
        "thread",
        "a thread without Python, as those of autograd are, and how long it lives",
    ),
    (Basis::Life, "life", "how long it lives"),
    (
        Basis::BetweenSteps,
        "between_steps",
        "asked for after one step and before the model ran again",
    ),
    (
        Basis::FailedRequest,
        "failed_request",
        "live when a request failed, which ended the step",
    ),
    (Basis::Alike, "alike", "other blocks of its call stack and size"),
    (Basis::Size, "size", "its size beside those of gradients or parameters"),
    (
        Basis::FreedTogether,
        "freed_together",
        "freed in one go with blocks of the sizes of all gradients",
    ),
    (
        Basis::FreedByBackward,
        "freed_by_backward",
        "older than the recording and freed by the backward pass of the step",
    ),
    (
        Basis::ParameterOrState,
        "parameter_or_state",
        "older than the recording and as large as a gradient: parameter, optimizer state or copy",
    ),
    (
        Basis::NoGradient,
        "no_gradient",
        "older than the recording, and no recorded gradient has its size: frozen parameter, buffer, state or cache",
    ),
    (
        Basis::OlderFreed,
        "older_freed",
        "older than the recording and freed in it: activation, gradient or temporary",
    ),
    (
        Basis::BeyondStep,
        "beyond_step",
        "held by the program or a library beyond its step",
    ),
    (
        Basis::GradientOrTemporary,
        "gradient_or_temporary",
        "of the backward pass, live when it ended or a request failed: gradient or temporary",
    ),
    (
        Basis::ActivationOrTemporary,
        "activation_or_temporary",
        "of the forward pass, live when a request failed: activation or temporary",
    ),
    (
        Basis::StateOrTemporary,
        "state_or_temporary",
        "of the optimizer, live when a request failed: state or temporary",
    ),
    (
        Basis::InputOrTemporary,
        "input_or_temporary",
        "asked for by the program outside of the model: input, result or temporary",
    ),
    (
        Basis::Copy,
        "copy",
        "copied or loaded, and no gradient of its size is left: parameter, average or copy",
    ),
];

impl CategoryBasis {
    fn row(self) -> (&'static str, &'static str) {
        let (_, key, text) = ROWS[self as usize];
        (key, text)
    }

    /// The key in JSON.
    pub fn key(self) -> &'static str {
        self.row().0
    }

    /// In words, without a point.
    pub fn text(self) -> &'static str {
        self.row().1
    }

    /// As the basis of an unknown category.
    pub(super) const fn unknown(self) -> (Category, Self) {
        (Category::Unknown, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_variants() {
        for (position, (basis, key, _)) in ROWS.iter().enumerate() {
            assert_eq!(*basis as usize, position, "{key}");
        }
    }
}
