// Counts the bytes of tensors in main memory. libtorch's build for arm64 has an allocator of its own inside, whose
// blocks the C library's figures do not show; plans for a memory budget and tests for leaks need them.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/alignment.h>
#include <c10/core/impl/alloc_cpu.h>

#include <atomic>
#include <cstring>

namespace {

std::atomic<int64_t> live_bytes{0};

// The size stands in front of a block, in as many bytes as keep the block aligned.
constexpr size_t kHeader = c10::gAlignment;

void release(void* data) {
  if (data == nullptr) {
    return;
  }
  char* block = static_cast<char*>(data) - kHeader;
  size_t size;
  std::memcpy(&size, block, sizeof(size));
  live_bytes.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
  c10::free_cpu(block);
}

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t size) override {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (size == 0) {
      return {nullptr, nullptr, &release, cpu};
    }
    char* block = static_cast<char*>(c10::alloc_cpu(size + kHeader));
    std::memcpy(block, &size, sizeof(size));
    live_bytes.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed);
    void* data = block + kHeader;
    return {data, data, &release, cpu};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &release; }

  void copy_data(void* dest, const void* src, std::size_t count) const override { default_copy_data(dest, src, count); }
};

__attribute__((constructor)) void install() {
  // Never destroyed: tensors may outlive everything else in the process.
  c10::SetCPUAllocator(new CountingAllocator());
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int64_t flotilla_live_tensor_bytes() {
  return live_bytes.load(std::memory_order_relaxed);
}
