#!/usr/bin/env bash
# XLA keeps temporary values in the memory of donated parameters of other arrays.
#
# jax and jaxlib 0.10.2, CPU. A training step donates its parameters and returns new ones. Where a parameter is read for the
# last time long before its new value is made, XLA's buffer assignment puts values into its allocation that are neither the
# parameter nor the output: copies of other parameters, gradients, activations. So `temp_size_in_bytes` of
# `memory_analysis()` is less than the temporary values that live at once, and a tool that adds arguments, outputs and a
# simulated heap of temporaries counts too much.
#
# Seen: "5 of 12 donated allocations hold a third value; temp 7340032; temporary values at once 12582912" (bytes; the last
# figure is the peak of the live ranges of all values that are neither a parameter nor in an output's place at the end).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q "jax==0.10.2" "jaxlib==0.10.2"
cat > "$folder/step.py" <<'PY'
import os, re, sys, glob
out = sys.argv[1]
os.environ["XLA_FLAGS"] = f"--xla_dump_to={out} --xla_dump_hlo_as_text"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, jax.numpy as jnp

def step(ws, ms, x):
    def loss(ws):
        h = x
        for w in ws:
            h = h @ w
            h = jnp.sin(h) * h
        return (h ** 2).sum()
    grads = jax.grad(loss)(ws)
    ms = [0.9 * m + g for m, g in zip(ms, grads)]
    return [w - 0.1 * m for w, m in zip(ws, ms)], ms

shape = jax.ShapeDtypeStruct((512, 512), jnp.float32)
x = jax.ShapeDtypeStruct((256, 512), jnp.float32)
compiled = jax.jit(step, donate_argnums=(0, 1)).lower([shape] * 6, [shape] * 6, x).compile()
temp = compiled.memory_analysis().temp_size_in_bytes
text = open(glob.glob(out + "/*jit_step*buffer-assignment.txt")[0]).read()
ranges = open(glob.glob(out + "/*jit_step*live-range.txt")[0]).read()
live = {}
for line in ranges.split("BufferLiveRange:")[1].splitlines():
    found = re.match(r"\s+(.+)\{.*\}:(\d+)-(\d+)$", line)
    if found:
        live[found[1]] = (int(found[2]), int(found[3]))
donated = crowded = 0
values = []
for part in re.split(r"(?m)^allocation ", text)[1:]:
    head = part.splitlines()[0]
    inside = re.findall(r"value: <\d+ (\S+?)(?:\{.*?\})? @0> \(size=(\d+),", part)
    if "parameter" in head and "maybe-live-out" in head:
        donated += 1
        crowded += len(inside) > 2
        ordered = sorted(inside, key=lambda value: live.get(value[0], (0, 0)))
        values += ordered[1:-1]
    elif "preallocated-temp" in head:
        values += inside
ends = [step for value, _ in values for step in live.get(value, ())]
at_once = max(sum(int(size) for value, size in values if value in live and live[value][0] <= step <= live[value][1]) for step in ends)
print(f"{crowded} of {donated} donated allocations hold a third value; temp {temp}; temporary values at once {at_once}")
assert donated == 12 and crowded > 0, "no donated allocation holds other values"
assert temp < at_once, "temporary memory holds all temporary values"
PY
"$folder/venv/bin/python" "$folder/step.py" "$folder/dump"
