// Kernels over the rows of a matrix in which a thread stays in its columns, so that sums over rows,
// which are the gradients of offsets, come out on the way:
//   f = gelu(p + b), its gradients of p and b; matrices side by side in one, and the sums of their
//   columns.
//
// A block takes ACROSS * LANES columns of some rows. The last block of some columns to end adds up
// what all have found, in the order of rows, so that sums come out the same every time.
//
// Set by the compiler's options: HALF, whether the matrices are bf16 and not float; LANES, 8, 4 or 1.

#define ACROSS 32
#define DOWN (THREADS / ACROSS)
#define AHEAD 4

// Where a thread works: its first column, and its rows from first in steps of DOWN.
struct Place {
  int tile, chunk, chunks, column;
  u64 first, end;
};

__device__ inline Place my_place(u64 rows, int tiles) {
  Place p;
  p.chunks = gridDim.x / tiles;
  p.tile = blockIdx.x % tiles;
  p.chunk = blockIdx.x / tiles;
  p.column = (p.tile * ACROSS + threadIdx.x % ACROSS) * LANES;
  const u64 each = (rows + p.chunks - 1) / p.chunks;
  const u64 start = each * p.chunk;
  p.first = start + threadIdx.x / ACROSS;
  p.end = start + each < rows ? start + each : rows;
  return p;
}

// Calls use with the number of each row of a thread and what load has read of it, several at a time
// for their loads to overlap.
template <class Load, class Use>
__device__ inline void for_rows(const Place& p, Load load, Use use) {
  for (u64 row = p.first; row < p.end; row += AHEAD * DOWN) {
    decltype(load(row)) read[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      if (row + i * DOWN < p.end) {
        read[i] = load(row + i * DOWN);
      }
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      if (row + i * DOWN < p.end) {
        use(row + i * DOWN, read[i]);
      }
    }
  }
}

// Reads what other blocks have written, which a cache of this one may not have.
__device__ inline Chunk<float> load_late(const float* from) {
  Chunk<float> chunk;
#pragma unroll
  for (int i = 0; i < LANES; i += LANES < 4 ? 1 : 4) {
    if (LANES < 4) {
      chunk.at[i] = __ldcg(from + i);
    } else {
      const float4 four = __ldcg(reinterpret_cast<const float4*>(from + i));
      chunk.at[i] = four.x;
      chunk.at[i + 1 < LANES ? i + 1 : i] = four.y;
      chunk.at[i + 2 < LANES ? i + 2 : i] = four.z;
      chunk.at[i + 3 < LANES ? i + 3 : i] = four.w;
    }
  }
  return chunk;
}

// Adds up a block's sums of columns, and then those of all blocks. Counters are zero before and after.
__device__ inline void finish(
    const Place& p, float (&own)[LANES], int width, float* parts, float* totals, int* counters) {
  __shared__ float shared[DOWN][ACROSS * LANES];
  __shared__ bool is_last;
  const int lane = threadIdx.x % ACROSS, down = threadIdx.x / ACROSS;
#pragma unroll
  for (int i = 0; i < LANES; ++i) {
    shared[down][lane * LANES + i] = own[i];
  }
  __syncthreads();
  const int start = p.tile * ACROSS * LANES;
  for (int c = threadIdx.x; c < ACROSS * LANES && start + c < width; c += THREADS) {
    float sum = shared[0][c];
#pragma unroll
    for (int i = 1; i < DOWN; ++i) {
      sum += shared[i][c];
    }
    parts[(u64) p.chunk * width + start + c] = sum;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(counters + p.tile, 1) == p.chunks - 1;
  }
  __syncthreads();
  if (!is_last) {
    return;
  }
  __threadfence();
#pragma unroll
  for (int i = 0; i < LANES; ++i) {
    own[i] = 0;
  }
  if (p.column < width) {
#pragma unroll 8
    for (int chunk = down; chunk < p.chunks; chunk += DOWN) {
      const Chunk<float> more = load_late(parts + (u64) chunk * width + p.column);
#pragma unroll
      for (int i = 0; i < LANES; ++i) {
        own[i] += more.at[i];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < LANES; ++i) {
    shared[down][lane * LANES + i] = own[i];
  }
  __syncthreads();
  for (int c = threadIdx.x; c < ACROSS * LANES && start + c < width; c += THREADS) {
    float sum = shared[0][c];
#pragma unroll
    for (int i = 1; i < DOWN; ++i) {
      sum += shared[i][c];
    }
    totals[start + c] = sum;
  }
  if (threadIdx.x == 0) {
    counters[p.tile] = 0;
  }
}

// The share of a normal distribution beyond |x|, and its density there. In bf16, where erfcf would
// take longer than memory does, by an approximation of our own: erfc(z) = exp(-z z) t Q(t) with
// t = 1 / (1 + 0.45 z), to 1e-5 of itself for all z >= 0.
struct Normal {
  float beyond, density;
};

__device__ inline Normal normal(float x) {
  Normal n;
#if HALF
  float t, e;
  const float nearness = fmaf(0.318198052f, fabsf(x), 1.0f);
  const float exponent = x * x * -0.721347520f;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(t) : "f"(nearness));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(exponent));
  float q = fmaf(-0.0674455875f, t, 0.144602589f);
  q = fmaf(q, t, 0.0465489897f);
  q = fmaf(q, t, 0.123207351f);
  q = fmaf(q, t, 0.126124987f);
  q = fmaf(q, t, 0.126957138f);
  n.beyond = e * t * q;
  n.density = 0.398942280f * e;
#else
  n.beyond = 0.5f * erfcf(0.707106781f * fabsf(x));
  n.density = 0.398942280f * expf(-0.5f * x * x);
#endif
  return n;
}

// x times the share below it.
__device__ inline float gelu(float x, const Normal& n) {
  return fmaf(-fabsf(x), n.beyond, fmaxf(x, 0.0f));
}

__device__ inline float gelu_slope(float x, const Normal& n) {
  return fmaf(x, n.density, x < 0 ? n.beyond : 1.0f - n.beyond);
}

__device__ inline void load_offsets(const float* offset, int column, float (&to)[LANES]) {
#pragma unroll
  for (int i = 0; i < LANES; ++i) {
    to[i] = offset[column + i];
  }
}

extern "C" __global__ void bias_gelu(
    const Given* __restrict__ input,
    const float* __restrict__ offset,
    Given* __restrict__ output,
    u64 rows,
    int width,
    int tiles) {
  const Place p = my_place(rows, tiles);
  if (p.column >= width) {
    return;
  }
  float b[LANES];
  load_offsets(offset, p.column, b);
  for_rows(
      p,
      [&](u64 row) { return load(input + row * width + p.column); },
      [&](u64 row, const Chunk<Given>& in) {
        Chunk<Given> out;
        float value[LANES];
#pragma unroll
        for (int i = 0; i < LANES; ++i) {
          const float x = widened(in.at[i]) + b[i];
          value[i] = gelu(x, normal(x));
        }
        narrow(value, out);
        store(output + row * width + p.column, out);
      });
}

struct Both {
  Chunk<Given> input, gradient;
};

// The result may lie where the gradient was, and gelu itself, if it is asked for, where the input was:
// what a thread writes depends on what it has read there, and no other thread reads it.
extern "C" __global__ void bias_gelu_gradient(
    const Given* gradient,
    const Given* input,
    const float* __restrict__ offset,
    Given* result,
    Given* output,
    float* __restrict__ parts,
    float* __restrict__ totals,
    int* __restrict__ counters,
    u64 rows,
    int width,
    int tiles) {
  const Place p = my_place(rows, tiles);
  float sums[LANES] = {};
  if (p.column < width) {
    float b[LANES];
    load_offsets(offset, p.column, b);
    for_rows(
        p,
        [&](u64 row) {
          const u64 place = row * width + p.column;
          return Both{load(input + place), load(gradient + place)};
        },
        [&](u64 row, const Both& both) {
          const u64 place = row * width + p.column;
          Chunk<Given> out;
          float r[LANES], f[LANES];
#pragma unroll
          for (int i = 0; i < LANES; ++i) {
            const float x = widened(both.input.at[i]) + b[i];
            const Normal n = normal(x);
            f[i] = gelu(x, n);
            r[i] = widened(both.gradient.at[i]) * gelu_slope(x, n);
            sums[i] += r[i];
          }
          narrow(r, out);
          store(result + place, out);
          if (output != nullptr) {
            narrow(f, out);
            store(output + place, out);
          }
        });
  }
  finish(p, sums, width, parts, totals, counters);
}

// Up to three matrices of the same shape, whose rows lie stride elements apart, side by side.
extern "C" __global__ void columns_joined(
    const Given* __restrict__ first,
    const Given* __restrict__ second,
    const Given* __restrict__ third,
    Given* __restrict__ joined,
    float* __restrict__ parts,
    float* __restrict__ totals,
    int* __restrict__ counters,
    u64 rows,
    int width,
    int tiles,
    int each,
    u64 stride) {
  const Place p = my_place(rows, tiles);
  float sums[LANES] = {};
  if (p.column < width) {
    const int which = p.column / each;
    const Given* from = (which == 0 ? first : which == 1 ? second : third) + p.column % each;
    for_rows(
        p,
        [&](u64 row) { return load(from + row * stride); },
        [&](u64 row, const Chunk<Given>& g) {
#pragma unroll
          for (int i = 0; i < LANES; ++i) {
            sums[i] += widened(g.at[i]);
          }
          if (joined != nullptr) {
            store(joined + row * width + p.column, g);
          }
        });
  }
  finish(p, sums, width, parts, totals, counters);
}
