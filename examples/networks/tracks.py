"""
Follow three objects through a video
====================================

In every frame a detector returns a handful of positions: the objects, some of them missed, and clutter. A track is
a path through the detections from the first frame to the last, so a choice of three tracks is a flow of three units
through a network whose edges carry at most one unit each: :class:`~frankwolfe.FlowPolytope` with capacities. Motion
and scores give a linear cost. What makes the problem quadratic is appearance: each of the three objects should be
seen about once in every frame, which couples the tracks. Flows may split, so what is solved is the convex
relaxation; its lower bound also holds for whole tracks, to which the flow is rounded by one more call of the
oracle.

**Result.** 99% of the detections taken are objects, 94% without the quadratic term; the whole tracks are at most
0.1 above the best ones, of a cost of -32.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array

import frankwolfe as fw

FRAMES, TRACKS, CLUTTER, WEIGHT = 24, 3, 5, 2.0
LOOKS = np.array([[0.0, 0.0], [2.0, 0.3], [0.8, 2.0]])


def video(rng):
    """Return frame, position, appearance (two numbers), score and true owner (-1: clutter) of every detection."""
    t = np.arange(FRAMES)
    heights = [2 + 0.22 * t, 7 - 0.2 * t, 4.6 + 1.6 * np.sin(t / 3.5)]
    rows = [
        (s, heights[k][s] + 0.12 * rng.normal(), *(LOOKS[k] + 0.3 * rng.normal(size=2)), rng.normal(0.8, 0.3), k)
        for s in t
        for k in range(TRACKS)
        if rng.random() > 0.06  # the detector misses some
    ]
    rows += [
        (s, rng.uniform(0, 8.5), *rng.uniform(-1, 3, 2), rng.normal(0.5, 0.3), -1) for s in t for _ in range(CLUTTER)
    ]
    return np.array(rows)[rng.permutation(len(rows))]


def network(seen):
    """Return edges and their linear costs; the first len(seen) edges pass through the detections themselves."""
    n, frame = len(seen), seen[:, 0]
    start, end = 2 * n, 2 * n + 1
    step = frame[None, :] - frame[:, None]
    jump = np.abs(seen[None, :, 1] - seen[:, None, 1])
    tail, head = np.nonzero((step >= 1) & (step <= 2) & (jump <= 1.5 * step))  # a frame may be skipped
    through = np.column_stack([2 * np.arange(n), 2 * np.arange(n) + 1])
    first, last = np.flatnonzero(frame <= 1), np.flatnonzero(frame >= FRAMES - 2)
    enter = np.column_stack([np.full(len(first), start), 2 * first])
    leave = np.column_stack([2 * last + 1, np.full(len(last), end)])
    edges = np.vstack([through, np.column_stack([2 * tail + 1, 2 * head]), enter, leave])
    change = ((seen[tail, 2:4] - seen[head, 2:4]) ** 2).sum(axis=1)  # an object looks the same from frame to frame
    links = jump[tail, head] ** 2 + 0.5 * (step[tail, head] - 1) + 0.1 * change
    return edges, np.concatenate([-seen[:, 4], links, np.zeros(len(first) + len(last))]), start, end


# %%
seen = video(np.random.default_rng(5))
n = len(seen)
edges, cost, start, end = network(seen)
like = np.exp(-((seen[:, None, 2:4] - LOOKS) ** 2).sum(axis=2) / 0.5)  # n x TRACKS
places = (seen[:, :1] * TRACKS + np.arange(TRACKS)).astype(int).ravel()
counts = csr_array((like.ravel(), (places, np.repeat(np.arange(n), TRACKS))), shape=(FRAMES * TRACKS, len(edges)))

flows = fw.FlowPolytope(edges, start, end, radius=TRACKS, capacity=1.0)
linear = cost - WEIGHT * (counts.T @ np.ones(FRAMES * TRACKS))
objective = fw.Quadratic(WEIGHT * (counts.T @ counts), linear, constant=WEIGHT * FRAMES * TRACKS / 2)
result = fw.minimize(objective, flows, tol=1e-3)
whole = flows.lmo(-result.x).toarray().round()
beyond = float(objective.value(whole)) - result.lower_bound

# %%
fig, ax = plt.subplots(figsize=(9, 4), constrained_layout=True)
colours = np.array(["tab:blue", "tab:orange", "tab:green", "lightgrey"])  # clutter (-1) is the last
ax.scatter(seen[:, 0], seen[:, 1], s=22, c=colours[seen[:, 5].astype(int)], edgecolors="white", zorder=3)
follow = {a // 2: b // 2 for (a, b), used in zip(edges[n:], whole[n:], strict=True) if used and max(a, b) < 2 * n}
for head in set(follow) - set(follow.values()):
    path = [head]
    while path[-1] in follow:
        path.append(follow[path[-1]])
    owner = np.bincount(seen[path, 5].astype(int) + 1).argmax() - 1  # whose detections it mostly follows
    ax.plot(seen[path, 0], seen[path, 1], color=colours[owner], linewidth=6, alpha=0.4, zorder=2)
ax.set(xlabel="frame", ylabel="position", title="detections, clutter in grey, and the tracks found")
plt.show()

taken, alone = whole[:n] > 0.5, flows.lmo(cost).toarray()[:n] > 0.5
right, plain = (np.mean(seen[chosen, 5] >= 0) for chosen in (taken, alone))
print(
    f"Result: {right:.0%} of the detections taken are objects, {plain:.0%} without the quadratic "
    f"term; the whole tracks are "
    f"at most {beyond:.1f} above the best ones, of a cost of {float(objective.value(whole)):.0f}."
)
