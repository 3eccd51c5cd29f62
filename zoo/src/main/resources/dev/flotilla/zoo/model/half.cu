// Parameters of float32 one behind the other in bf16: of up to six tensors, each thread takes LANES
// elements. LANES is 4, or 1 where a tensor has another number of elements or begins elsewhere than
// at a multiple of 16 bytes.

#define THREADS 256

extern "C" __global__ void halves(
    const float* first,
    u64 first_end,
    const float* second,
    u64 second_end,
    const float* third,
    u64 third_end,
    const float* fourth,
    u64 fourth_end,
    const float* fifth,
    u64 fifth_end,
    const float* sixth,
    u64 sixth_end,
    bf16* __restrict__ result) {
  const u64 place = ((u64) blockIdx.x * THREADS + threadIdx.x) * LANES;
  if (place >= sixth_end) {
    return;
  }
  const float* from = place < first_end    ? first + place
                      : place < second_end ? second + (place - first_end)
                      : place < third_end  ? third + (place - second_end)
                      : place < fourth_end ? fourth + (place - third_end)
                      : place < fifth_end  ? fifth + (place - fourth_end)
                                           : sixth + (place - fifth_end);
  const Chunk<float> whole = load(from);
  Chunk<bf16> half;
  narrow(whole.at, half);
  store(result + place, half);
}
