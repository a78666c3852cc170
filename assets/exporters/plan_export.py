#!/usr/bin/env python3
"""Writes the memory plan of ExecuTorch, IREE or TVM as a placement problem that highwater opens.

The buffers keep the live ranges, sizes and offsets of the framework, so that `highwater plan` shows its plan (`as_dumped`)
beside the plans of all strategies. Needs Python 3.9 and nothing else. This file may be copied anywhere.

    python plan_export.py model.pte -o plan.json
    highwater plan plan.json

What it reads
    ExecuTorch   a program (.pte): planned tensors with memory, offset and size; live from the first to the last instruction
                 that uses them, inputs from the start, outputs to the end. Or the JSON of `generate_memory_trace` of
                 executorch.util.activation_memory_profiler (`enable_memory_offsets=True` keeps the offsets).
    IREE         the text around the pass that lays out slices, which has live ranges, sizes and offsets:

                     iree-compile OPTIONS model.mlir --compile-to=stream -o model.stream.mlir \\
                         --mlir-print-ir-before=iree-stream-layout-slices \\
                         --mlir-print-ir-after=iree-stream-layout-slices 2> slices.txt

                 Without the part behind the pass there are no offsets. Each `stream.resource.pack` is one arena.
    TVM          the text of a Relax function after StaticPlanBlockMemory, `print(mod.script())` or `mod.show()`: tensors live
                 from their allocation to their last use; storages lie one behind the other.

The file that is written
    {"name", "planned_by", "buffers": [{"id", "lower", "upper", "size", "alignment", "offset", "mem_id"}]}, times half-open.
    `.csv` has the same columns. Arenas are told apart by `mem_id` where there are several.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any, Iterable, Iterator

#: Offsets of ExecuTorch's planner and of IREE's resources are multiples of these.
ALIGNMENTS = {"ExecuTorch": 16, "IREE": 64, "TVM": 64}


class ExportError(Exception):
    """What cannot be exported, and what to do about it."""


def warn(text: str) -> None:
    print(f"plan_export: warning: {text}", file=sys.stderr)


class Buffer:
    """Bytes that one or several values of the framework share."""

    def __init__(self, name: str, lower: int, upper: int, size: int, offset: int | None, mem_id: str) -> None:
        self.name, self.lower, self.upper = name, lower, upper
        self.size, self.offset, self.mem_id = size, offset, mem_id


# ---------------------------------------------------------------------------------------------------------------------
# ExecuTorch: a FlatBuffer (schema/program.fbs)

#: Bytes of a ScalarType by number; those that are not here are unknown.
SCALAR_BYTES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 8, 5: 2, 6: 4, 7: 8, 8: 4, 9: 8, 10: 16, 11: 1, 12: 1, 13: 1, 14: 4, 15: 2,
                16: 1, 17: 1, 22: 2, 23: 1, 24: 1, 25: 1, 26: 1, 27: 2, 28: 4, 29: 8}
TENSOR, TENSOR_LIST, OPTIONAL_TENSOR_LIST = 5, 10, 11
KERNEL_CALL, DELEGATE_CALL, MOVE_CALL, JUMP_FALSE_CALL, FREE_CALL = 1, 2, 3, 4, 5


class Table:
    """A table of a FlatBuffer: fields by number."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        self.fields = at - read(data, "<i", at)

    def place(self, field: int) -> int | None:
        """Where a field is; None where it has its default."""
        size = read(self.data, "<H", self.fields)
        entry = 4 + 2 * field
        offset = read(self.data, "<H", self.fields + entry) if entry < size else 0
        return self.at + offset if offset else None

    def number(self, field: int, form: str = "<i", default: int = 0) -> int:
        at = self.place(field)
        return default if at is None else read(self.data, form, at)

    def target(self, field: int) -> int | None:
        at = self.place(field)
        return None if at is None else at + read(self.data, "<I", at)

    def table(self, field: int) -> "Table | None":
        at = self.target(field)
        return None if at is None else Table(self.data, at)

    def text(self, field: int) -> str:
        at = self.target(field)
        if at is None:
            return ""
        size = read(self.data, "<I", at)
        return self.data[at + 4 : at + 4 + size].decode("utf-8", "replace")

    def items(self, field: int, form: str, width: int) -> list[int]:
        at = self.target(field)
        if at is None:
            return []
        count = read(self.data, "<I", at)
        if at + 4 + count * width > len(self.data):
            raise ExportError("the program is cut off: a list ends behind the file")
        return [read(self.data, form, at + 4 + position * width) for position in range(count)]

    def tables(self, field: int) -> list["Table"]:
        at = self.target(field)
        if at is None:
            return []
        offsets = self.items(field, "<I", 4)
        return [Table(self.data, at + 4 + 4 * position + offset) for position, offset in enumerate(offsets)]


def read(data: bytes, form: str, at: int) -> int:
    try:
        return struct.unpack_from(form, data, at)[0]
    except struct.error as error:
        raise ExportError(f"the program is cut off or damaged at byte {at}") from error


def is_executorch(data: bytes) -> bool:
    return data[4:6] == b"ET" and data[6:8].isdigit()


def executorch(data: bytes, method: str | None) -> Iterator[tuple[str, list[Buffer]]]:
    program = Table(data, read(data, "<I", 0))
    plans = program.tables(1)
    names = [plan.text(0) for plan in plans]
    if method is not None and method not in names:
        raise ExportError(f"the program has no method \"{method}\"; it has {', '.join(names)}")
    for plan, name in zip(plans, names):
        if method in (None, name):
            yield name, executorch_buffers(plan)


def executorch_buffers(plan: Table) -> list[Buffer]:
    values = [(value.number(0, "<B"), value.table(1)) for value in plan.tables(2)]
    calls = [instruction_uses(instruction) for chain in plan.tables(5) for instruction in chain.tables(2)]
    lives: dict[int, tuple[int, int]] = {}

    def use(value: int, time: int) -> None:
        if not 0 <= value < len(values):
            return
        kind, content = values[value]
        if kind in (TENSOR_LIST, OPTIONAL_TENSOR_LIST) and content is not None:
            for item in content.items(0, "<i", 4):
                use_tensor(item, time)
        use_tensor(value, time)

    def use_tensor(value: int, time: int) -> None:
        first, last = lives.get(value, (time, time))
        lives[value] = (min(first, time), max(last, time))

    for time, used in enumerate(calls):
        for value in used:
            use(value, time)
    for value in plan.items(3, "<i", 4):
        use(value, 0)
    for value in plan.items(4, "<i", 4):
        use(value, max(len(calls) - 1, 0))
    buffers = []
    for position, (kind, tensor) in enumerate(values):
        details = tensor.table(6) if kind == TENSOR and tensor is not None else None
        if tensor is None or details is None:
            continue  # a constant, or memory of the caller
        element = SCALAR_BYTES.get(tensor.number(0, "<b"))
        if element is None:
            raise ExportError(f"value {position} has an element type that is not known here")
        size = element * math.prod(tensor.items(2, "<i", 4))
        offset = details.number(1, "<I") | details.number(2, "<I") << 32
        first, last = lives.get(position, (0, max(len(calls) - 1, 0)))
        buffers.append(Buffer(f"v{position}", first, last + 1, size, offset, str(details.number(0, "<I"))))
    return shared(buffers)


def instruction_uses(instruction: Table) -> list[int]:
    kind, call = instruction.number(0, "<B"), instruction.table(1)
    if call is None:
        return []
    if kind in (KERNEL_CALL, DELEGATE_CALL):
        return call.items(1, "<i", 4)
    if kind == MOVE_CALL:
        return [call.number(0), call.number(1)]
    return [call.number(0)] if kind in (JUMP_FALSE_CALL, FREE_CALL) else []


def shared(buffers: list[Buffer]) -> list[Buffer]:
    """Values at one address that live at the same time are one buffer: views, and results in place of an operand."""
    kept: list[Buffer] = []
    at: dict[tuple[str, int | None], list[Buffer]] = {}
    for buffer in sorted(buffers, key=lambda buffer: (buffer.lower, buffer.upper)):
        others = at.setdefault((buffer.mem_id, buffer.offset), [])
        other = next((other for other in others if buffer.lower < other.upper and other.lower < buffer.upper), None)
        if other is None:
            others.append(buffer)
            kept.append(buffer)
            continue
        other.lower, other.upper = min(other.lower, buffer.lower), max(other.upper, buffer.upper)
        other.size = max(other.size, buffer.size)
        other.name = f"{other.name}+{buffer.name}"
    return kept


def memory_trace(text: str) -> list[Buffer]:
    """The JSON of generate_memory_trace: a thread is a step, `dur` are bytes, `pid` is the memory."""
    events = [event for event in json.loads(text)["traceEvents"] if event.get("cat") == "memory_allocation"]
    buffers: dict[tuple[str, int], Buffer] = {}
    is_stacked, starts, end = True, set(), (None, 0)
    for event in events:
        name, memory, step, start, size = (event[key] for key in ("name", "pid", "tid", "ts", "dur"))
        # Without offsets, `ts` counts the bytes of the events before it in the same step.
        is_stacked &= start == (end[1] if end[0] == step else 0)
        end = (step, (end[1] if end[0] == step else 0) + size)
        buffer = buffers.setdefault((name, memory), Buffer(name, step, step + 1, size, start, str(memory)))
        buffer.lower, buffer.upper = min(buffer.lower, step), max(buffer.upper, step + 1)
        if buffer.offset != start:
            starts.add((name, memory))
    if is_stacked or starts:
        warn("the trace has no offsets; write it with generate_memory_trace(..., enable_memory_offsets=True)")
        for buffer in buffers.values():
            buffer.offset = None
    return shared(list(buffers.values())) if not (is_stacked or starts) else list(buffers.values())


# ---------------------------------------------------------------------------------------------------------------------
# IREE: text of the dialect `stream`

PACK = re.compile(r"%(\w+)(?::\d+)?\s*=\s*stream\.resource\.pack\b")
SLICE = re.compile(r"\[\s*(\d+)\s*,\s*(\d+)\s*\]\s*=\s*%(\w+)")
CONSTANT = re.compile(r"%(\w+)\s*=\s*arith\.constant\s+(\d+)\s*:")
ADD = re.compile(r"%(\w+)\s*=\s*arith\.addi\s+%([\w#]+),\s*%([\w#]+)")
RESOURCE_USE = re.compile(r"\b(?:ro|wo|rw)\s+%\w+\[%([\w#]+)\s+for\b")
FUNCTION = re.compile(r"\bfunc(?:\.func)?\s+(?:public\s+|private\s+)?@([\w$.-]+)")
DUMP = re.compile(r"IR Dump (Before|After)\b")


class Section:
    """A function before or behind the pass."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.constants: dict[str, int] = {}
        self.sums: dict[str, tuple[str, str]] = {}
        self.uses: list[str] = []
        self.packs: list[tuple[str, list[tuple[int, int, str]]]] = []

    def line(self, line: str) -> None:
        for name, value in CONSTANT.findall(line):
            self.constants[name] = int(value)
        for name, first, second in ADD.findall(line):
            self.sums[name] = (first, second)
        self.uses.extend(RESOURCE_USE.findall(line))
        pack = PACK.search(line)
        if pack:
            self.packs.append((pack.group(1), []))
        elif self.packs:
            slices = self.packs[-1][1]
            slices.extend((int(first), int(last), size) for first, last, size in SLICE.findall(line))

    def value(self, name: str, depth: int = 0) -> int | None:
        """The number of a name; of a constant that is not in the text the one that its name states."""
        if name in self.constants:
            return self.constants[name]
        if name in self.sums and depth < 100:
            parts = [self.value(part, depth + 1) for part in self.sums[name]]
            return None if None in parts else sum(part for part in parts if part is not None)
        stated = re.fullmatch(r"c(\d+)(?:_\d+)?", name)
        return int(stated.group(1)) if stated else None


def sections(text: str) -> Iterator[tuple[str, Section]]:
    """Functions with `Before` or `After`; all of a text without marks are before."""
    side, section = "Before", Section("")
    for line in text.splitlines():
        mark = DUMP.search(line)
        function = FUNCTION.search(line)
        if mark or function:
            yield side, section
            side = mark.group(1) if mark else side
            section = Section(function.group(1) if function else "")
        section.line(line)
    yield side, section


def iree(text: str) -> Iterator[tuple[str, list[Buffer]]]:
    found = [(side, section) for side, section in sections(text) if section.packs or section.uses]
    behind: dict[str, list[Section]] = {}
    for side, section in found:
        if side == "After":
            behind.setdefault(section.name, []).append(section)
    has_offsets = True
    for side, section in found:
        if side != "Before" or not section.packs:
            continue
        # The last one behind the pass: earlier ones of the same name are of functions without slices.
        after = [other for other in behind.get(section.name, []) if len(other.uses) == len(section.uses)]
        offsets = {}
        for name, place in zip(section.uses, after[-1].uses if after else []):
            offset = after[-1].value(place)
            if "#" in name and offset is not None:
                offsets[name] = offset
        for name, slices in section.packs:
            buffers = []
            for position, (first, last, size) in enumerate(slices):
                bytes_ = section.value(size)
                if bytes_ is None:
                    raise ExportError(f"slice {position} of %{name} has the size %{size}, which is no constant of the text; "
                                      "compile the model with static shapes")
                # Result 0 is the size of the arena; ranges include both ends.
                offset = offsets.get(f"{name}#{position + 1}")
                buffers.append(Buffer(f"s{position}", first, last + 1, bytes_, offset, section.name or name))
            if any(buffer.offset is None for buffer in buffers):
                has_offsets = False
                for buffer in buffers:
                    buffer.offset = None
            yield section.name, buffers
    if not has_offsets:
        warn("not every slice has an offset in the text; add --mlir-print-ir-after=iree-stream-layout-slices")


# ---------------------------------------------------------------------------------------------------------------------
# TVM: a Relax function as TVMScript

ASSIGN = re.compile(r"^\s*([A-Za-z_]\w*)\s*(?::\s*[^=]*?[\])\w])?\s*=\s*(.*)$")
STORAGE = re.compile(r"R\.memory\.alloc_storage\(\s*R\.shape\(\[([^\]]*)\]\)")
ALLOCATION = re.compile(r"R\.memory\.alloc_tensor\(\s*(\w+)\s*,\s*(?:R\.prim_value\()?(\d+)\)?\s*,"
                        r"\s*R\.shape\(\[([^\]]*)\]\)\s*,\s*R\.dtype\(\"([a-z]+)(\d*)[^\"]*\"\)")
OWN_ALLOCATION = "R.builtin.alloc_tensor("
NAME = re.compile(r"[A-Za-z_]\w*")
RELAX_FUNCTION = re.compile(r"^\s*def\s+(\w+)\(")


def numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdigit() for part in parts):
        raise ExportError(f"the shape [{text}] has dimensions without a value; bind them, "
                          "for example with relax.transform.BindSymbolicVars")
    return [int(part) for part in parts]


def relax(text: str) -> Iterator[tuple[str, list[Buffer]]]:
    name, lines = "main", []
    for line in text.splitlines():
        function = RELAX_FUNCTION.match(line)
        if function:
            yield from relax_function(name, lines)
            name, lines = function.group(1), []
        else:
            lines.append(line)
    yield from relax_function(name, lines)


def relax_function(name: str, lines: list[str]) -> Iterator[tuple[str, list[Buffer]]]:
    storages: dict[str, int] = {}
    top, n_own = 0, 0
    #: The buffers that a name keeps alive: a tensor's, those of a tuple, that of another name.
    owners: dict[str, list[Buffer]] = {}
    buffers: list[Buffer] = []
    for time, line in enumerate(lines):
        assigned = ASSIGN.match(line)
        target, value = assigned.groups() if assigned else ("", line)
        storage, allocation = STORAGE.search(value), ALLOCATION.search(value)
        n_own += OWN_ALLOCATION in value
        if storage:
            size = math.prod(numbers(storage.group(1)))
            storages[target] = top
            top += -(-size // ALIGNMENTS["TVM"]) * ALIGNMENTS["TVM"]
        elif allocation:
            of, offset, shape, _, bits = allocation.groups()
            if of not in storages:
                raise ExportError(f"the tensor {target} lies in {of}, which the text does not allocate")
            size = -(-math.prod(numbers(shape)) * int(bits or 8) // 8)  # a bool is a byte
            buffer = Buffer(target, time, time + 1, size, storages[of] + int(offset), name)
            owners[target] = [buffer]
            buffers.append(buffer)
        elif "R.memory.alloc_tensor(" in value:
            raise ExportError(f"the allocation of {target} cannot be read: {value.strip()[:100]}")
        else:
            used = [buffer for word in NAME.findall(value) for buffer in owners.get(word, [])]
            for buffer in used:
                buffer.upper = time + 1
            # Kernels write into their last operands, so what a name is given is a view, a tuple or another name.
            if used and target not in ("", "_"):
                owners[target] = used
    if n_own:
        warn(f"{name}: {n_own} tensors have memory besides the plan (R.builtin.alloc_tensor), the results among them")
    if buffers:
        yield name, buffers


# ---------------------------------------------------------------------------------------------------------------------
# Which form it is, and what is written

FORMS = ("a program of ExecuTorch (.pte), the JSON of its generate_memory_trace, IREE's text with stream.resource.pack, or TVM's "
         "text with R.memory.alloc_storage")


def arenas(path: Path, method: str | None) -> tuple[str, list[tuple[str, list[Buffer]]]]:
    """The framework, and the buffers of each function."""
    data = path.read_bytes()
    if is_executorch(data):
        return "ExecuTorch", list(executorch(data, method))
    text = data.decode("utf-8", "replace")
    if "\"traceEvents\"" in text and "\"memory_allocation\"" in text:
        return "ExecuTorch", [("", memory_trace(text))]
    if "stream.resource.pack" in text:
        return "IREE", list(iree(text))
    if "R.memory.alloc_storage" in text:
        return "TVM", list(relax(text))
    raise ExportError(f"{path} is none of what is read: {FORMS}. The head of this script tells how to write them")


def problem(path: Path, method: str | None, alignment: int | None) -> dict[str, Any]:
    """The placement problem of a file."""
    framework, functions = arenas(path, method)
    functions = [(name, buffers) for name, buffers in functions if buffers]
    if not functions:
        raise ExportError(f"{path} has no planned buffer")
    memories = {(position, buffer.mem_id) for position, (_, buffers) in enumerate(functions) for buffer in buffers}
    rows = []
    for position, (name, buffers) in enumerate(functions):
        for buffer in buffers:
            row: dict[str, Any] = {"id": buffer.name, "lower": buffer.lower, "upper": buffer.upper, "size": buffer.size,
                                   "alignment": alignment or ALIGNMENTS[framework]}
            if buffer.offset is not None:
                row["offset"] = buffer.offset
            if len(memories) > 1:
                parts = [name] if len(functions) > 1 else []
                n_memories = sum(of == position for of, _ in memories)
                parts += [buffer.mem_id] if n_memories > 1 or not parts else []
                row["mem_id"] = " ".join(dict.fromkeys(parts))
            if row["size"] > 0:
                rows.append(row)
    return {"name": path.stem, "planned_by": framework, "buffers": rows}


def to_text(found: dict[str, Any], name: str) -> str:
    if not name.endswith(".csv"):
        rows = ",\n  ".join(json.dumps(row) for row in found["buffers"])
        head = json.dumps({key: value for key, value in found.items() if key != "buffers"})
        return f"{head[:-1]}, \"buffers\": [\n  {rows}\n]}}\n"
    columns = ["id", "lower", "upper", "size", "alignment", "offset", "mem_id"]
    columns = [column for column in columns if any(column in row for row in found["buffers"])]
    lines = [",".join(columns)]
    lines += [",".join(str(row.get(column, "")) for column in columns) for row in found["buffers"]]
    return "\n".join(lines) + "\n"


def write(text: str, path: str | os.PathLike[str]) -> None:
    """Writes the file whole or not at all."""
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def export(source: str | os.PathLike[str], path: str | os.PathLike[str] | None = None, method: str | None = None,
           alignment: int | None = None) -> dict[str, Any]:
    """Reads a plan, writes it to `path` and returns the placement problem."""
    found = problem(Path(source), method, alignment)
    if path is not None:
        write(to_text(found, Path(path).name), path)
    return found


def summary(rows: Iterable[dict[str, Any]]) -> str:
    rows = list(rows)
    tops: dict[str, int] = {}
    for row in rows:
        if "offset" in row:
            memory = row.get("mem_id", "")
            tops[memory] = max(tops.get(memory, 0), row["offset"] + row["size"])
    plan = ", ".join(f"{top} bytes{f' in {memory}' if memory else ''}" for memory, top in tops.items())
    return f"{len(rows)} buffers" + (f", planned: {plan}" if plan else ", no offsets")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="plan_export.py",
        description="Writes the memory plan of ExecuTorch (.pte), IREE (stream.resource.pack) or TVM (Relax storages) as a "
                    "placement problem that highwater opens.",
        epilog="The head of this file is the manual.",
    )
    parser.add_argument("plan", help=FORMS)
    parser.add_argument("-o", "--output", default="plan.json", help=".json or .csv (default: plan.json)")
    parser.add_argument("--method", help="of an ExecuTorch program only this method")
    parser.add_argument("--alignment", type=int, help="divisor of offsets (default: 16 for ExecuTorch, 64 for IREE and TVM)")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    try:
        found = export(options.plan, options.output, options.method, options.alignment)
    except (ExportError, OSError, ValueError, KeyError, TypeError) as error:
        kind = "" if isinstance(error, (ExportError, OSError)) else f"{type(error).__name__}: "
        print(f"plan_export: error: {kind}{error}", file=sys.stderr)
        return 2
    print(f"{options.output}: {found['planned_by']}, {summary(found['buffers'])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
