#include "client/document_arena.h"

#include <cstdint>
#include <new>

#include "base/check.h"

namespace trainyard::client {

// What is given away follows it.
struct DocumentArena::Block {
  Block* older;

  static void free_all(Block* newest) {
    while (newest != nullptr) ::operator delete(std::exchange(newest, newest->older));
  }
};

namespace {

// Parts of an arena lie half-way between two multiples of 16, those of the heap at one: so who gives a part
// back need not know whence it came. Nothing of JSON needs to lie otherwise.
constexpr size_t kStride = 16;
constexpr size_t kOffset = 8;
static_assert(alignof(json::value) <= kOffset && alignof(json::key_value_pair) <= kOffset);
static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= kStride);

constexpr size_t rounded(size_t bytes) { return (bytes + kStride - 1) / kStride * kStride; }

// The one that this thread makes a document in.
thread_local DocumentArena* current = nullptr;

}  // namespace

class DocumentArena::Memory final : public json::memory_resource {
  void* do_allocate(size_t bytes, size_t) override {
    return current != nullptr ? current->give(bytes) : ::operator new(bytes);
  }
  void do_deallocate(void* part, size_t, size_t) override {
    if (reinterpret_cast<uintptr_t>(part) % kStride == 0) ::operator delete(part);
  }
  bool do_is_equal(const json::memory_resource& other) const noexcept override { return this == &other; }
};

// A document and its memory. What lies there needs no end of its own.
struct DocumentArena::Held {
  Held(Block* memory, json::object&& made) : blocks(memory) { new (&document) json::object(std::move(made)); }
  ~Held() { Block::free_all(blocks); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  Block* blocks;
  union {
    json::object document;
  };
};

DocumentArena::DocumentArena(size_t expected)
    : outer_(std::exchange(current, this)), block_size_(rounded(expected)) {}

DocumentArena::~DocumentArena() {
  stop_giving();
  Block::free_all(blocks_);
}

json::storage_ptr DocumentArena::storage() {
  static Memory* const kMemory = new Memory;  // copies may outlive everything else
  return kMemory;
}

void* DocumentArena::give(size_t bytes) {
  const size_t size = rounded(bytes);
  if (static_cast<size_t>(end_ - free_) < size) {
    const size_t room = std::max(block_size_, size);
    void* memory = ::operator new(kStride + kOffset + room);
    static_assert(sizeof(Block) <= kStride + kOffset);
    blocks_ = new (memory) Block{blocks_};
    free_ = static_cast<char*>(memory) + kStride + kOffset;
    end_ = free_ + room;
  }
  return std::exchange(free_, free_ + size);
}

void DocumentArena::stop_giving() {
  if (!std::exchange(gives_, false)) return;
  CHECK(current == this);
  current = outer_;
}

Object DocumentArena::whole(json::object document) {
  stop_giving();
  CHECK(document.storage() == storage());
  auto held = std::make_shared<Held>(std::exchange(blocks_, nullptr), std::move(document));
  return {held, &held->document};
}

}  // namespace trainyard::client
