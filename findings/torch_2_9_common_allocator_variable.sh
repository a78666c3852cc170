#!/usr/bin/env bash
# torch 2.9.1 does not read PYTORCH_ALLOC_CONF for CUDA devices, although its own library calls the older name deprecated.
#
# torch 2.9.1 and 2.10.0, wheels for CUDA 12, no device needed. libc10 of 2.9.1 holds the sentence "PYTORCH_CUDA_ALLOC_CONF is
# deprecated, use PYTORCH_ALLOC_CONF instead", and a configuration that reads the new name. The allocator of CUDA devices has
# another one, in libc10_cuda, which reads PYTORCH_CUDA_ALLOC_CONF alone: settings under the new name are neither used nor
# refused, without a word. From 2.10.0 on the new name counts. So a script that follows the advice loses its settings on 2.9.
#
# Seen, with an unknown key in one variable at a time:
#   2.9.1 PYTORCH_CUDA_ALLOC_CONF refused
#   2.9.1 PYTORCH_ALLOC_CONF not read
#   2.10.0 PYTORCH_CUDA_ALLOC_CONF refused
#   2.10.0 PYTORCH_ALLOC_CONF refused
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# Parts of the wheels: the libraries of the allocator and of the CUDA runtime, without the other 900 MB.
cat > fetch.py <<'PY'
import io, json, os, sys, urllib.request, zipfile

class Remote(io.RawIOBase):
    def __init__(self, url):
        self.url, self.at = url, 0
        self.size = int(urllib.request.urlopen(urllib.request.Request(url, method="HEAD")).headers["Content-Length"])
    def seekable(self): return True
    def readable(self): return True
    def tell(self): return self.at
    def seek(self, to, whence=0):
        self.at = (0, self.at, self.size)[whence] + to
        return self.at
    def readinto(self, buffer):
        end = min(self.size, self.at + len(buffer))
        if self.at >= end: return 0
        wanted = urllib.request.Request(self.url, headers={"Range": f"bytes={self.at}-{end - 1}"})
        data = urllib.request.urlopen(wanted).read()
        buffer[:len(data)] = data
        self.at += len(data)
        return len(data)

def wheel(project, beginning, folder, names):
    index = urllib.request.Request(f"https://pypi.org/simple/{project}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    files = json.load(urllib.request.urlopen(index))["files"]
    url = next(f["url"] for f in files if f["filename"].startswith(beginning) and "x86_64" in f["filename"] and "linux" in f["filename"])
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(io.BufferedReader(Remote(url), 1 << 20)) as archive:
        for name in archive.namelist():
            if os.path.basename(name) in names:
                open(os.path.join(folder, os.path.basename(name)), "wb").write(archive.read(name))

for release in ("2.9.1", "2.10.0"):
    wheel("torch", f"torch-{release}-cp312-", release, ("libc10.so", "libc10_cuda.so", "libgomp.so.1"))
    wheel("nvidia-cuda-runtime-cu12", "nvidia_cuda_runtime_cu12-12.8.90-", release, ("libcudart.so.12",))
PY
python3 fetch.py
cat > probe.cc <<'CC'
#include <dlfcn.h>
#include <cstdio>
#include <exception>
#include <string>
// Reading the configuration reads the variable; an empty change is accepted by every release.
int main(int, char** arguments) {
  std::string folder = arguments[1];
  void* base = dlopen((folder + "/libc10.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* cuda = dlopen((folder + "/libc10_cuda.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!base || !cuda) { printf("%s\n", dlerror()); return 1; }
  auto change = reinterpret_cast<void (*)(const std::string&)>(dlsym(cuda,
      "_ZN3c104cuda20CUDACachingAllocator20setAllocatorSettingsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"));
  auto common = reinterpret_cast<void* (*)()>(dlsym(base, "_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig8instanceEv"));
  if (!change && !common) return 1;
  try {
    if (change) change(""); else common();
    puts("not read");
  } catch (const std::exception&) { puts("refused"); }
}
CC
g++ -O1 probe.cc -o probe -ldl
for release in 2.9.1 2.10.0; do
  for variable in PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF; do
    echo "$release $variable $(env "$variable=no_such_key:1" LD_LIBRARY_PATH="$folder/$release" ./probe "$folder/$release")"
  done
done | tee seen
grep -aq "PYTORCH_CUDA_ALLOC_CONF is deprecated, use PYTORCH_ALLOC_CONF instead" 2.9.1/libc10.so
diff seen - <<'SEEN'
2.9.1 PYTORCH_CUDA_ALLOC_CONF refused
2.9.1 PYTORCH_ALLOC_CONF not read
2.10.0 PYTORCH_CUDA_ALLOC_CONF refused
2.10.0 PYTORCH_ALLOC_CONF refused
SEEN
echo "as described"
