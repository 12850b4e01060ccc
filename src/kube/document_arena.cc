#include "kube/document_arena.h"

#include <algorithm>
#include <cstdint>
#include <new>

#include "kube/parse_into.h"

namespace trainyard::kube {

// What is given away follows it.
struct alignas(std::max_align_t) DocumentArena::Block {
  Block* older;
  size_t size;

  char* begin() { return reinterpret_cast<char*>(this + 1); }
  char* end() { return begin() + size; }
};

namespace {

constexpr size_t kBytesPerByteOfText = 3;  // about what a document takes
constexpr size_t kFurtherBytesMin = 1'024;

char* aligned(char* at, size_t align) {
  return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(at) + align - 1) / align * align);
}

}  // namespace

DocumentArena::Made DocumentArena::make(size_t expected) {
  Made made{{}, nullptr};
  made.storage = json::make_shared_resource<DocumentArena>(expected, made.arena);
  return made;
}

DocumentArena::~DocumentArena() {
  while (blocks_ != nullptr) {
    Block* older = blocks_->older;
    ::operator delete(blocks_);
    blocks_ = older;
  }
}

size_t DocumentArena::held() const {
  size_t bytes = 0;
  for (Block* block = blocks_; block != nullptr; block = block->older) bytes += block->size;
  return bytes;
}

bool DocumentArena::owns(const void* part) const {
  const char* at = static_cast<const char*>(part);
  for (Block* block = blocks_; block != nullptr; block = block->older) {
    if (at >= block->begin() && at < block->end()) return true;
  }
  return false;
}

// Nothing of JSON needs a stricter alignment than the heap's.
void* DocumentArena::do_allocate(size_t bytes, size_t align) {
  if (frozen_) return ::operator new(bytes);
  char* part = blocks_ == nullptr ? nullptr : aligned(free_, align);
  if (part == nullptr || part > blocks_->end() || bytes > static_cast<size_t>(blocks_->end() - part)) {
    size_t size = std::max(next_size_, bytes);
    void* memory = ::operator new(sizeof(Block) + size);
    blocks_ = new (memory) Block{blocks_, size};
    next_size_ = std::max(kFurtherBytesMin, held());
    part = blocks_->begin();
  }
  free_ = part + bytes;
  return part;
}

void DocumentArena::do_deallocate(void* part, size_t, size_t) {
  if (frozen_ && !owns(part)) ::operator delete(part);
}

Result<json::value> parse_document(std::string_view text, int depth_max) {
  DocumentArena::Made made = DocumentArena::make(kBytesPerByteOfText * text.size());
  Result<json::value> parsed = parse_json_into(made.storage, text, depth_max);
  made.arena->freeze();
  return parsed;
}

}  // namespace trainyard::kube
