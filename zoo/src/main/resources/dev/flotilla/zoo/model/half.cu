// Parameters of float32 one behind the other in bf16: of up to six tensors, each thread takes LANES
// elements. One that is absent counts as zeros. LANES is 4, or 1 where a tensor has another number of elements or begins elsewhere than
// at a multiple of 16 bytes.


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
  const float* tensor = place < first_end    ? first
                        : place < second_end ? second
                        : place < third_end  ? third
                        : place < fourth_end ? fourth
                        : place < fifth_end  ? fifth
                                             : sixth;
  const u64 start = place < first_end    ? 0
                    : place < second_end ? first_end
                    : place < third_end  ? second_end
                    : place < fourth_end ? third_end
                    : place < fifth_end  ? fourth_end
                                         : fifth_end;
  Chunk<float> whole = {};
  if (tensor != nullptr) {
    whole = load(tensor + (place - start));
  }
  Chunk<bf16> half;
  narrow(whole.at, half);
  store(result + place, half);
}
