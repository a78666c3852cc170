#!/usr/bin/env python3
"""Compares onnx_schemas.txt, which the tests hold against the shape rules, with the schemas of installed packages.

    python3 onnx_schemas.py             fails if onnx or onnxruntime has a schema that the list lacks
    python3 onnx_schemas.py --write     writes the list
    python3 onnx_schemas.py PROGRAM     also opens a model of one op per schema: fails if PROGRAM knows none of its rules

Needs onnx and onnxruntime (1.23.2 and 1.32.0 wrote the list).
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import onnx
from onnx import defs, helper
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

LIST = pathlib.Path(__file__).with_suffix(".txt")
HEAD = "# Operator set (- is the default one), op, versions: onnx 1.23.2 and onnxruntime 1.32.0; see onnx_schemas.py.\n"


def schemas():
    found = {}
    for schema in [*defs.get_all_schemas_with_history(), *runtime.get_all_operator_schema()]:
        found.setdefault((schema.domain or "-", schema.name), set()).add(schema.since_version)
    return found


def listed():
    rows = {}
    for line in LIST.read_text().splitlines():
        if not line.startswith("#"):
            domain, name, *versions = line.split()
            rows[domain, name] = {int(version) for version in versions}
    return rows


def lines(found):
    rows = sorted(found.items())
    return [" ".join([*key, *map(str, sorted(versions))]) for key, versions in rows]


def without_rule(program, found):
    """Ops that the program has no rule for, by a model of the op alone."""
    missing = []
    for domain, name in sorted(found):
        domain = "" if domain == "-" else domain
        node = helper.make_node(name, ["x"], ["y"], name="op", domain=domain)
        value = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, None)
        graph = helper.make_graph([node], "g", [value], [])
        sets = [helper.make_opsetid("", 26)] + ([helper.make_opsetid(domain, 1)] if domain else [])
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(helper.make_model(graph, opset_imports=sets).SerializeToString())
            file.flush()
            command = [program, "inspect", file.name, "--format", "json"]
            answer = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        if any("no shape rule" in json.dumps(entry) for entry in answer["diagnostics"]):
            missing.append(f"{domain} {name}")
    return missing


def main(arguments):
    found = schemas()
    if arguments == ["--write"]:
        LIST.write_text(HEAD + "\n".join(lines(found)) + "\n")
        return 0
    known = listed()
    new = {key: versions - known.get(key, set()) for key, versions in found.items()}
    new = lines({key: versions for key, versions in new.items() if versions})
    count = sum(map(len, found.values()))
    print(f"{len(found)} ops, {count} schemas; not in {LIST.name}: {len(new)}", *new, sep="\n")
    missing = [row for program in arguments for row in without_rule(program, found)]
    if arguments:
        print(f"without a rule or a reason: {len(missing)}", *missing, sep="\n")
    return 1 if new or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
