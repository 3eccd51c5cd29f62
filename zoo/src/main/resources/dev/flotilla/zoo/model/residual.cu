// How each half of an encoder layer ends, in two kernels instead of five passes over memory:
//   s = x + dropout(p + b)   and   y = gamma (s - mean) / deviation + beta, with a copy of y in bf16,
// and the gradient of the latter; that of the former is in columns.cu. What dropout keeps is a
// function of seed and place, so that backward and recompute draw it again instead of reading a
// mask.
//
// Set by the compiler's options: HALF, whether p is bf16 and not float; LANES, 4 or 1; THREADS of a
// block; CHUNKS, how many times LANES elements of a row a thread takes.

// Gives each thread LANES elements at a time, up to four, with what to multiply them by.
template <class Body>
__device__ inline void for_dropped(
    u64 length, u64 seed, unsigned int dropped, float scale, Body body) {
  const u64 place = 4 * ((u64) blockIdx.x * THREADS + threadIdx.x);
  if (place >= length) {
    return;
  }
  float factor[4];
  scales(seed, place, dropped, scale, factor);
#pragma unroll
  for (int start = 0; start < 4; start += LANES) {
    if (place + start < length) {
      body(place + start, factor + start);
    }
  }
}

// The sum may lie where the added numbers were: a thread reads them before it writes there. The
// offset of their columns may be absent; width is that of a row.
extern "C" __global__ void add_dropped(
    const Given* added,
    const float* __restrict__ offset,
    unsigned int width,
    const float* __restrict__ x,
    float* sum,
    u64 length,
    u64 seed,
    unsigned int dropped,
    float scale) {
  for_dropped(length, seed, dropped, scale, [=](u64 place, const float* factor) {
    const Chunk<Given> a = load(added + place);
    const Chunk<float> b = load(x + place);
    Chunk<float> o, s;
#pragma unroll
    for (int i = 0; i < LANES; ++i) {
      o.at[i] = 0;
    }
    if (offset != nullptr) {
      // Of few elements, which is the rule, the quicker division will do.
      o = load(offset + (length >> 32 == 0 ? (unsigned int) place % width : place % width));
    }
#pragma unroll
    for (int i = 0; i < LANES; ++i) {
      s.at[i] = b.at[i] + times(widened(a.at[i]) + o.at[i], factor[i]);
    }
    store(sum + place, s);
  });
}

// Sums of two numbers over the threads of a block, for all of them, in the same order every time.
__device__ inline float2 over_block(float2 value) {
  __shared__ float2 parts[32];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    value.x += __shfl_xor_sync(0xffffffffu, value.x, step);
    value.y += __shfl_xor_sync(0xffffffffu, value.y, step);
  }
  if (THREADS > 32) {
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
      parts[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = parts[0];
#pragma unroll
    for (int i = 1; i < THREADS / 32; ++i) {
      value.x += parts[i].x;
      value.y += parts[i].y;
    }
  }
  return value;
}

extern "C" __global__ void layer_norm(
    const float* __restrict__ input,
    const float* __restrict__ gamma,
    const float* __restrict__ beta,
    float* __restrict__ output,
    bf16* __restrict__ copy,
    float* __restrict__ means,
    float* __restrict__ inverses,
    int width,
    float epsilon) {
  const u64 first = (u64) blockIdx.x * width;
  Chunk<float> v[CHUNKS];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < CHUNKS; ++k) {
    const int column = (k * THREADS + threadIdx.x) * LANES;
    if (column < width) {
      v[k] = load(input + first + column);
#pragma unroll
      for (int i = 0; i < LANES; ++i) {
        sum += v[k].at[i];
      }
    }
  }
  const float mean = over_block({sum, 0}).x / width;
  float squares = 0;
#pragma unroll
  for (int k = 0; k < CHUNKS; ++k) {
    if ((k * THREADS + threadIdx.x) * LANES < width) {
#pragma unroll
      for (int i = 0; i < LANES; ++i) {
        const float distance = v[k].at[i] - mean;
        squares += distance * distance;
      }
    }
  }
  const float inverse = 1.0f / sqrtf(over_block({squares, 0}).x / width + epsilon);
  if (threadIdx.x == 0) {
    means[blockIdx.x] = mean;
    inverses[blockIdx.x] = inverse;
  }
#pragma unroll
  for (int k = 0; k < CHUNKS; ++k) {
    const int column = (k * THREADS + threadIdx.x) * LANES;
    if (column < width) {
      const Chunk<float> g = load(gamma + column);
      const Chunk<float> b = load(beta + column);
      Chunk<float> y;
      Chunk<bf16> small;
#pragma unroll
      for (int i = 0; i < LANES; ++i) {
        y.at[i] = (v[k].at[i] - mean) * inverse * g.at[i] + b.at[i];
      }
      store(output + first + column, y);
      if (copy != nullptr) {
        narrow(y.at, small);
        store(copy + first + column, small);
      }
    }
  }
}

// A block takes every gridDim.x-th row, and leaves its part of the sums over rows for gamma and
// beta in a row of its own, one behind the other.
extern "C" __global__ void layer_norm_gradient(
    const float* __restrict__ of_output,
    const bf16* __restrict__ of_copy,
    const float* __restrict__ input,
    const float* __restrict__ gamma,
    const float* __restrict__ means,
    const float* __restrict__ inverses,
    float* __restrict__ result,
    float* __restrict__ sums,
    u64 rows,
    int width) {
  Chunk<float> g[CHUNKS];
  Chunk<float> for_gamma[CHUNKS];
  Chunk<float> for_beta[CHUNKS];
#pragma unroll
  for (int k = 0; k < CHUNKS; ++k) {
    const int column = (k * THREADS + threadIdx.x) * LANES;
    if (column < width) {
      g[k] = load(gamma + column);
    }
#pragma unroll
    for (int i = 0; i < LANES; ++i) {
      for_gamma[k].at[i] = 0;
      for_beta[k].at[i] = 0;
    }
  }
  for (u64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const float mean = means[row], inverse = inverses[row];
    Chunk<float> x[CHUNKS];
    Chunk<float> d[CHUNKS];
    float2 dots = {0, 0};
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
      const int column = (k * THREADS + threadIdx.x) * LANES;
      if (column < width) {
        const u64 place = row * width + column;
        x[k] = load(input + place);
        Chunk<float> y;
#pragma unroll
        for (int i = 0; i < LANES; ++i) {
          y.at[i] = 0;
        }
        if (of_output != nullptr) {
          y = load(of_output + place);
        }
        if (of_copy != nullptr) {
          const Chunk<bf16> more = load(of_copy + place);
#pragma unroll
          for (int i = 0; i < LANES; ++i) {
            y.at[i] += widened(more.at[i]);
          }
        }
#pragma unroll
        for (int i = 0; i < LANES; ++i) {
          x[k].at[i] = (x[k].at[i] - mean) * inverse;
          for_gamma[k].at[i] += y.at[i] * x[k].at[i];
          for_beta[k].at[i] += y.at[i];
          d[k].at[i] = y.at[i] * g[k].at[i];
          dots.x += d[k].at[i];
          dots.y += d[k].at[i] * x[k].at[i];
        }
      }
    }
    dots = over_block(dots);
    const float of_mean = dots.x / width, of_deviation = dots.y / width;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
      const int column = (k * THREADS + threadIdx.x) * LANES;
      if (column < width) {
        Chunk<float> r;
#pragma unroll
        for (int i = 0; i < LANES; ++i) {
          r.at[i] = (d[k].at[i] - of_mean - x[k].at[i] * of_deviation) * inverse;
        }
        store(result + row * width + column, r);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < CHUNKS; ++k) {
    const int column = (k * THREADS + threadIdx.x) * LANES;
    if (column < width) {
      store(sums + (u64) blockIdx.x * 2 * width + column, for_gamma[k]);
      store(sums + ((u64) blockIdx.x * 2 + 1) * width + column, for_beta[k]);
    }
  }
}
