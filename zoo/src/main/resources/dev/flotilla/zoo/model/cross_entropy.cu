// Cross entropy of a row of logits and its gradient, softmax(z) - onehot(class), in one pass over
// memory: a block keeps its row in registers. A row whose class is negative counts nothing.
//
// Set by the compiler's options: LANES, as many as have 16 bytes, or 1; THREADS of a block; CHUNKS,
// how many times LANES elements of a row a thread takes.

// Of 16 bits not even the quick one's error is left.
#if HALF
#define EXP __expf
#else
#define EXP expf
#endif

// Long rows of single elements would take more registers than so many threads have.
extern "C" __global__ void __launch_bounds__(THREADS) cross_entropy(
    const Given* __restrict__ logits,
    const long long* __restrict__ classes,
    Given* __restrict__ gradient,
    float* __restrict__ losses,
    int width,
    u64 stride) {
  const Given* row = logits + blockIdx.x * stride;
  Given* result = gradient + blockIdx.x * stride;
  const long long correct = classes[blockIdx.x];
  Chunk<Given> z[CHUNKS];
  float most = -3.4e38f;
#pragma unroll
  for (int k = 0; k < CHUNKS; ++k) {
    const int column = (k * THREADS + threadIdx.x) * LANES;
    if (column < width) {
      z[k] = load(row + column);
#pragma unroll
      for (int i = 0; i < LANES; ++i) {
        const float value = widened(z[k].at[i]);
        // A NaN stays one.
        most = column + i < width && !(value <= most) ? value : most;
      }
    }
  }
  most = over_team(most, 0, [](float a, float b) { return a != a || a > b ? a : b; });
  float sum = 0;
#pragma unroll
  for (int k = 0; k < CHUNKS; ++k) {
    const int column = (k * THREADS + threadIdx.x) * LANES;
#pragma unroll
    for (int i = 0; i < LANES; ++i) {
      if (column + i < width) {
        sum += EXP(widened(z[k].at[i]) - most);
      }
    }
  }
  sum = over_team(sum, 1, [](float a, float b) { return a + b; });
  const float share = correct < 0 ? 0 : 1 / sum;
#pragma unroll
  for (int k = 0; k < CHUNKS; ++k) {
    const int column = (k * THREADS + threadIdx.x) * LANES;
    if (column < width) {
      Chunk<Given> g;
#pragma unroll
      for (int i = 0; i < LANES; ++i) {
        const float p = column + i < width ? EXP(widened(z[k].at[i]) - most) * share : 0;
        narrow(column + i == correct ? p - 1 : p, &g.at[i]);
      }
      store(result + column, g);
    }
  }
  if (threadIdx.x == 0) {
    // A class that there is none of is no reason to read what lies behind the row.
    losses[blockIdx.x] = correct < 0        ? 0
                         : correct >= width ? __int_as_float(0x7fc00000)
                                            : logf(sum) + most - widened(row[correct]);
  }
}

// Multiplies in place by a number on the device. Mostly that is 1, and then nothing is read.
extern "C" __global__ void __launch_bounds__(THREADS) scaled(
    Given* __restrict__ values, const float* __restrict__ factor, u64 count) {
  const float by = *factor;
  if (by == 1) {
    return;
  }
  const u64 step = static_cast<u64>(gridDim.x) * THREADS * LANES;
  for (u64 place = (static_cast<u64>(blockIdx.x) * THREADS + threadIdx.x) * LANES; place < count;
       place += step) {
    Chunk<Given> chunk = load(values + place);
#pragma unroll
    for (int i = 0; i < LANES; ++i) {
      narrow(widened(chunk.at[i]) * by, &chunk.at[i]);
    }
    store(values + place, chunk);
  }
}
