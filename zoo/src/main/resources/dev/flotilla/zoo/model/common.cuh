// What kernels share. HALF tells whether numbers that are given are bf16 and not float; LANES is how
// many elements are read at once; a team of THREADS works on one row, and a block has TEAMS of them.

typedef unsigned short bf16;
typedef unsigned long long u64;

#if HALF
typedef bf16 Given;
#else
typedef float Given;
#endif

__device__ inline float widened(float value) { return value; }

__device__ inline float widened(bf16 value) { return __uint_as_float((unsigned int) value << 16); }

__device__ inline void narrow(float value, float* to) { *to = value; }

// To the nearest, ties to even; a NaN stays one.
__device__ inline void narrow(float value, bf16* to) {
  const unsigned int bits = __float_as_uint(value);
  const unsigned int rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  *to = (bf16) (value != value ? 0x7fc0u : rounded);
}

template <class V>
struct alignas(sizeof(V) * LANES) Chunk {
  V at[LANES];
};

template <class V>
__device__ inline Chunk<V> load(const V* from) {
  return *reinterpret_cast<const Chunk<V>*>(from);
}

template <class V>
__device__ inline void store(V* to, const Chunk<V>& chunk) {
  *reinterpret_cast<Chunk<V>*>(to) = chunk;
}

__device__ inline void narrow(const float (&value)[LANES], Chunk<float>& to) {
#pragma unroll
  for (int i = 0; i < LANES; ++i) {
    to.at[i] = value[i];
  }
}

__device__ inline void narrow(const float (&value)[LANES], Chunk<bf16>& to) {
#if __CUDA_ARCH__ >= 800 && LANES % 2 == 0
#pragma unroll
  for (int i = 0; i < LANES; i += 2) {
    unsigned int both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(value[i + 1]), "f"(value[i]));
    reinterpret_cast<unsigned int*>(to.at)[i / 2] = both;
  }
#else
#pragma unroll
  for (int i = 0; i < LANES; ++i) {
    narrow(value[i], &to.at[i]);
  }
#endif
}

// Philox 4x32-10 (Salmon et al., 2011): four numbers for a seed and a place.
__device__ inline uint4 philox(u64 seed, u64 place) {
  unsigned int key0 = (unsigned int) seed, key1 = (unsigned int) (seed >> 32);
  uint4 c = {(unsigned int) place, (unsigned int) (place >> 32), 0u, 0u};
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned int high0 = __umulhi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
    const unsigned int high1 = __umulhi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
    c = {high1 ^ c.y ^ key0, low1, high0 ^ c.w ^ key1, low0};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c;
}

// Sets scales of four elements from a place that is a multiple of four: 0 where they are dropped.
__device__ inline void scales(
    u64 seed, u64 place, unsigned int dropped, float scale, float (&to)[4]) {
  if (dropped == 0) {
    to[0] = to[1] = to[2] = to[3] = scale;
    return;
  }
  const uint4 draw = philox(seed, place / 4);
  to[0] = draw.x >= dropped ? scale : 0;
  to[1] = draw.y >= dropped ? scale : 0;
  to[2] = draw.z >= dropped ? scale : 0;
  to[3] = draw.w >= dropped ? scale : 0;
}

// What is dropped counts as zero even if it is infinite.
__device__ inline float times(float value, float factor) { return factor == 0 ? 0 : value * factor; }

__device__ inline float from_lane(float value, int step) {
  return __shfl_xor_sync(0xffffffffu, value, step);
}

__device__ inline float2 from_lane(float2 value, int step) {
  return {from_lane(value.x, step), from_lane(value.y, step)};
}

// Combines a number of each thread of a team, for all of them, in the same order every time. Of two
// calls one after the other, one has turn 0 and the other has turn 1.
template <class V, class Op>
__device__ inline V over_team(V value, int turn, Op op) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    value = op(value, from_lane(value, step));
  }
#if THREADS > 32
  __shared__ V parts[2][TEAMS][THREADS / 32];
  V(&own)[THREADS / 32] = parts[turn][threadIdx.x / THREADS];
  if (threadIdx.x % 32 == 0) {
    own[threadIdx.x % THREADS / 32] = value;
  }
#if TEAMS == 1
  __syncthreads();
#else
  // A barrier for each team, as they do not wait for each other.
  asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.x / THREADS + 1), "n"(THREADS) : "memory");
#endif
  value = own[0];
#pragma unroll
  for (int i = 1; i < THREADS / 32; ++i) {
    value = op(value, own[i]);
  }
#endif
  return value;
}
