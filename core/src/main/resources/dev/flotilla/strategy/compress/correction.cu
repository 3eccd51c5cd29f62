// Momentum correction and the search for large residuals, in one pass over memory:
//   h = c g + d w;  u = m u + h;  v = v + a h + b u;  places with |v| > limit are noted.
// Places come in no order, and no more of them than there is room for; all of them are counted.

constexpr int AT_ONCE = 4;

extern "C" __global__ void correct(
    const float* __restrict__ gradient,
    float* __restrict__ velocity,
    float* __restrict__ residual,
    const float* __restrict__ weight,
    long long length,
    float c,
    float d,
    float m,
    float a,
    float b,
    float limit,
    unsigned int* count,
    unsigned int room,
    long long* places) {
  const unsigned int lane = threadIdx.x & 31;
  const long long stretch = (long long) blockDim.x * AT_ONCE;
  for (long long start = blockIdx.x * stretch; start < length; start += gridDim.x * stretch) {
    float g[AT_ONCE], u[AT_ONCE], v[AT_ONCE];
    const long long first = start + threadIdx.x;
#pragma unroll
    for (int j = 0; j < AT_ONCE; j++) {
      const long long i = first + (long long) j * blockDim.x;
      const bool is_here = i < length;
      g[j] = is_here ? gradient[i] : 0;
      u[j] = is_here ? velocity[i] : 0;
      v[j] = is_here ? residual[i] : 0;
    }
    if (d != 0) {
#pragma unroll
      for (int j = 0; j < AT_ONCE; j++) {
        const long long i = first + (long long) j * blockDim.x;
        g[j] = c * g[j] + (i < length ? d * weight[i] : 0);
      }
    } else {
#pragma unroll
      for (int j = 0; j < AT_ONCE; j++) {
        g[j] = c * g[j];
      }
    }
#pragma unroll
    for (int j = 0; j < AT_ONCE; j++) {
      const long long i = first + (long long) j * blockDim.x;
      u[j] = m * u[j] + g[j];
      v[j] = v[j] + (a * g[j] + b * u[j]);
      if (i < length) {
        velocity[i] = u[j];
        residual[i] = v[j];
      }
      // The lanes of a warp take their places together: one addition for all of them.
      const bool is_large = i < length && fabsf(v[j]) > limit;
      const unsigned int large = __ballot_sync(0xffffffffu, is_large);
      if (large != 0) {
        unsigned int base = 0;
        if (lane == 0) {
          base = atomicAdd(count, __popc(large));
        }
        base = __shfl_sync(0xffffffffu, base, 0);
        const unsigned int at = base + __popc(large & ((1u << lane) - 1));
        if (is_large && at < room) {
          places[at] = i;
        }
      }
    }
  }
}
