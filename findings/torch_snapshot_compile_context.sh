#!/usr/bin/env bash
# The field compile_context of a snapshot's events came with torch 2.5, went with 2.6 and came back with 2.8.
#
# torch 2.4.1 to 2.8.0, wheels for CUDA, no device needed. The library that makes the dict of a memory snapshot holds the names of
# its keys as texts. From 2.5 on the program's own annotations are among them (external_annotations). What torch.compile was
# compiling when an event happened (compile_context) is there in 2.5 and from 2.8 on, but not in 2.6 and 2.7. So neither does the
# field mean "this release or newer", nor its absence "older than 2.5": a reader that dates a snapshot by its newest field takes
# one of 2.5 for one of 2.8, or one of 2.7 for one of 2.4.
#
# Seen:
#   2.4.1
#   2.5.1 external_annotations compile_context
#   2.6.0 external_annotations
#   2.7.1 external_annotations
#   2.8.0 external_annotations compile_context
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip --quiet install remotezip==0.12.3
# A part of each wheel: the library with Python's functions, without the other 800 MB.
cat > keys.py <<'PY'
import json, urllib.request
from remotezip import RemoteZip

index = urllib.request.Request("https://pypi.org/simple/torch/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
files = json.load(urllib.request.urlopen(index))["files"]
for release in ("2.4.1", "2.5.1", "2.6.0", "2.7.1", "2.8.0"):
    names = (f for f in files if f["filename"].startswith(f"torch-{release}-cp312-"))
    url = next(f["url"] for f in names if "x86_64" in f["filename"] and "linux" in f["filename"])
    with RemoteZip(url) as archive:
        library = archive.read("torch/lib/libtorch_python.so")
    # Keys of every release, some of them shorter: texts are not hidden in the code.
    assert all(b"\0" + key + b"\0" in library for key in (b"device_traces", b"segment_type", b"time_us"))
    keys = [key for key in ("external_annotations", "compile_context") if b"\0" + key.encode() + b"\0" in library]
    print(" ".join([release, *keys]))
PY
venv/bin/python keys.py > seen
cat > wanted <<'SEEN'
2.4.1
2.5.1 external_annotations compile_context
2.6.0 external_annotations
2.7.1 external_annotations
2.8.0 external_annotations compile_context
SEEN
cat seen
diff wanted seen
