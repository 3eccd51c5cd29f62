// Cross entropy of a row of logits in one pass over memory, in which a block keeps its row in
// registers, and its gradient, softmax(z) - onehot(class), in another. A row whose class is negative
// counts nothing.
//
// Set by the compiler's options: LANES, as many as have 16 bytes, or 1; THREADS of a block; CHUNKS,
// how many times LANES elements of a row a thread takes.

// Of 16 bits not even the quick one's error is left.
#if HALF
#define EXP __expf
#else
#define EXP expf
#endif

// Long rows of single elements would take more registers than so many threads have. Leaves how a
// row's softmax is made: the largest logit, and the inverse of the sum of exponentials below it.
extern "C" __global__ void __launch_bounds__(THREADS) cross_entropy(
    const Given* __restrict__ logits,
    const long long* __restrict__ classes,
    float* __restrict__ losses,
    float2* __restrict__ made,
    int width,
    u64 stride) {
  const Given* row = logits + blockIdx.x * stride;
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
  if (threadIdx.x == 0) {
    made[blockIdx.x] = {most, 1 / sum};
    // A class that there is none of is no reason to read what lies behind the row.
    losses[blockIdx.x] = correct < 0        ? 0
                         : correct >= width ? __int_as_float(0x7fc00000)
                                            : logf(sum) + most - widened(row[correct]);
  }
}

// Times what comes in, a number on the device, unless that is absent. The gradient may take the
// memory of the logits: a thread reads them before it writes there.
extern "C" __global__ void __launch_bounds__(THREADS) cross_entropy_gradient(
    const Given* logits,
    const long long* __restrict__ classes,
    const float2* __restrict__ made,
    const float* __restrict__ factor,
    Given* gradient,
    int width,
    u64 stride) {
  const Given* row = logits + blockIdx.x * stride;
  Given* result = gradient + blockIdx.x * stride;
  const long long correct = classes[blockIdx.x];
  const float most = made[blockIdx.x].x;
  const float share = correct < 0 ? 0 : made[blockIdx.x].y;
  const float by = factor == nullptr ? 1 : *factor;
  Chunk<Given> z[CHUNKS];
#pragma unroll
  for (int k = 0; k < CHUNKS; ++k) {
    const int column = (k * THREADS + threadIdx.x) * LANES;
    if (column < width) {
      z[k] = load(row + column);
    }
  }
#pragma unroll
  for (int k = 0; k < CHUNKS; ++k) {
    const int column = (k * THREADS + threadIdx.x) * LANES;
    if (column < width) {
      Chunk<Given> g;
#pragma unroll
      for (int i = 0; i < LANES; ++i) {
        const float p = column + i < width ? EXP(widened(z[k].at[i]) - most) * share : 0;
        narrow(column + i == correct ? p - 1 : p, &g.at[i]);
        if (by != 1) {
          narrow(widened(g.at[i]) * by, &g.at[i]);
        }
      }
      store(result + column, g);
    }
  }
}
