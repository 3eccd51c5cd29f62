// The residual stream of a transformer, in one pass over memory forward and one backward:
//   s = x + dropout(p + b)   and   y = gamma (s - mean) / deviation + beta, with a copy of y in bf16.
// Either half can be left out: a sum alone, or a norm alone. What dropout keeps is a function of seed
// and place, so that backward and recompute draw it again instead of reading a mask.
//
// How a norm makes y of s is written down: gamma, beta, and each row's mean and inverse of the
// deviation. The sum that follows reads s and makes y again, so that y in float32 need not be in memory.
//
// What a row comes to must not depend on what is left out: products and sums are spelled out where
// the compiler could choose.
//
// Set by the compiler's options: HALF, whether p is bf16 and not float; LANES, 4 or 1; THREADS of a
// team and TEAMS of a block; CHUNKS, how many times LANES elements of a row a thread takes.

// Blocks of a multiprocessor at a time, which a thread's registers must leave room for; of long rows
// it needs all of them.
#define FORWARD_BLOCKS (CHUNKS * LANES <= 16 ? 1024 / (THREADS * TEAMS) : 1)
#define GRADIENT_BLOCKS (CHUNKS * LANES <= 4 ? 1280 / (THREADS * TEAMS) : 1)

// What is read once, or is not read again soon, should not drive out of the cache what is.
template <class V>
__device__ inline Chunk<V> load_once(const V* from) {
  Chunk<V> chunk;
  if constexpr (sizeof(chunk) % 16 == 0) {
#pragma unroll
    for (int i = 0; i < sizeof(chunk) / 16; ++i) {
      reinterpret_cast<uint4*>(&chunk)[i] = __ldcs(reinterpret_cast<const uint4*>(from) + i);
    }
  } else if constexpr (sizeof(chunk) == 8) {
    *reinterpret_cast<uint2*>(&chunk) = __ldcs(reinterpret_cast<const uint2*>(from));
  } else {
    chunk.at[0] = __ldcs(from);
  }
  return chunk;
}

template <class V>
__device__ inline void store_away(V* to, const Chunk<V>& chunk) {
  if constexpr (sizeof(chunk) % 16 == 0) {
#pragma unroll
    for (int i = 0; i < sizeof(chunk) / 16; ++i) {
      __stcs(reinterpret_cast<uint4*>(to) + i, reinterpret_cast<const uint4*>(&chunk)[i]);
    }
  } else if constexpr (sizeof(chunk) == 8) {
    __stcs(reinterpret_cast<uint2*>(to), *reinterpret_cast<const uint2*>(&chunk));
  } else {
    __stcs(to, chunk.at[0]);
  }
}

__device__ inline float plus(float a, float b) { return __fadd_rn(a, b); }

__device__ inline float2 plus(float2 a, float2 b) { return {plus(a.x, b.x), plus(a.y, b.y)}; }

// Adds up over a team; turn as for over_team.
template <class V>
__device__ inline V total(V own, int turn) {
  return over_team(own, turn, [](V a, V b) { return plus(a, b); });
}

// The number of deviations from the mean.
__device__ inline float scored(float value, float mean, float inverse) {
  return __fmul_rn(__fsub_rn(value, mean), inverse);
}

// Draws what to multiply elements from a place by.
__device__ inline void draw(
    u64 seed, u64 place, unsigned int dropped, float scale, float (&to)[LANES]) {
  float four[4];
  scales(seed, place, dropped, scale, four);
#pragma unroll
  for (int i = 0; i < LANES; ++i) {
    to[i] = LANES == 4 ? four[i] : four[place % 4];
  }
}

// Calls body for the chunks of a thread: with their numbers, the column, and the place in the matrix.
template <class Body>
__device__ inline void for_chunks(u64 row, int width, Body body) {
#pragma unroll
  for (int k = 0; k < CHUNKS; ++k) {
    const int column = (k * THREADS + threadIdx.x % THREADS) * LANES;
    if (column < width) {
      body(k, column, row * width + column);
    }
  }
}

// The sum may lie where the added numbers were: a thread reads them before it writes there. Where
// nothing is added, x is the sum; offset, made, gamma with beta, output and copy may be absent.
extern "C" __global__ void __launch_bounds__(THREADS* TEAMS, FORWARD_BLOCKS) added_norm(
    const Given* added,
    const float* __restrict__ offset,
    const float* __restrict__ x,
    const float* __restrict__ made,
    float* sum,
    const float* __restrict__ gamma,
    const float* __restrict__ beta,
    float* __restrict__ output,
    bf16* __restrict__ copy,
    float* __restrict__ make,
    u64 rows,
    int width,
    float epsilon,
    u64 seed,
    const u64* __restrict__ seed_at,
    unsigned int dropped,
    float scale) {
  seed = seed_at == nullptr ? seed : *seed_at;
  const u64 step = (u64) gridDim.x * TEAMS;
  const float share = __fdiv_rn(1.0f, width);
  for (u64 row = (u64) blockIdx.x * TEAMS + threadIdx.x / THREADS; row < rows; row += step) {
    Chunk<float> v[CHUNKS];
    Chunk<Given> a[CHUNKS];
    for_chunks(row, width, [&](int k, int column, u64 place) {
      v[k] = load_once(x + place);
      if (added != nullptr) {
        a[k] = load_once(added + place);
      }
    });
    if (made != nullptr) {
      for_chunks(row, width, [&](int k, int column, u64 place) {
        const Chunk<float> g = load(made + column), b = load(made + width + column);
        const float* own = made + 2 * width + row;
#pragma unroll
        for (int i = 0; i < LANES; ++i) {
          v[k].at[i] = fmaf(scored(v[k].at[i], own[0], own[rows]), g.at[i], b.at[i]);
        }
      });
    }
    float mean = 0;
    for_chunks(row, width, [&](int k, int column, u64 place) {
      if (added != nullptr) {
        Chunk<float> o = {};
        if (offset != nullptr) {
          o = load(offset + column);
        }
        float factor[LANES];
        draw(seed, place, dropped, scale, factor);
#pragma unroll
        for (int i = 0; i < LANES; ++i) {
          // What is dropped counts as zero even if it is infinite.
          const float term = plus(widened(a[k].at[i]), o.at[i]);
          v[k].at[i] = factor[i] == 0 ? v[k].at[i] : fmaf(term, factor[i], v[k].at[i]);
        }
        store_away(sum + place, v[k]);
      }
#pragma unroll
      for (int i = 0; i < LANES; ++i) {
        mean = plus(mean, v[k].at[i]);
      }
    });
    if (gamma == nullptr) {
      continue;
    }
    mean = __fmul_rn(total(mean, 0), share);
    float squares = 0;
    for_chunks(row, width, [&](int k, int column, u64 place) {
#pragma unroll
      for (int i = 0; i < LANES; ++i) {
        v[k].at[i] = __fsub_rn(v[k].at[i], mean);
        squares = fmaf(v[k].at[i], v[k].at[i], squares);
      }
    });
    const float variance = fmaf(total(squares, 1), share, epsilon);
    const float inverse = __fdiv_rn(1.0f, __fsqrt_rn(variance));
    for_chunks(row, width, [&](int k, int column, u64 place) {
      const Chunk<float> g = load(gamma + column), b = load(beta + column);
      Chunk<float> y;
#pragma unroll
      for (int i = 0; i < LANES; ++i) {
        y.at[i] = fmaf(__fmul_rn(v[k].at[i], inverse), g.at[i], b.at[i]);
      }
      if (output != nullptr) {
        store(output + place, y);
      }
      if (copy != nullptr) {
        Chunk<bf16> small;
        narrow(y.at, small);
        store(copy + place, small);
      }
      if (column == 0) {
        make[2 * width + row] = mean;
        make[2 * width + rows + row] = inverse;
      }
      if (row == 0) {
        store(make + column, g);
        store(make + width + column, b);
      }
    });
  }
}

// Gradients of y, of y's copy, or of s itself where there is no norm, to those of s and p. A block
// leaves its part of the sums over rows for gamma, beta and offset in a row of its own, one behind
// the other.
extern "C" __global__ void __launch_bounds__(THREADS* TEAMS, GRADIENT_BLOCKS) added_norm_gradient(
    const float* __restrict__ of_output,
    const bf16* __restrict__ of_copy,
    const float* __restrict__ sum,
    const float* __restrict__ make,
    float* __restrict__ of_sum,
    Given* __restrict__ of_added,
    float* __restrict__ parts,
    u64 rows,
    int width,
    u64 seed,
    const u64* __restrict__ seed_at,
    unsigned int dropped,
    float scale) {
  seed = seed_at == nullptr ? seed : *seed_at;
  const int lane = threadIdx.x % THREADS;
  const u64 step = (u64) gridDim.x * TEAMS;
  const float share = __fdiv_rn(1.0f, width);
  float sums[3][CHUNKS * LANES] = {};
  u64 row = (u64) blockIdx.x * TEAMS + threadIdx.x / THREADS;
  for (int turn = 0; row < rows; row += step, turn ^= 1) {
    Chunk<float> d[CHUNKS] = {};
    Chunk<float> x[CHUNKS];
    Chunk<bf16> more[CHUNKS] = {};
    for_chunks(row, width, [&](int k, int column, u64 place) {
      if (of_output != nullptr) {
        d[k] = load_once(of_output + place);
      }
      if (of_copy != nullptr) {
        more[k] = load_once(of_copy + place);
      }
      if (sum != nullptr) {
        x[k] = load_once(sum + place);
      }
    });
    float2 dots = {};
    for_chunks(row, width, [&](int k, int column, u64 place) {
#pragma unroll
      for (int i = 0; i < LANES; ++i) {
        d[k].at[i] = plus(d[k].at[i], widened(more[k].at[i]));
      }
      if (sum != nullptr) {
        const Chunk<float> gamma = load(make + column);
        const float* own = make + 2 * width + row;
#pragma unroll
        for (int i = 0; i < LANES; ++i) {
          const int at = k * LANES + i;
          x[k].at[i] = scored(x[k].at[i], own[0], own[rows]);
          sums[0][at] = fmaf(d[k].at[i], x[k].at[i], sums[0][at]);
          sums[1][at] = plus(sums[1][at], d[k].at[i]);
          d[k].at[i] = __fmul_rn(d[k].at[i], gamma.at[i]);
          dots.x = plus(dots.x, d[k].at[i]);
          dots.y = fmaf(d[k].at[i], x[k].at[i], dots.y);
        }
      }
    });
    if (sum != nullptr) {
      dots = total(dots, turn);
    }
    for_chunks(row, width, [&](int k, int column, u64 place) {
      if (sum != nullptr) {
        const float inverse = make[2 * width + rows + row];
        const float of_mean = __fmul_rn(dots.x, share);
        const float of_deviation = __fmul_rn(dots.y, share);
#pragma unroll
        for (int i = 0; i < LANES; ++i) {
          const float rest = fmaf(-x[k].at[i], of_deviation, __fsub_rn(d[k].at[i], of_mean));
          d[k].at[i] = __fmul_rn(rest, inverse);
        }
        store_away(of_sum + place, d[k]);
      }
      if (of_added != nullptr) {
        float factor[LANES];
        draw(seed, place, dropped, scale, factor);
#pragma unroll
        for (int i = 0; i < LANES; ++i) {
          d[k].at[i] = times(d[k].at[i], factor[i]);
          sums[2][k * LANES + i] = plus(sums[2][k * LANES + i], d[k].at[i]);
        }
        Chunk<Given> small;
        narrow(d[k].at, small);
        store(of_added + place, small);
      }
    });
  }
  float* to = parts + (u64) blockIdx.x * 3 * width;
#if TEAMS > 1
  __shared__ float totals[3][CHUNKS * THREADS * LANES];
  for (int team = 0; team < TEAMS; ++team) {
    if (threadIdx.x / THREADS == team) {
#pragma unroll
      for (int i = 0; i < 3 * CHUNKS * LANES; ++i) {
        const int which = i / (CHUNKS * LANES), k = i / LANES % CHUNKS;
        float& total = totals[which][(k * THREADS + lane) * LANES + i % LANES];
        const float own = sums[which][i % (CHUNKS * LANES)];
        total = team == 0 ? own : plus(total, own);
      }
    }
    __syncthreads();
  }
  for (int column = threadIdx.x; column < width; column += THREADS * TEAMS) {
#pragma unroll
    for (int which = 0; which < 3; ++which) {
      to[which * width + column] = totals[which][column];
    }
  }
#else
#pragma unroll
  for (int i = 0; i < 3 * CHUNKS * LANES; ++i) {
    const int column = (i / LANES % CHUNKS * THREADS + lane) * LANES + i % LANES;
    if (column < width) {
      to[i / (CHUNKS * LANES) * width + column] = sums[i / (CHUNKS * LANES)][i % (CHUNKS * LANES)];
    }
  }
#endif
}
