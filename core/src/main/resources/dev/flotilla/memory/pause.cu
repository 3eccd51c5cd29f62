// Does nothing for so many nanoseconds.

__device__ inline unsigned long long now() {
  unsigned long long nanos;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanos));
  return nanos;
}

extern "C" __global__ void pause(unsigned long long nanos) {
  const unsigned long long start = now();
  while (now() - start < nanos) {
  }
}
