// Momentum correction and the search for large residuals, in one pass over memory:
//   h = c g + d w;  u = m u + h;  v = v + a h + b u;  places with |v| > limit are noted.
// Places come in no order, and no more of them than there is room for; all of them are counted.

struct Rule {
  float c, d, m, a, b, limit;
};

struct Found {
  unsigned int* count;
  unsigned int room;
  int* places;
};

// The lanes of a warp take their places together: one addition for all of them.
__device__ void note(bool is_large, int place, const Found& found) {
  const unsigned int lane = threadIdx.x & 31;
  const unsigned int large = __ballot_sync(0xffffffffu, is_large);
  if (large == 0) {
    return;
  }
  unsigned int base = 0;
  if (lane == 0) {
    base = atomicAdd(found.count, __popc(large));
  }
  base = __shfl_sync(0xffffffffu, base, 0);
  const unsigned int at = base + __popc(large & ((1u << lane) - 1));
  if (is_large && at < found.room) {
    found.places[at] = place;
  }
}

__device__ void correct_one(float g, float w, float& u, float& v, const Rule& rule) {
  const float h = rule.c * g + rule.d * w;
  u = rule.m * u + h;
  v = v + (rule.a * h + rule.b * u);
}

// Four at once, if all of them start at a multiple of 16 bytes.
extern "C" __global__ void correct(
    const float* __restrict__ gradient,
    float* __restrict__ velocity,
    float* __restrict__ residual,
    const float* __restrict__ weight,
    int length,
    float c,
    float d,
    float m,
    float a,
    float b,
    float limit,
    unsigned int* count,
    unsigned int room,
    int* places) {
  const Rule rule = {c, d, m, a, b, limit};
  const Found found = {count, room, places};
  const bool is_aligned =
      (((size_t) gradient | (size_t) velocity | (size_t) residual | (size_t) weight) & 15) == 0;
  const int fours = is_aligned ? length / 4 : 0;
  const int step = gridDim.x * blockDim.x;
  // All lanes of a warp go through the loops equally often.
  for (int start = blockIdx.x * blockDim.x; start < fours; start += step) {
    const int i = start + threadIdx.x;
    const bool is_here = i < fours;
    float4 v = {0, 0, 0, 0};
    if (is_here) {
      const float4 g = __ldcs(reinterpret_cast<const float4*>(gradient) + i);
      float4 u = __ldcs(reinterpret_cast<const float4*>(velocity) + i);
      v = __ldcs(reinterpret_cast<const float4*>(residual) + i);
      float4 w = {0, 0, 0, 0};
      if (d != 0) {
        w = __ldcs(reinterpret_cast<const float4*>(weight) + i);
      }
      correct_one(g.x, w.x, u.x, v.x, rule);
      correct_one(g.y, w.y, u.y, v.y, rule);
      correct_one(g.z, w.z, u.z, v.z, rule);
      correct_one(g.w, w.w, u.w, v.w, rule);
      __stcs(reinterpret_cast<float4*>(velocity) + i, u);
      __stcs(reinterpret_cast<float4*>(residual) + i, v);
    }
    note(is_here && fabsf(v.x) > limit, 4 * i, found);
    note(is_here && fabsf(v.y) > limit, 4 * i + 1, found);
    note(is_here && fabsf(v.z) > limit, 4 * i + 2, found);
    note(is_here && fabsf(v.w) > limit, 4 * i + 3, found);
  }
  for (int start = 4 * fours + blockIdx.x * blockDim.x; start < length; start += step) {
    const int i = start + threadIdx.x;
    float v = 0;
    if (i < length) {
      float u = velocity[i];
      v = residual[i];
      correct_one(gradient[i], d != 0 ? weight[i] : 0, u, v, rule);
      velocity[i] = u;
      residual[i] = v;
    }
    note(i < length && fabsf(v) > limit, i, found);
  }
}
