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

// In front of a block stand its size, and as many bytes more as keep it aligned: large blocks to pages.
constexpr size_t kPage = 4096;
constexpr size_t kLarge = 64 * kPage;

size_t header_of(size_t size) { return size < kLarge ? c10::gAlignment : kPage; }

void release(void* data) {
  if (data == nullptr) {
    return;
  }
  size_t size;
  std::memcpy(&size, static_cast<char*>(data) - sizeof(size), sizeof(size));
  live_bytes.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
  c10::free_cpu(static_cast<char*>(data) - header_of(size));
}

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t size) override {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (size == 0) {
      return {nullptr, nullptr, &release, cpu};
    }
    void* data = static_cast<char*>(c10::alloc_cpu(size + header_of(size))) + header_of(size);
    std::memcpy(static_cast<char*>(data) - sizeof(size), &size, sizeof(size));
    live_bytes.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed);
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
