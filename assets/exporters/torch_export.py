#!/usr/bin/env python3
"""Writes one training step of a PyTorch module as a graph that highwater reads.

The model runs once on fake tensors: every operator is seen with its shapes, but nothing is computed, no memory is
taken and no accelerator is needed. Forward, backward and optimizer step come out as ATen operators in the order in
which eager PyTorch runs them, with FLOPs, aliases (views and in-place results) and the roles of all inputs.
Needs Python 3.9, PyTorch 2.1 or newer and nothing else. This file may be copied anywhere.

    python torch_export.py my_module:factory -o step.json.gz
    highwater step.json.gz

The factory
    `my_module:factory` is a function of an importable module, `path/to/file.py:factory` one of a file. It is called
    with the `--arg NAME=VALUE` pairs (Python literals, else texts) and returns

        (model, inputs)
        (model, inputs, loss)
        (model, inputs, loss, optimizer)
        (model, inputs, loss, optimizer, targets)

    or a dict with these names as keys; only `model` is required in a dict, which may also have `kwargs`.

    model      a torch.nn.Module, in the mode (train or eval) that is wanted
    inputs     a tensor, a tuple or list of positional arguments, or a dict of named arguments of `model`
    kwargs     a dict of named arguments beside positional `inputs`
    loss       called as `loss(output, *targets)`; None: what the model returns is the loss. That is its `loss`
               (attribute or key, as Hugging Face models have it), or the tensor that it returns. Several tensors, or
               one that is no scalar, are summed, and a warning says so
    optimizer  a torch.optim.Optimizer over the model's parameters; or a function that makes one of a list of
               parameters, such as `functools.partial(torch.optim.AdamW, lr=1e-4)`; None: no optimizer step
    targets    a tensor, or a tuple or list of what `loss` gets behind the output

    def factory(batch=8):
        model = torchvision.models.resnet18()
        images, labels = torch.randn(batch, 3, 224, 224), torch.randint(1000, (batch,))
        return model, images, torch.nn.CrossEntropyLoss(), functools.partial(torch.optim.SGD, lr=0.1), labels

    The factory itself runs on fake tensors too, so that a model of any size can be built. Where its code needs real
    values it is called once more without them. Models on the `meta` device are taken as models of the CPU.

From Python
    from torch_export import export
    export(model, inputs, loss=None, optimizer=None, targets=(), path="step.json.gz")

    `export` returns the graph as a dict and writes it where `path` is given; its other parameters are those of the
    command line. Model, optimizer and tensors are as before when it returns.

What is written
    * `forward`, `backward` and `optimizer` are the phases. What gradient checkpointing computes anew is `backward`.
    * The operators are those of the tensors' device. Models of the CPU are traced without oneDNN, so that the
      operators are those that other devices run too. A model on another device needs that device's driver.
    * FLOPs are 2 per multiply-add of matrix products, convolutions and attention, one per element written for other
      operators, and 0 for pure views.
    * The optimizer takes its single-tensor path (`foreach=False`, `fused=False`, `capturable=False`) and is stepped
      once before, so that its state exists: the graph is a step in the middle of training. Step counters that stay on
      the host are left out.
    * A gradient is needed until the optimizer has read it. Without an optimizer gradients are outputs of the graph;
      with `--keep-gradients` too, as in a loop that frees them only in the next step.
    * Tensors that belong to no module and are no input are constants.

What cannot be traced
    Code that reads values of tensors (`if x.sum() > 0`, `.item()`, `.tolist()`) or makes shapes of them (`nonzero`,
    boolean masks, `unique`). The error names the line. Change the line (`torch.where`, fixed sizes, plain numbers), or
    use `--real`: everything is then computed for real, on a copy, with the values that the factory gave. It needs
    memory for all tensors of the step together: nothing is freed before its end.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import functools
import gzip
import importlib
import importlib.util
import inspect
import io
import json
import math
import os
import sys
import tempfile
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator

try:
    import torch
    from torch._subclasses import fake_tensor as fakes
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_flatten, tree_map
except ImportError as missing:  # pragma: no cover - depends on the machine
    sys.exit(f"torch_export: error: PyTorch 2.1 or newer is needed ({missing})")

EXPORTER = "torch_export 1"
FORMAT_VERSION = 1
FIELDS = ("model", "inputs", "loss", "optimizer", "targets", "kwargs")
OPTIMIZERS: dict[str, Callable[..., Any]] = {
    "sgd": functools.partial(torch.optim.SGD, lr=0.1),
    "sgd_momentum": functools.partial(torch.optim.SGD, lr=0.1, momentum=0.9),
    "adam": functools.partial(torch.optim.Adam, lr=1e-3),
    "adamw": functools.partial(torch.optim.AdamW, lr=1e-3),
}
#: Where an attribute of an operator holds longer lists than this, it is left out.
LONGEST_ATTRIBUTE = 64


class ExportError(Exception):
    """What cannot be exported, and what to do about it."""


def warn(text: str) -> None:
    print(f"torch_export: warning: {text}", file=sys.stderr)


# ---------------------------------------------------------------------------------------------------------------------
# What is traced


@dataclass
class Step:
    """A model with everything that one training step needs."""

    model: torch.nn.Module
    inputs: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    loss: Callable[..., Any] | None = None
    optimizer: Any = None
    targets: tuple[Any, ...] = ()

    @staticmethod
    def of(answer: Any) -> "Step":
        """What a factory returned."""
        if isinstance(answer, torch.nn.Module):
            answer = {"model": answer}
        elif isinstance(answer, (tuple, list)) and 2 <= len(answer) <= 5:
            answer = dict(zip(FIELDS, answer))
        if not isinstance(answer, dict):
            raise ExportError(
                f"the factory returned a {type(answer).__name__}; it must return (model, inputs[, loss[, optimizer"
                "[, targets]]]) or a dict with these keys"
            )
        unknown = sorted(set(map(str, answer)) - set(FIELDS))
        if unknown:
            raise ExportError(f"the factory's dict has the unknown key \"{unknown[0]}\"; known: {', '.join(FIELDS)}")
        return Step.checked(**answer)

    @staticmethod
    def checked(
        model: Any = None,
        inputs: Any = (),
        loss: Any = None,
        optimizer: Any = None,
        targets: Any = (),
        kwargs: dict[str, Any] | None = None,
    ) -> "Step":
        """The parts in one form: positional arguments in a tuple, named ones in a dict."""
        model = getattr(model, "_orig_mod", model)  # what torch.compile has wrapped
        if isinstance(model, torch.jit.ScriptModule):
            raise ExportError("the model is a TorchScript module; return the module that it was made of")
        if not isinstance(model, torch.nn.Module):
            raise ExportError(f"the model is a {type(model).__name__}, not a torch.nn.Module; wrap it in one")
        if loss is not None and not callable(loss):
            raise ExportError(f"the loss is a {type(loss).__name__}; it must be called as loss(output, *targets)")
        named = dict(kwargs or {})
        if isinstance(inputs, dict) or hasattr(inputs, "keys"):
            named = {**{str(key): inputs[key] for key in inputs.keys()}, **named}
            inputs = ()
        return Step(model, as_tuple(inputs), named, loss, optimizer, as_tuple(targets))

    def modules(self) -> list[tuple[str, torch.nn.Module]]:
        """The modules that hold parameters, with the prefix of their names."""
        found = [("", self.model)]
        if isinstance(self.loss, torch.nn.Module):
            found.append(("loss.", self.loss))
        return found

    def named(self, what: str) -> list[tuple[str, torch.Tensor]]:
        """Named parameters or buffers, shared ones once."""
        seen: set[int] = set()
        found = []
        for prefix, module in self.modules():
            for name, tensor in getattr(module, f"named_{what}")():
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    found.append((prefix + name, tensor))
        return found

    def trainable(self) -> list[torch.Tensor]:
        """Parameters that want gradients, those of the optimizer behind those of the modules."""
        found = [tensor for _, tensor in self.named("parameters")]
        if isinstance(self.optimizer, torch.optim.Optimizer):
            found += [tensor for group in self.optimizer.param_groups for tensor in group["params"]]
        unique = {id(tensor): tensor for tensor in found if tensor.requires_grad}
        return list(unique.values())


def as_tuple(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


# ---------------------------------------------------------------------------------------------------------------------
# FLOPs


def product(numbers: Iterable[int]) -> int:
    return math.prod(int(number) for number in numbers)


def convolution_flops(x: Any, weight: Any, out: Any, transposed: bool) -> int:
    """The weight's shape is (out, in per group, *filter), so groups need no further care."""
    positions = (x if transposed else out).shape[2:]
    return 2 * int(x.shape[0]) * product(positions) * product(weight.shape)


def convolution_backward_flops(args: tuple[Any, ...]) -> int:
    """As much as the forward pass for each of the gradients of input and weight that is asked for."""
    gradient, x, weight, transposed, mask = args[0], args[1], args[2], args[7], args[10]
    return convolution_flops(x, weight, gradient, transposed) * sum(bool(wanted) for wanted in mask[:2])


def attention_flops(query: Any, key: Any, value: Any, backward: bool) -> int:
    """Two matrix products forward; backward computes the scores anew and has four more."""
    *rows, s_q, d_q = query.shape
    s_k, d_v = key.shape[-2], value.shape[-1]
    width = 3 * d_q + 2 * d_v if backward else d_q + d_v
    return 2 * product(rows) * int(s_q) * int(s_k) * int(width)


def formula_flops(name: str, args: tuple[Any, ...], out: Any) -> int | None:
    """FLOPs of operators that multiply and add; None for all others."""
    if name in ("mm", "bmm", "mv", "dot", "vdot"):
        return 2 * product(args[0].shape) * (product(args[1].shape[-1:]) if name in ("mm", "bmm") else 1)
    if name in ("addmm", "baddbmm", "addmv", "_addmm_activation"):
        return 2 * product(args[1].shape) * (1 if name == "addmv" else int(args[2].shape[-1]))
    if name == "convolution":
        return convolution_flops(args[0], args[1], out, bool(args[6]))
    if name == "convolution_backward":
        return convolution_backward_flops(args)
    if name.startswith("_scaled_dot_product_"):
        backward = name.endswith("_backward")
        return attention_flops(*(args[1:4] if backward else args[:3]), backward)
    return None


def registered_flops(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> int | None:
    """PyTorch's own formula for an operator, where this version has one."""
    try:
        from torch.utils.flop_counter import flop_registry

        formula = flop_registry.get(func.overloadpacket)
        return None if formula is None else int(formula(*args, **kwargs, out_val=out))
    except Exception:  # formulas of other versions take other arguments
        return None


def flops(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> tuple[int | None, str]:
    """FLOPs by a formula and where they come from; None where elements are to be counted."""
    try:
        found = formula_flops(func.overloadpacket.__name__, args, out)
    except (AttributeError, IndexError, TypeError):  # a variant with other arguments
        found = None
    if found is not None:
        return found, "formula"
    found = registered_flops(func, args, kwargs, out)
    return (found, "torch") if found is not None else (None, "elements")


# ---------------------------------------------------------------------------------------------------------------------
# The recorder


def tensors_of(values: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_flatten(values)[0] if isinstance(leaf, torch.Tensor)]


def is_host_scalar(tensor: torch.Tensor) -> bool:
    """A step counter and the like: a real number of the CPU."""
    return tensor.dim() == 0 and tensor.device.type == "cpu" and not isinstance(tensor, FakeTensor)


def storage_of(tensor: torch.Tensor) -> Any:
    """A tensor's storage; None for sparse and opaque ones.

    Where a fake parameter was deep-copied, its views have another storage than it; `detach` has theirs.
    """
    try:
        return (tensor.detach() if isinstance(tensor, FakeTensor) else tensor).untyped_storage()
    except (NotImplementedError, RuntimeError):
        return None


def plain(value: Any) -> Any:
    """An argument that is no tensor, as JSON; None where it has no short form."""
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, (list, tuple)):
        if len(value) > LONGEST_ATTRIBUTE or tensors_of(list(value)):
            return None
        return [plain(item) for item in value]
    if isinstance(value, (torch.dtype, torch.layout, torch.device, torch.memory_format)):
        return str(value)
    return None


@dataclass(frozen=True)
class Arguments:
    """The arguments of one call beside the operator's schema."""

    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def bound(self) -> Iterator[tuple[Any, Any]]:
        """Declared arguments with the values that were given."""
        for position, declared in enumerate(self.func._schema.arguments):
            if position < len(self.args):
                yield declared, self.args[position]
            elif declared.name in self.kwargs:
                yield declared, self.kwargs[declared.name]

    def mutated(self) -> list[torch.Tensor]:
        """Tensors that the operator writes into."""
        return [
            tensor
            for declared, value in self.bound()
            if declared.alias_info is not None and declared.alias_info.is_write
            for tensor in tensors_of(value)
        ]

    def attributes(self) -> dict[str, Any]:
        found = {declared.name: plain(value) for declared, value in self.bound() if not tensors_of(value)}
        return {name: value for name, value in found.items() if value is not None}


class Recorder(TorchDispatchMode):
    """Sees every operator below autograd and writes it down while `phase` names one.

    Tensors carry their id as an attribute and none is held, so that autograd treats gradients as it does without a
    recorder. Storages are held; those of fake tensors have no memory.
    """

    def __init__(self, fake_mode: FakeTensorMode | None) -> None:
        super().__init__()
        self.fake_mode = fake_mode
        self.phase: str | None = None
        #: Whether small values that the optimizer keeps on the host are computed for real.
        self.host_values = False
        self.nodes: list[dict[str, Any]] = []
        self.inputs: list[dict[str, Any]] = []
        self._counts: dict[str, int] = {}
        self._taken: set[str] = set()
        #: By storage: the tensor that owns it, and the storage itself, whose address must not be used again.
        self._roots: dict[int, tuple[str, Any]] = {}
        self._key = f"_highwater_{id(self):x}"

    # Names and ids

    def unique(self, base: str) -> str:
        """`base`, `base_1`, `base_2`, ..."""
        count = self._counts.get(base, 1 if base in PYTHON_NAMES else 0)
        while True:
            name = base if count == 0 else f"{base}_{count}"
            count += 1
            if name not in self._taken:
                self._counts[base] = count
                self._taken.add(name)
                return name

    def id_of(self, tensor: torch.Tensor) -> str:
        """A tensor's id; one that was never seen is a constant."""
        known = getattr(tensor, self._key, None)
        if known is not None:
            return known
        return self.add_input(tensor, "constant", "const", None)

    def name_tensor(self, tensor: torch.Tensor, name: str) -> None:
        setattr(tensor, self._key, name)

    def add_input(self, tensor: torch.Tensor, prefix: str, role: str, name: str | None) -> str:
        """Lists a tensor that no operator computes."""
        known = getattr(tensor, self._key, None)
        if known is not None:
            return known
        index = self._counts.get(prefix, 0) + 1
        self._counts[prefix] = index
        identity = f"{prefix}_{index}"
        self._taken.add(identity)
        self.name_tensor(tensor, identity)
        self.inputs.append({**self.describe(tensor, identity), "role": role, "name": name or identity})
        return identity

    def describe(self, tensor: torch.Tensor, identity: str) -> dict[str, Any]:
        """Shape, type and bytes; the alias where another tensor owns the memory."""
        entry: dict[str, Any] = {
            "id": identity,
            "shape": [int(size) for size in tensor.shape],
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "bytes": product(tensor.shape) * tensor.element_size(),
        }
        storage = storage_of(tensor)
        if storage is None:
            return entry
        root = self._roots.get(storage._cdata)
        if root is None:
            self._roots[storage._cdata] = (identity, storage)
            entry["storage_bytes"] = int(storage.nbytes())
        else:
            entry["alias_of"] = root[0]
        return entry

    # Operators

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func.namespace in ("prim", "profiler"):
            return func(*args, **kwargs)
        if self.host_values and self._is_host(func, args, kwargs):
            return self._compute_on_host(func, args, kwargs)
        is_literal = func is torch.ops.aten.lift_fresh.default  # a tensor made of Python numbers
        if not is_literal:
            args, kwargs = tree_map(self._without_real, (args, kwargs))
        if self.phase is None:
            return func(*args, **kwargs)
        decomposed = self._decomposed(func, args, kwargs)
        if decomposed is not NotImplemented:
            return decomposed
        call = Arguments(func, tuple(args), kwargs)
        operands = [self.id_of(tensor) for tensor in tensors_of((args, kwargs))]
        mutated = [(tensor, self.id_of(tensor)) for tensor in call.mutated()]
        out = func(*args, **kwargs)
        self._record(call, operands, mutated, out)
        return out

    def _decomposed(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Operators that are written as other operators are seen as those."""
        if func in (torch.ops.aten.size.default, torch.ops.aten.stride.default, torch.ops.aten.storage_offset.default):
            return NotImplemented
        with self:
            return func.decompose(*args, **kwargs)

    def _without_real(self, value: Any) -> Any:
        """A real tensor among fake ones becomes fake, always the same one."""
        if self.fake_mode is None or not isinstance(value, torch.Tensor) or isinstance(value, FakeTensor):
            return value
        return as_fake(self.fake_mode, value)

    def _record(self, call: Arguments, operands: list[str], mutated: list[tuple[torch.Tensor, str]], out: Any) -> None:
        results = tree_flatten(out)[0]
        made = [result for result in results if isinstance(result, torch.Tensor)]
        if not made and not mutated and not operands:
            return
        packet = call.func.overloadpacket.__name__
        name = self.unique(packet)
        outputs = []
        for index, result in enumerate(results):
            if isinstance(result, torch.Tensor):
                identity = name if len(results) == 1 else f"{name}:{index}"
                outputs.append(self.describe(result, identity))
                self.name_tensor(result, identity)
        self._rename_written(mutated, made, outputs)
        count, source = flops(call.func, call.args, call.kwargs, out)
        if count is None:
            is_view = bool(outputs) and not mutated and all("alias_of" in output for output in outputs)
            written = made or [tensor for tensor, _ in mutated]
            count = 0 if is_view else sum(product(tensor.shape) for tensor in written)
        node = {
            "name": name,
            "op": str(call.func),
            "inputs": operands,
            "outputs": outputs,
            "attrs": call.attributes(),
            "flops": count,
            "flops_src": source,
            "phase": self.phase,
        }
        if mutated:
            node["mutates"] = [identity for _, identity in mutated]
        self.nodes.append(node)

    def _rename_written(
        self, mutated: list[tuple[torch.Tensor, str]], made: list[torch.Tensor], outputs: list[dict[str, Any]]
    ) -> None:
        """What reads a tensor after an in-place operator reads that operator's result."""
        if len(mutated) != len(made):
            return  # buffers that are updated beside a result keep their names
        for (tensor, _), output in zip(mutated, outputs):
            if tuple(tensor.shape) == tuple(output["shape"]) and "alias_of" in output:
                self.name_tensor(tensor, output["id"])

    # Values of the host

    def _is_host(self, func: Any, args: Any, kwargs: Any) -> bool:
        """Whether an operator touches scalars of the host alone."""
        tensors = tensors_of((args, kwargs))
        if tensors:
            return all(is_host_scalar(tensor) for tensor in tensors)
        device = kwargs.get("device")
        is_scalar = bool(args) and isinstance(args[0], (list, tuple)) and len(args[0]) == 0
        return is_scalar and (device is None or torch.device(device).type == "cpu")

    def _compute_on_host(self, func: Any, args: Any, kwargs: Any) -> Any:
        if func is torch.ops.aten.lift_fresh.default:
            return args[0]
        with fakes.no_dispatch():
            return func(*args, **kwargs)


#: Names of Python that operators share; the first such operator is called `sum_1`, as in torch.fx.
PYTHON_NAMES = frozenset(("abs", "all", "any", "divmod", "hash", "max", "min", "pow", "range", "round", "slice", "sum"))


# ---------------------------------------------------------------------------------------------------------------------
# Fake tensors in place of real ones


def as_fake(mode: FakeTensorMode, tensor: torch.Tensor) -> torch.Tensor:
    """The fake tensor of a tensor, always the same one."""
    if isinstance(tensor, FakeTensor):
        return tensor
    return mode.from_tensor(tensor)


def converter(mode: FakeTensorMode) -> Callable[[torch.Tensor], torch.Tensor]:
    """`as_fake`, with tensors of the meta device taken to the CPU."""
    made: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def convert(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type != "meta":
            return as_fake(mode, tensor)
        if id(tensor) not in made:
            with mode, torch.no_grad():
                fresh = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu")
                if isinstance(tensor, torch.nn.Parameter):
                    fresh = torch.nn.Parameter(fresh, requires_grad=tensor.requires_grad)
            made[id(tensor)] = (tensor, fresh)
        return made[id(tensor)][1]

    return convert


class Swap:
    """Puts fake tensors into a step's modules and optimizer, and the former ones back."""

    def __init__(self, convert: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.convert = convert
        self.undo: list[Callable[[], None]] = []

    def modules(self, roots: list[tuple[str, torch.nn.Module]]) -> None:
        for _, root in roots:
            for module in root.modules():
                for table in (module._parameters, module._buffers):
                    for name, tensor in list(table.items()):
                        if tensor is not None:
                            self._put(module, name, tensor, self.convert(tensor))

    def _put(self, module: torch.nn.Module, name: str, old: torch.Tensor, new: torch.Tensor) -> None:
        if new is not old:
            setattr(module, name, new)  # not the table: recurrent modules keep a second list of their weights
            self.undo.append(lambda: setattr(module, name, old))

    def optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        groups = optimizer.param_groups
        old_groups = [dict(group) for group in groups]
        old_state = optimizer.state
        new_state = type(old_state)(getattr(old_state, "default_factory", dict))
        for parameter, state in old_state.items():
            new_state[self.convert(parameter)] = tree_map(self._state, dict(state))
        for group in groups:
            group["params"] = [self.convert(parameter) for parameter in group["params"]]
            single_tensor(group)
        optimizer.state = new_state

        def restore() -> None:
            optimizer.state = old_state
            for group, old in zip(groups, old_groups):
                group.clear()
                group.update(old)

        self.undo.append(restore)

    def _state(self, value: Any) -> Any:
        """Scalars of the host stay real, because optimizers read them."""
        if not isinstance(value, torch.Tensor):
            return value
        return value.clone() if is_host_scalar(value) else self.convert(value)

    def back(self) -> None:
        while self.undo:
            self.undo.pop()()


def single_tensor(group: dict[str, Any]) -> None:
    """The path of an optimizer that updates one parameter after the other."""
    for key in ("foreach", "fused", "capturable", "differentiable"):
        if key in group:
            group[key] = False


# ---------------------------------------------------------------------------------------------------------------------
# The trace


def pick_loss(output: Any) -> torch.Tensor:
    """The loss within what a model returned; see the manual above."""
    found = getattr(output, "loss", None)
    if found is None and hasattr(output, "keys") and "loss" in output.keys():
        found = output["loss"]
    if isinstance(found, torch.Tensor):
        output = found
    candidates = [tensor for tensor in tensors_of(to_plain(output)) if tensor.requires_grad]
    if not candidates:
        raise ExportError(
            "nothing that the model returned depends on a parameter that wants a gradient; give a loss, check "
            "requires_grad, or use --no-backward"
        )
    if len(candidates) > 1 or candidates[0].dim() > 0:
        warn(f"the model returned no loss; the sum of its {len(candidates)} differentiable outputs is taken for it")
        return functools.reduce(torch.add, [tensor.sum() for tensor in candidates])
    return candidates[0]


def to_plain(output: Any) -> Any:
    """Dataclasses and mappings as lists, for walking over their tensors."""
    if isinstance(output, torch.Tensor) or output is None:
        return output
    if hasattr(output, "keys") and hasattr(output, "__getitem__"):
        return [to_plain(output[key]) for key in output.keys()]
    if hasattr(output, "__dataclass_fields__"):
        return [to_plain(getattr(output, name)) for name in output.__dataclass_fields__]
    if isinstance(output, (list, tuple)):
        return [to_plain(item) for item in output]
    return output


@dataclass(frozen=True)
class Wanted:
    """Which parts of a step are traced, and how."""

    backward: bool = True
    optimizer: bool = True
    keep_gradients: bool = False
    autocast: torch.dtype | None = None
    name: str | None = None


class Trace:
    """One run of a step under a recorder."""

    def __init__(self, step: Step, wanted: Wanted, recorder: Recorder) -> None:
        self.step = step
        self.wanted = wanted
        self.recorder = recorder
        self.outputs: list[str] = []

    def run(self, accumulate: bool) -> None:
        """Traces all phases. `accumulate` calls `loss.backward()`, which some modules insist on."""
        self._list_inputs()
        if not self.wanted.backward:
            with torch.no_grad():
                output = self._forward()
            self._add_outputs(tensors_of(to_plain(output)))
            return
        loss = self._forward()
        self._add_outputs([loss])
        trained = self.step.trainable()
        self._backward(loss, trained, accumulate)
        gradients = [parameter.grad for parameter in trained if parameter.grad is not None]
        if self.wanted.keep_gradients or self.step.optimizer is None:
            self._add_outputs(gradients)
        if self.step.optimizer is not None:
            self._optimizer_step()

    def _list_inputs(self) -> None:
        names = {}
        for name, tensor in self.step.named("parameters"):
            names[id(tensor)] = name
            self.recorder.add_input(tensor, "p", "param", name)
        for index, tensor in enumerate(self.step.trainable()):
            self.recorder.add_input(tensor, "p", "param", names.setdefault(id(tensor), f"parameter_{index}"))
        for name, tensor in self.step.named("buffers"):
            self.recorder.add_input(tensor, "b", "buffer", name)
        if self.step.optimizer is not None:
            for parameter, state in self.step.optimizer.state.items():
                for name, value in leaves(names.get(id(parameter), "optimizer"), state):
                    if not is_host_scalar(value):
                        self.recorder.add_input(value, "s", "opt_state", name)
        for name, value in self._batch():
            self.recorder.add_input(value, "d", "batch", name)

    def _batch(self) -> Iterator[tuple[str, torch.Tensor]]:
        try:
            declared = [p.name for p in inspect.signature(self.step.model.forward).parameters.values()
                        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        except (TypeError, ValueError):
            declared = []
        for index, value in enumerate(self.step.inputs):
            yield from leaves(declared[index] if index < len(declared) else f"input_{index}", value)
        for name, value in self.step.kwargs.items():
            yield from leaves(name, value)
        for index, value in enumerate(self.step.targets):
            yield from leaves("target" if len(self.step.targets) == 1 else f"target_{index}", value)

    def _autocast(self) -> Any:
        if self.wanted.autocast is None:
            return contextlib.nullcontext()
        first = next(iter(self.step.trainable()), None)
        return torch.autocast("cpu" if first is None else first.device.type, dtype=self.wanted.autocast)

    def _forward(self) -> Any:
        step = self.step
        with self._phase("forward"), self._autocast():
            output = step.model(*step.inputs, **step.kwargs)
            if step.loss is not None and (self.wanted.backward or step.targets):
                output = step.loss(output, *step.targets)
            return pick_loss(output) if self.wanted.backward else output

    def _backward(self, loss: torch.Tensor, trained: list[torch.Tensor], accumulate: bool) -> None:
        with self._phase("backward"):
            if accumulate:
                loss.backward()
                return
            gradients = torch.autograd.grad(loss, trained, allow_unused=True)
        for parameter, gradient in zip(trained, gradients):
            parameter.grad = gradient

    def _optimizer_step(self) -> None:
        with self._phase("optimizer"):
            self.recorder.host_values = True
            self.step.optimizer.step()
            self.recorder.host_values = False

    @contextlib.contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        self.recorder.phase = name
        try:
            yield
        except Exception as error:
            if isinstance(error, ExportError) or insists_on_backward(error):
                raise
            raise explained(error, f"the {name} phase") from error
        finally:
            self.recorder.phase = None

    def _add_outputs(self, tensors: list[torch.Tensor]) -> None:
        for tensor in tensors:
            identity = self.recorder.id_of(tensor)
            if identity not in self.outputs:
                self.outputs.append(identity)


def leaves(name: str, value: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors within a value, with names that tell the way to them."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif hasattr(value, "keys") and hasattr(value, "__getitem__"):
        for key in value.keys():
            yield from leaves(f"{name}.{key}", value[key])
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from leaves(f"{name}.{index}", item)


def prepare_optimizer(step: Step) -> None:
    """Makes the optimizer where a function does so."""
    if step.optimizer is None:
        return
    if callable(step.optimizer) and not isinstance(step.optimizer, torch.optim.Optimizer):
        step.optimizer = step.optimizer(step.trainable())
    if not hasattr(step.optimizer, "param_groups"):
        raise ExportError(
            f"the optimizer is a {type(step.optimizer).__name__}; give a torch.optim.Optimizer, or a function that "
            "makes one of a list of parameters"
        )
    for group in step.optimizer.param_groups:
        single_tensor(group)


def warm_up(step: Step, recorder: Recorder) -> None:
    """One step that is not recorded, so that the optimizer's state exists."""
    if step.optimizer is None:
        return
    recorder.host_values = True
    trained = step.trainable()
    for parameter in trained:
        parameter.grad = torch.zeros_like(parameter)
    try:
        step.optimizer.step()
    except Exception as error:
        raise explained(error, "the optimizer's step()") from error
    for parameter in trained:
        parameter.grad = None
    recorder.host_values = False


@contextlib.contextmanager
def native_kernels() -> Iterator[None]:
    """Without oneDNN the CPU runs the operators that other devices run too."""
    switch = getattr(torch._C, "_set_mkldnn_enabled", None)
    before = torch._C._get_mkldnn_enabled() if switch is not None else None
    if switch is None:
        yield
        return
    switch(False)  # torch.backends.mkldnn.flags touches other settings too, with warnings
    try:
        yield
    finally:
        switch(before)


def fake_mode_of(step: Step) -> FakeTensorMode:
    """The mode that the step's tensors were made in; a new one where they are real."""
    given = tensors_of([step.inputs, list(step.kwargs.values()), step.targets])
    for tensor in given + [tensor for what in ("parameters", "buffers") for _, tensor in step.named(what)]:
        if isinstance(tensor, FakeTensor):
            return tensor.fake_mode
    return FakeTensorMode(allow_non_fake_inputs=True)


def trace_fake(step: Step, wanted: Wanted, accumulate: bool = False) -> Trace:
    """Traces with fake tensors in place of real ones."""
    mode = fake_mode_of(step)
    allowed, mode.allow_non_fake_inputs = mode.allow_non_fake_inputs, True
    convert = converter(mode)
    swap = Swap(convert)
    faked = copy.copy(step)
    to_fake = functools.partial(tree_map, lambda value: convert(value) if isinstance(value, torch.Tensor) else value)
    gradients = {id(tensor): (tensor, tensor.grad) for tensor in step.trainable()}
    try:
        swap.modules(step.modules())
        if isinstance(step.optimizer, torch.optim.Optimizer):
            swap.optimizer(step.optimizer)
        faked.inputs, faked.targets = to_fake(step.inputs), to_fake(step.targets)
        faked.kwargs = {name: to_fake(value) for name, value in step.kwargs.items()}
        return run_trace(faked, wanted, Recorder(mode), accumulate)
    finally:
        swap.back()
        mode.allow_non_fake_inputs = allowed
        for tensor, gradient in gradients.values():
            tensor.grad = gradient


def trace_real(step: Step, wanted: Wanted, accumulate: bool = False) -> Trace:
    """Traces a copy of everything while it is computed for real."""
    parts = copy.deepcopy((step.model, step.loss, step.optimizer, step.inputs, step.kwargs, step.targets))
    model, loss, optimizer, inputs, kwargs, targets = parts
    return run_trace(Step(model, inputs, kwargs, loss, optimizer, targets), wanted, Recorder(None), accumulate)


def run_trace(step: Step, wanted: Wanted, recorder: Recorder, accumulate: bool) -> Trace:
    with contextlib.ExitStack() as stack:
        stack.enter_context(native_kernels())
        if recorder.fake_mode is not None:
            stack.enter_context(recorder.fake_mode)
        stack.enter_context(recorder)
        if not (wanted.backward and wanted.optimizer):
            step.optimizer = None
        prepare_optimizer(step)
        warm_up(step, recorder)
        trace = Trace(step, wanted, recorder)
        trace.run(accumulate)
    return trace


# ---------------------------------------------------------------------------------------------------------------------
# The document


def document(trace: Trace) -> dict[str, Any]:
    step, recorder = trace.step, trace.recorder
    name = trace.wanted.name or type(step.model).__name__
    optimizer = type(step.optimizer).__name__ if step.optimizer is not None else None
    how = "fake tensors" if recorder.fake_mode is not None else "real tensors"
    return {
        "highwater_graph": FORMAT_VERSION,
        "name": name,
        "meta": {
            "model": name,
            "optimizer": optimizer,
            "training": bool(step.model.training),
            "torch": str(torch.__version__),
            "how": f"{EXPORTER}: ATen operators below autograd, {how}, not functionalised",
        },
        "nodes": recorder.nodes,
        "inputs": recorder.inputs,
        "outputs": trace.outputs,
    }


def to_text(graph: dict[str, Any]) -> str:
    """The graph as JSON, one node or input a line."""
    text = io.StringIO()
    text.write("{")
    for index, (key, value) in enumerate(graph.items()):
        text.write(",\n" if index else "\n")
        text.write(f"{json.dumps(key)}: ")
        if key in ("nodes", "inputs"):
            rows = ",\n".join(json.dumps(row, separators=(",", ":"), allow_nan=False) for row in value)
            text.write(f"[\n{rows}\n]")
        else:
            text.write(json.dumps(value, allow_nan=False))
    text.write("\n}\n")
    return text.getvalue()


def write(graph: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Writes the graph whole or not at all; packed where the path ends in .gz, the same bytes each time."""
    target = Path(path)
    data = to_text(graph).encode()
    if target.name.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def summary(graph: dict[str, Any]) -> str:
    phases: dict[str, int] = {}
    for node in graph["nodes"]:
        phases[node["phase"]] = phases.get(node["phase"], 0) + 1
    roles: dict[str, int] = {}
    for entry in graph["inputs"]:
        roles[entry["role"]] = roles.get(entry["role"], 0) + entry.get("storage_bytes", 0)
    total = sum(node["flops"] for node in graph["nodes"])
    return (
        f"{len(graph['nodes'])} operators ({', '.join(f'{phase} {count}' for phase, count in phases.items())}), "
        f"{sum(len(node['outputs']) for node in graph['nodes'])} tensors, {total / 1e9:.1f} GFLOP; bytes of inputs: "
        + ", ".join(f"{role} {count}" for role, count in roles.items())
    )


# ---------------------------------------------------------------------------------------------------------------------
# Errors


def fake_errors() -> dict[type, str]:
    """What fake tensors cannot do, with advice. Not every version has every type."""
    advice = {
        "DataDependentOutputException": "code reads the value of a tensor, which a fake tensor does not have. Take the "
        "decision without it (torch.where, a plain number), or use --real",
        "DynamicOutputShapeException": "the shape of a result depends on values, which a fake tensor does not have. "
        "Use an operator of fixed size (torch.where, a mask that is multiplied), or use --real",
        "UnsupportedOperatorException": "the operator has no rule for fake tensors. Register one for it "
        "(torch.library, \"fake\" or \"abstract\" implementation), switch it off (for instance another attention "
        "implementation), or use --real",
        "UnsupportedFakeTensorException": "a tensor of this kind cannot be fake; use --real",
    }
    return {getattr(fakes, name): text for name, text in advice.items() if hasattr(fakes, name)}


def place(error: BaseException) -> str:
    """The last line outside PyTorch and this file on the way to an error."""
    inside = (str(Path(torch.__file__).parent), os.path.abspath(__file__))
    frames = traceback.extract_tb(error.__traceback__)
    outside = [frame for frame in frames if not os.path.abspath(frame.filename).startswith(inside)]
    return f" at {outside[-1].filename}:{outside[-1].lineno}: {outside[-1].line}" if outside else ""


def explained(error: BaseException, where: str) -> ExportError:
    """An error in words; `where` is a part of the step."""
    for kind, advice in fake_errors().items():
        if isinstance(error, kind):
            return ExportError(f"{where}: {getattr(error, 'func', error)}{place(error)}: {advice}")
    return ExportError(f"{where} failed{place(error)}: {type(error).__name__}: {error}")


def insists_on_backward(error: BaseException) -> bool:
    """Reentrant checkpointing refuses torch.autograd.grad."""
    return isinstance(error, RuntimeError) and ".grad()" in str(error) and "heckpoint" in str(error)


# ---------------------------------------------------------------------------------------------------------------------
# What is called


def export_step(step: Step, wanted: Wanted, real: bool = False) -> dict[str, Any]:
    trace = trace_real if real else trace_fake
    if wanted.backward and not step.model.training:
        warn("the model is in eval mode; call model.train() where dropout and batch norm are to act as in training")
    try:
        try:
            return document(trace(step, wanted))
        except RuntimeError as error:
            if not insists_on_backward(error):
                raise
        return document(trace(step, wanted, accumulate=True))
    except ExportError:
        raise
    except Exception as error:
        raise explained(error, "the step") from error


def export(
    model: torch.nn.Module,
    inputs: Any = (),
    loss: Callable[..., Any] | None = None,
    optimizer: Any = None,
    targets: Any = (),
    path: str | os.PathLike[str] | None = None,
    *,
    kwargs: dict[str, Any] | None = None,
    backward: bool = True,
    keep_gradients: bool = False,
    autocast: torch.dtype | None = None,
    name: str | None = None,
    real: bool = False,
) -> dict[str, Any]:
    """Traces a step, writes it to `path` and returns it; the module's documentation says what the parts are."""
    step = Step.checked(model, inputs, loss, optimizer, targets, kwargs)
    wanted = Wanted(backward, True, keep_gradients, autocast, name)
    graph = export_step(step, wanted, real)
    if path is not None:
        write(graph, path)
    return graph


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


def build(factory: Callable[..., Any], arguments: dict[str, Any], real: bool) -> Step:
    """Calls the factory on fake tensors; where that fails, on real ones."""
    if not real:
        try:
            with FakeTensorMode(allow_non_fake_inputs=True):
                return Step.of(factory(**arguments))
        except ExportError:
            raise
        except Exception as error:
            print(f"torch_export: note: the factory needs real tensors ({type(error).__name__}{place(error)})",
                  file=sys.stderr)
    return Step.of(factory(**arguments))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="torch_export.py",
        description="Writes one training step of a PyTorch module as a graph that highwater reads.",
        epilog="The head of this file is the manual.",
    )
    parser.add_argument("factory", help="my_module:factory or path/to/file.py:factory")
    parser.add_argument("-o", "--output", help="where to write; .gz packs (default: NAME.json.gz)")
    parser.add_argument("--arg", action="append", type=literal, default=[], metavar="NAME=VALUE",
                        help="an argument of the factory; may be repeated")
    parser.add_argument("--name", help="the graph's name (default: the model's class)")
    parser.add_argument("--no-backward", action="store_true", help="the forward pass alone, without gradients")
    parser.add_argument("--no-optimizer", action="store_true", help="leave the optimizer step out")
    parser.add_argument("--optimizer", choices=sorted(OPTIMIZERS), help="one for a factory that gives none")
    parser.add_argument("--keep-gradients", action="store_true", help="gradients live to the end of the step")
    parser.add_argument("--autocast", choices=("bfloat16", "float16"), help="mixed precision around forward and loss")
    parser.add_argument("--real", action="store_true", help="compute for real, for steps that read values")
    parser.add_argument("--traceback", action="store_true", help="show the whole traceback of an error")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace) -> None:
    step = build(find_factory(options.factory), dict(options.arg), options.real)
    if step.optimizer is None and options.optimizer:
        step.optimizer = OPTIMIZERS[options.optimizer]
    autocast = getattr(torch, options.autocast) if options.autocast else None
    wanted = Wanted(not options.no_backward, not options.no_optimizer, options.keep_gradients, autocast, options.name)
    graph = export_step(step, wanted, options.real)
    target = options.output or f"{graph['name']}.json.gz"
    write(graph, target)
    print(f"{target}: {summary(graph)}")


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    try:
        run(options)
    except (ExportError, OSError) as error:
        if options.traceback:
            traceback.print_exc()
        print(f"torch_export: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
