// Arena: memory for documents that are read together. Until it is sealed it hands out pieces of a
// few large blocks, which is much faster than asking for each; what is asked for later, when those
// documents are copied and changed, comes from the heap. A resource of Boost.JSON, kept by whatever
// was made with it: its blocks stay as long as any of those documents or of their copies.
//
// One thread before it is sealed; any after.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "base/check.h"
#include "kube/json.h"

namespace trainyard::hub {

class Arena final : public json::memory_resource {
 public:
  // `bytes` is about how much will be asked for. What it is kept by hides it: `self` is told where it is.
  Arena(size_t bytes, Arena*& self) : block_bytes_(std::min(std::max(bytes, kBlockMin), kBlockMax)) {
    self = this;
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void seal() { sealed_ = true; }

 private:
  static constexpr size_t kBlockMin = 512;
  static constexpr size_t kBlockMax = 1 << 20;

  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    size_t size = 0;
  };

  void* do_allocate(size_t size, size_t alignment) override {
    if (sealed_ || size > kBlockMax / 4) return ::operator new(size, std::align_val_t(alignment));
    if (void* piece = std::align(alignment, size, next_, left_)) return advance(piece, size);
    size_t room = std::max(block_bytes_, size + alignment);
    blocks_.push_back({std::unique_ptr<std::byte[]>(new std::byte[room]), room});
    next_ = blocks_.back().bytes.get();
    left_ = room;
    void* piece = std::align(alignment, size, next_, left_);
    CHECK(piece != nullptr);
    return advance(piece, size);
  }
  void do_deallocate(void* piece, size_t, size_t alignment) override {
    if (!owns(piece)) ::operator delete(piece, std::align_val_t(alignment));
  }
  bool do_is_equal(const json::memory_resource& other) const noexcept override { return this == &other; }

  void* advance(void* piece, size_t size) {
    next_ = static_cast<std::byte*>(piece) + size;
    left_ -= size;
    return piece;
  }
  bool owns(const void* piece) const {
    std::less<const void*> before;
    for (const Block& block : blocks_) {
      if (!before(piece, block.bytes.get()) && before(piece, block.bytes.get() + block.size)) return true;
    }
    return false;
  }

  const size_t block_bytes_;
  bool sealed_ = false;
  std::vector<Block> blocks_;
  void* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace trainyard::hub
