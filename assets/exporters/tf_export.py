#!/usr/bin/env python3
"""Writes a TensorFlow function, a Keras model or a training step as a GraphDef that highwater reads.

The function is traced to a concrete function, which computes nothing, and written with the shape of every tensor and
without weights: variables are there by name, type and shape alone, and constants of more than 1 KiB are emptied (type
and shape stay). Calls of functions are inlined; bodies of loops and branches stay in the library.
Needs Python 3.9, TensorFlow 2.12 or newer with Keras 2 or 3, and nothing else. This file may be copied anywhere.

    python tf_export.py my_module:factory -o step.pb
    highwater step.pb

The factory
    `my_module:factory` is a function of an importable module, `path/to/file.py:factory` one of a file. It is called
    with the `--arg NAME=VALUE` pairs (Python literals, else texts) and returns one of

        a concrete function              written as it is
        a tf.function, or (tf.function, inputs)       the inputs may be left out where it has an input signature
        a Keras model                    its inference graph, for its own inputs; a training step where it is compiled
                                         and `targets` are given
        (model, inputs[, loss[, optimizer[, targets]]])
        a dict with the keys model, inputs, loss, optimizer, targets; only `model` is required

    inputs     what the model (or the function, as its arguments) is called with: tf.TensorSpec, tensors or arrays, in
               any nesting; None: the model's own inputs. Sizes of None stay open: highwater asks for their values
    loss       called as `loss(targets, outputs)`, or as `loss(outputs)` where there are no targets; a Keras loss, a
               function, or a name that Keras knows. Without one a compiled model's `train_step` is traced
    optimizer  a Keras optimizer or its name; None: the gradients are the results
    targets    what the loss gets first, in the form of `inputs`

    def factory(batch=32):
        model = keras.applications.ResNet50(weights=None)
        loss = keras.losses.SparseCategoricalCrossentropy()
        images, labels = tf.TensorSpec((batch, 224, 224, 3)), tf.TensorSpec((batch,), tf.int32)
        return model, images, loss, keras.optimizers.SGD(0.1, momentum=0.9), labels

From Python
    from tf_export import export
    export(model, inputs, loss=None, optimizer=None, targets=None, path="step.pb")

    `export` returns the GraphDef and writes it where `path` is given: `.pb` as bytes, `.pbtxt` as text, either also
    with `.gz`. Other than with PyTorch the model's weights are made for real.

What a training step is
    `with GradientTape() as tape: loss(targets, model(inputs, training=True))`, losses that layers add, the tape's
    gradient and `optimizer.apply_gradients`. The optimizer's variables exist before, so the graph is a step in the
    middle of training. A mixed precision optimizer scales the loss.
"""

from __future__ import annotations

import argparse
import ast
import functools
import gzip
import importlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # its notes about this machine's CPU say nothing about the graph

try:
    import tensorflow as tf
    from tensorflow.python.framework import convert_to_constants
except ImportError as missing:  # pragma: no cover - depends on the machine
    sys.exit(f"tf_export: error: TensorFlow 2.12 or newer is needed ({missing})")

FIELDS = ("model", "inputs", "loss", "optimizer", "targets")
#: Constants of more bytes are emptied; smaller ones are needed to infer shapes.
LARGEST_CONSTANT = 1024
CALLS = ("PartitionedCall", "StatefulPartitionedCall")


class ExportError(Exception):
    """What cannot be exported, and what to do about it."""


def warn(text: str) -> None:
    print(f"tf_export: warning: {text}", file=sys.stderr)


# ---------------------------------------------------------------------------------------------------------------------
# What is traced


def spec_of(value: Any) -> tf.TensorSpec:
    """The shape and type of an example, or of a model's symbolic input."""
    if isinstance(value, tf.TensorSpec):
        return value
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return tf.TensorSpec(value.shape, value.dtype, name=clean(getattr(value, "name", None)))
    return tf.TensorSpec.from_tensor(tf.convert_to_tensor(value))


def clean(name: Any) -> str | None:
    """A name that a graph takes; None where there is none."""
    try:
        return str(name).split(":")[0] if name else None
    except AttributeError:  # eager tensors have none
        return None


def name_of(value: Any) -> Any:
    try:
        return value.name
    except AttributeError:
        return None


def specs(values: Any) -> Any:
    """The same nesting with shapes and types in place of values. Lists of numbers are values."""
    if isinstance(values, dict):
        return {key: specs(value) for key, value in values.items()}
    if isinstance(values, (tuple, list)) and not is_number_list(values):
        return type(values)(specs(value) for value in values)
    return spec_of(values)


def is_number_list(values: Any) -> bool:
    return isinstance(values, (int, float, bool)) or (
        isinstance(values, (tuple, list)) and len(values) > 0 and all(is_number_list(value) for value in values)
    )


def is_keras_model(value: Any) -> bool:
    return hasattr(value, "trainable_variables") and hasattr(value, "weights") and callable(value)


def is_function(value: Any) -> bool:
    return hasattr(value, "get_concrete_function")


def is_concrete(value: Any) -> bool:
    return hasattr(value, "graph") and hasattr(value, "structured_outputs")


def from_name(kind: str, value: Any) -> Any:
    """A Keras loss or optimizer of a name."""
    return getattr(tf.keras, kind).get(value) if isinstance(value, str) else value


def own_inputs(model: Any) -> Any:
    """What a Keras model says about its inputs."""
    found = getattr(model, "inputs", None)
    if not found:
        raise ExportError("the model does not say what its inputs are; give some, such as tf.TensorSpec((8, 224, 224, 3))")
    return specs(found[0] if len(found) == 1 else list(found))


def inference(model: Any, inputs: Any) -> Any:
    def forward(inputs: Any) -> Any:
        return model(inputs, training=False)

    return tf.function(forward).get_concrete_function(inputs)


def losses_of(model: Any) -> list[Any]:
    """Losses that layers add, such as regularisers."""
    return list(getattr(model, "losses", None) or [])


def scaled(optimizer: Any, loss: Any) -> Any:
    """The loss as a mixed precision optimizer wants it."""
    for name in ("scale_loss", "get_scaled_loss"):
        if hasattr(optimizer, name):
            return getattr(optimizer, name)(loss)
    return loss


def apply(optimizer: Any, gradients: list[Any], variables: list[Any]) -> None:
    if hasattr(optimizer, "get_unscaled_gradients"):  # Keras 2; Keras 3 does it within
        gradients = optimizer.get_unscaled_gradients(gradients)
    pairs = [(gradient, variable) for gradient, variable in zip(gradients, variables) if gradient is not None]
    if not pairs:
        raise ExportError("no trainable variable takes part in the loss; check the loss and `trainable`")
    optimizer.apply_gradients(pairs)


def make_state(optimizer: Any, variables: list[Any]) -> None:
    """The optimizer's variables, before anything is traced."""
    for name in ("build", "_create_all_weights"):
        if hasattr(optimizer, name):
            getattr(optimizer, name)(variables)
            return
    warn(f"{type(optimizer).__name__} has no build(); its variables are made within the graph")


def training(model: Any, inputs: Any, targets: Any, loss: Any, optimizer: Any) -> Any:
    """One step with a gradient tape."""

    def step(inputs: Any, targets: Any) -> Any:
        with tf.GradientTape() as tape:
            outputs = model(inputs, training=True)
            found = loss(outputs) if targets is None else loss(targets, outputs)
            found = found if found.shape.rank == 0 else tf.reduce_sum(found)
            found = tf.add_n([found, *losses_of(model)]) if losses_of(model) else found
            differentiated = found if optimizer is None else scaled(optimizer, found)
        variables = list(model.trainable_variables)
        gradients = tape.gradient(differentiated, variables)
        if optimizer is None:
            return found, [gradient for gradient in gradients if gradient is not None]
        apply(optimizer, gradients, variables)
        return found

    if not getattr(model, "built", True) or not model.trainable_variables:
        inference(model, inputs)  # makes the weights of models that are built when they are called
    if optimizer is not None:
        make_state(optimizer, list(model.trainable_variables))
    return tf.function(step).get_concrete_function(inputs, targets)


def compiled_step(model: Any, inputs: Any, targets: Any) -> Any:
    """The training step of a model that was compiled."""
    if not getattr(model, "built", True):
        inference(model, inputs)
    make_state(model.optimizer, list(model.trainable_variables))

    def step(inputs: Any, targets: Any) -> Any:
        return model.train_step((inputs, targets))

    return tf.function(step).get_concrete_function(inputs, targets)


def concrete(model: Any, inputs: Any, loss: Any, optimizer: Any, targets: Any) -> Any:
    """The concrete function of what a factory gave."""
    if is_concrete(model):
        return model
    if is_function(model):
        arguments = () if inputs is None else inputs if isinstance(inputs, tuple) else (inputs,)
        return model.get_concrete_function(*specs(tuple(arguments)))
    if not is_keras_model(model):
        raise ExportError(f"a {type(model).__name__} is no concrete function, tf.function or Keras model")
    inputs = own_inputs(model) if inputs is None else specs(inputs)
    targets = None if targets is None else specs(targets)
    if loss is not None:
        loss, optimizer = from_name("losses", loss), from_name("optimizers", optimizer)
        function = training(model, inputs, targets, loss, optimizer)
        function.highwater_keeps = (loss, optimizer)  # functions do not hold their variables
        return function
    if optimizer is not None:
        raise ExportError("an optimizer needs a loss; give one, or compile the model and give targets alone")
    if targets is not None:
        if getattr(model, "optimizer", None) is None:
            raise ExportError("targets are given, but no loss, and the model is not compiled")
        return compiled_step(model, inputs, targets)
    return inference(model, inputs)


# ---------------------------------------------------------------------------------------------------------------------
# The graph


def is_call(node: Any, library: Iterable[str]) -> bool:
    return node.op in CALLS or node.op in library


def inlined(function: Any) -> Any:
    """The graph with calls of functions replaced by their bodies; as it is where there are none."""
    given = function.graph.as_graph_def(add_shapes=True)
    library = {entry.signature.name for entry in given.library.function}
    if not any(is_call(node, library) for node in given.node):
        return given
    inline = getattr(convert_to_constants, "_run_inline_graph_optimization", None)
    try:
        result = inline(function, lower_control_flow=False, aggressive_inlining=True)
    except Exception as error:  # a private function of TensorFlow
        warn(f"calls of functions stay in the graph, this version of TensorFlow does not inline them: {error}")
        return given
    lost = sum(node.op.startswith(("Assign", "Resource")) for node in given.node) - sum(
        node.op.startswith(("Assign", "Resource")) for node in result.node
    )
    if lost > 0:
        warn("calls of functions stay in the graph, because inlining would drop assignments of variables")
        return given
    return result


def captured(function: Any) -> dict[str, tuple[str, Any]]:
    """By node: the variable or constant that stands outside the function and is handed in."""
    names = variable_names(function)
    found: dict[str, tuple[str, Any]] = {}
    for outside, inside in function.graph.captures:
        node = inside.name.split(":")[0]
        described = getattr(getattr(outside, "_handle_data", None), "shape_and_type", None)
        if outside.dtype == tf.resource and described:
            found[node] = ("variable", (names.get(id(outside)) or node, described[0]))
        elif outside.dtype not in (tf.resource, tf.variant):
            found[node] = ("constant", outside)
    return found


def name_captures(graph: Any, function: Any) -> Any:
    """Placeholders of captured variables become variables with name, type and shape, those of constants constants."""
    found = captured(function)
    taken = {node.name for node in graph.node}
    renamed: dict[str, str] = {}
    for node in graph.node:
        if node.op != "Placeholder" or node.name not in found:
            continue
        kind, value = found[node.name]
        if kind == "constant":
            as_constant(node, value)
            continue
        name, described = value
        name = node.name if name == node.name else unique(name, taken)
        renamed[node.name] = name
        as_variable(node, described, name)
    for node in graph.node:
        for index, text in enumerate(node.input):
            node.input[index] = renamed_input(text, renamed)
    return graph


def unique(name: str, taken: set[str]) -> str:
    found, count = name, 0
    while found in taken:
        count += 1
        found = f"{name}_{count}"
    taken.add(found)
    return found


def renamed_input(text: str, renamed: dict[str, str]) -> str:
    """An input with its node's new name; `^node` is a control edge, `node:1` a second output."""
    control, name = ("^", text[1:]) if text.startswith("^") else ("", text)
    name, colon, output = name.partition(":")
    return f"{control}{renamed.get(name, name)}{colon}{output}"


def variable_names(function: Any) -> dict[int, str]:
    """By handle: the names of variables. Those that nothing holds any more are not told."""
    found = {}
    for reference in getattr(function.graph, "_weak_variables", ()):
        variable = reference()
        if variable is not None and hasattr(variable, "handle"):
            found[id(variable.handle)] = getattr(variable, "path", None) or clean(name_of(variable)) or ""
    return found


def as_variable(node: Any, described: Any, name: str) -> None:
    node.name, node.op = name, "VarHandleOp"
    node.attr.clear()
    node.attr["dtype"].type = described.dtype
    node.attr["shape"].shape.CopyFrom(described.shape)
    node.attr["shared_name"].s = name.encode()
    node.attr["container"].s = b""
    node.attr["_output_shapes"].list.shape.add()


def as_constant(node: Any, value: Any) -> None:
    node.op = "Const"
    shapes = node.attr["_output_shapes"]
    node.attr.clear()
    node.attr["_output_shapes"].CopyFrom(shapes)
    node.attr["dtype"].type = value.dtype.as_datatype_enum
    tensor = node.attr["value"].tensor
    tensor.dtype = value.dtype.as_datatype_enum
    tensor.tensor_shape.CopyFrom(value.shape.as_proto())
    n_bytes = (value.shape.num_elements() or 0) * max(value.dtype.size, 1)
    if n_bytes <= LARGEST_CONSTANT and hasattr(value, "numpy"):
        tensor.CopyFrom(tf.make_tensor_proto(value.numpy()))


def with_shapes(graph: Any) -> Any:
    """The graph with the shapes that TensorFlow infers, its functions too where TensorFlow tells them."""
    fresh = tf.Graph()
    bare = type(graph)()
    bare.CopyFrom(graph)
    for body in [bare.node] + [function.node_def for function in bare.library.function]:
        for node in body:
            node.attr.pop("_output_shapes", None)  # of inlined nodes they may be those of something else
    try:
        with fresh.as_default():
            tf.import_graph_def(bare, name="")
        shaped = fresh.as_graph_def(add_shapes=True)
    except Exception as error:  # custom ops, or handles that nothing describes
        warn(f"shapes are those of the trace, TensorFlow does not infer them anew: {error}")
        return graph
    keep_known(graph, shaped)
    return shaped


def keep_known(before: Any, after: Any) -> None:
    """Where inference knows less than the trace did, the trace's shapes stay."""
    known = {node.name: node for node in before.node if "_output_shapes" in node.attr}
    for node in after.node:
        old = known.get(node.name)
        if old is not None:
            better_shapes(old.attr["_output_shapes"].list.shape, node.attr["_output_shapes"].list.shape)
    functions = {entry.signature.name: entry for entry in before.library.function}
    for entry in after.library.function:
        body = functions.get(entry.signature.name)
        nodes = {node.name: node for node in body.node_def} if body is not None else {}
        for node in entry.node_def:
            if "_output_shapes" in nodes.get(node.name, node).attr and "_output_shapes" not in node.attr:
                node.attr["_output_shapes"].CopyFrom(nodes[node.name].attr["_output_shapes"])


def better_shapes(old: Any, new: Any) -> None:
    """Takes over shapes that say more. A variable's size is the last word of inference."""
    if len(old) != len(new):
        return
    for before, after in zip(old, new):
        if n_known(before) > n_known(after):
            after.CopyFrom(before)


def n_known(shape: Any) -> int:
    return -1 if shape.unknown_rank else sum(dim.size >= 0 for dim in shape.dim)


def emptied(graph: Any) -> Any:
    """Large constants lose their values; type and shape stay."""
    bodies = [graph.node] + [function.node_def for function in graph.library.function]
    for node in (node for body in bodies for node in body):
        if node.op != "Const" or node.attr["value"].tensor.ByteSize() <= LARGEST_CONSTANT:
            continue
        tensor = node.attr["value"].tensor
        kept = type(tensor)(dtype=tensor.dtype, tensor_shape=tensor.tensor_shape)
        tensor.CopyFrom(kept)
    return graph


def graph_of(function: Any) -> Any:
    return emptied(with_shapes(name_captures(inlined(function), function)))


# ---------------------------------------------------------------------------------------------------------------------
# Writing, and what is called


def to_bytes(graph: Any, name: str) -> bytes:
    plain = name.removesuffix(".gz")
    if plain.endswith((".pbtxt", ".txt")):
        from google.protobuf import text_format

        data = text_format.MessageToString(graph).encode()
    else:
        data = graph.SerializeToString(deterministic=True)
    return gzip.compress(data, mtime=0) if name.endswith(".gz") else data


def write(graph: Any, path: str | os.PathLike[str]) -> None:
    """Writes the graph whole or not at all."""
    target = Path(path)
    data = to_bytes(graph, target.name)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def export(
    model: Any,
    inputs: Any = None,
    loss: Any = None,
    optimizer: Any = None,
    targets: Any = None,
    path: str | os.PathLike[str] | None = None,
) -> Any:
    """Traces a function, model or training step, writes it to `path` and returns the GraphDef."""
    graph = graph_of(concrete(model, inputs, loss, optimizer, targets))
    if path is not None:
        write(graph, path)
    return graph


def parts(answer: Any) -> dict[str, Any]:
    """What a factory returned, by name."""
    if isinstance(answer, (tuple, list)):
        if not 1 <= len(answer) <= len(FIELDS):
            raise ExportError(f"the factory returned {len(answer)} parts; at most ({', '.join(FIELDS)})")
        return dict(zip(FIELDS, answer))
    if isinstance(answer, dict):
        unknown = sorted(set(map(str, answer)) - set(FIELDS))
        if unknown:
            raise ExportError(f"the factory's dict has the unknown key \"{unknown[0]}\"; known: {', '.join(FIELDS)}")
        return answer
    return {"model": answer}


def find_factory(spec: str) -> Callable[..., Any]:
    """The function that `module:name` or `file.py:name` names."""
    module_name, colon, name = spec.rpartition(":")
    if not colon or not module_name or not name:
        raise ExportError(f"\"{spec}\" names no factory; write my_module:factory or path/to/file.py:factory")
    if module_name.endswith(".py"):
        sys.path.insert(0, str(Path(module_name).resolve().parent))
        found = importlib.util.spec_from_file_location(Path(module_name).stem, module_name)
        if found is None or found.loader is None or not Path(module_name).is_file():
            raise ExportError(f"there is no file {module_name}")
        module = importlib.util.module_from_spec(found)
        sys.modules[found.name] = module
        found.loader.exec_module(module)
    else:
        sys.path.insert(0, os.getcwd())
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            raise ExportError(f"{error}; run this where the module can be imported, or name its file") from error
    try:
        return functools.reduce(getattr, name.split("."), module)  # type: ignore[return-value]
    except AttributeError as error:
        raise ExportError(f"{module_name} has no \"{name}\"") from error


def literal(text: str) -> tuple[str, Any]:
    """`NAME=VALUE` with a Python literal, else a text, as value."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"\"{text}\" is not NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tf_export.py",
        description="Writes a TensorFlow function, a Keras model or a training step as a graph that highwater reads.",
        epilog="The head of this file is the manual.",
    )
    parser.add_argument("factory", help="my_module:factory or path/to/file.py:factory")
    parser.add_argument("-o", "--output", default="graph.pb", help=".pb or .pbtxt, also with .gz (default: graph.pb)")
    parser.add_argument("--arg", action="append", type=literal, default=[], metavar="NAME=VALUE",
                        help="an argument of the factory; may be repeated")
    parser.add_argument("--no-backward", action="store_true", help="the model's inference graph alone")
    parser.add_argument("--no-optimizer", action="store_true", help="leave the optimizer step out")
    parser.add_argument("--traceback", action="store_true", help="show the whole traceback of an error")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace) -> None:
    given = dict(parts(find_factory(options.factory)(**dict(options.arg))))
    if options.no_backward:
        given = {key: value for key, value in given.items() if key in ("model", "inputs")}
    if options.no_optimizer:
        given.pop("optimizer", None)
    graph = export(**given, path=options.output)
    n_shapes = sum("_output_shapes" in node.attr for node in graph.node)
    print(
        f"{options.output}: {len(graph.node)} nodes, {n_shapes} with shapes, "
        f"{len(graph.library.function)} functions (bodies of loops and branches), "
        f"{sum(node.op == 'VarHandleOp' for node in graph.node)} variables"
    )


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    try:
        run(options)
    except Exception as error:
        if options.traceback:
            raise
        kind = "" if isinstance(error, (ExportError, OSError)) else f"{type(error).__name__}: "
        print(f"tf_export: error: {kind}{error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
