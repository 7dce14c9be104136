import torch, numpy as np, time

print(torch.cuda.get_device_name(), torch.__version__)
import shutil

for l in open("/proc/meminfo").readlines()[:3]:
    print(l.strip())
N = 8 << 30
t = time.time()
a = np.empty(N // 4, dtype=np.float32)
a[::1024] = 1
print("touch 8GiB", time.time() - t)
t = time.time()
r = torch.cuda.cudart().cudaHostRegister(a.ctypes.data, a.nbytes, 0)
print("register", r, time.time() - t)
h = torch.from_numpy(a)
d = torch.empty(1 << 28, device="cuda")
print("is_pinned", h.is_pinned())
torch.cuda.synchronize()
t = time.time()
for i in range(0, h.numel(), d.numel()):
    d.copy_(h[i : i + d.numel()], non_blocking=True)
torch.cuda.synchronize()
print("registered H2D GB/s", a.nbytes / (time.time() - t) / 1e9)
torch.cuda.cudart().cudaHostUnregister(a.ctypes.data)
torch.cuda.synchronize()
t = time.time()
for i in range(0, h.numel() // 4, d.numel()):
    d.copy_(h[i : i + d.numel()], non_blocking=True)
torch.cuda.synchronize()
print("pageable H2D GB/s", a.nbytes / 4 / (time.time() - t) / 1e9)
p = torch.empty(1 << 26, pin_memory=True)
for th in (1, 4, 16):
    torch.set_num_threads(th)
    p.copy_(h[: p.numel()])
    t = time.time()
    for i in range(0, h.numel() // 2, p.numel()):
        p.copy_(h[i : i + p.numel()])
    print("stage threads", th, "GB/s", a.nbytes / 2 / (time.time() - t) / 1e9)
