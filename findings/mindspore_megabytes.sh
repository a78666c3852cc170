#!/usr/bin/env bash
# In memory_record.csv of MindSpore's profiler a MB is 1,024,000 bytes.
#
# mindspore 2.10.0 (AscendMemoryViewer of the wheel, with numpy 1.26.4). Its column says MB, as that of torch_npu does, whose
# MB is 1,048,576 bytes. MindSpore divides bytes by 1024 and the result by 1000, for every component: a pool of exactly
# 1 GiB is written as 1048.576. Reading it as binary megabytes gives 1.024 GiB. The viewer runs without a device: it only
# turns the raw record, which is in bytes, into the table.
#
# Seen: "1073741824 bytes are 1048.576 MB: a MB is 1024000.0 bytes".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q "mindspore==2.10.0" "numpy==1.26.4"
mkdir "$folder/framework" "$folder/msprof" "$folder/out" "$folder/run"
cat > "$folder/framework/cpu_ms_memory_record_0.txt" <<'RECORD'
Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)
1795861411449428476,4194304,1073741824,4194304
RECORD
FOLDER="$folder" "$folder/venv/bin/python" - <<'PY'
import csv, os
from mindspore.profiler.analysis.viewer.ascend_memory_viewer import AscendMemoryViewer
from mindspore.profiler.common.constant import ProfilerActivity

folder = os.environ["FOLDER"]
AscendMemoryViewer(
    profile_memory=True,
    rank_id=0,
    ascend_profiler_output_path=f"{folder}/out",
    framework_path=f"{folder}/framework",
    msprof_profile_output_path=f"{folder}/msprof",
    ascend_ms_dir=f"{folder}/run",
    activities=[ProfilerActivity.CPU.value],
).save()
with open(f"{folder}/out/memory_record.csv") as table:
    row = next(csv.DictReader(table))
stated = float(row["Total Reserved(MB)"])
print(f"1073741824 bytes are {stated} MB: a MB is {1073741824 / stated} bytes")
assert stated == 1048.576, "the unit changed"
PY
