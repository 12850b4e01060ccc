#include "sim/heap.h"

#ifdef TRAINYARD_PLAIN_HEAP

namespace trainyard::sim {

HeapScope::HeapScope() = default;
HeapScope::~HeapScope() = default;
bool is_heap_block(const void*) { return false; }
void* heap_allocate(size_t size) { return ::operator new(size); }
void heap_release(void* at) noexcept { ::operator delete(at); }

}  // namespace trainyard::sim

#else

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace trainyard::sim {

namespace {

constexpr size_t kGrain = 16;
constexpr size_t kBlockMax = 4096;  // what is larger is rare
constexpr size_t kClasses = kBlockMax / kGrain + 1;
// Blocks of one class lie in chunks that begin, at a multiple of their size, with the class.
constexpr size_t kChunk = size_t{1} << 16;
constexpr size_t kChunkHead = 64;
// Addresses set aside once, beginning at a multiple of their size: the upper bits of an address tell whether
// it is one of them. Memory only where they are used. Beyond them malloc serves again.
constexpr int kSpaceBits = 34;
constexpr size_t kSpace = size_t{1} << kSpaceBits;

struct Block {
  Block* next;
};

struct Lists {
  int scopes;
  size_t served;  // sizes up to this one come from here: 0 outside of a scope
  Block* free[kClasses];
  char* fresh[kClasses];  // of the chunk last begun: where its unused part begins
  char* end[kClasses];
};

thread_local constinit Lists lists{};
std::once_flag space_asked;
constexpr uintptr_t kNoSpace = ~uintptr_t{0};
constinit std::atomic<uintptr_t> space_number{kNoSpace};  // the upper bits of its addresses
constinit std::atomic<size_t> space_used{0};

void ask_for_space() {
  // Twice as many hold one such piece; the others are never touched.
  void* got =
      mmap(nullptr, 2 * kSpace, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return;
  const uintptr_t number = (reinterpret_cast<uintptr_t>(got) + kSpace - 1) >> kSpaceBits;
  // Worlds touch some megabytes all over; refused, it is only slower.
  madvise(reinterpret_cast<void*>(number << kSpaceBits), kSpace, MADV_HUGEPAGE);
  space_number.store(number, std::memory_order_release);
}

bool is_in_space(const void* at) {
  return reinterpret_cast<uintptr_t>(at) >> kSpaceBits == space_number.load(std::memory_order_acquire);
}

// A block that was never used; null when there is no room for one.
void* fresh_block(size_t which) {
  const size_t size = which * kGrain;
  if (static_cast<size_t>(lists.end[which] - lists.fresh[which]) < size) {
    const uintptr_t number = space_number.load(std::memory_order_acquire);
    const size_t at = space_used.fetch_add(kChunk, std::memory_order_relaxed);
    if (number == kNoSpace || at + kChunk > kSpace) return nullptr;
    char* chunk = reinterpret_cast<char*>(number << kSpaceBits) + at;
    ::new (chunk) size_t{which};
    lists.fresh[which] = chunk + kChunkHead;
    lists.end[which] = chunk + kChunk;
  }
  return std::exchange(lists.fresh[which], lists.fresh[which] + size);
}

void* from_malloc(size_t size) {
  while (true) {
    if (void* got = std::malloc(size == 0 ? 1 : size)) return got;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

HeapScope::HeapScope() {
  std::call_once(space_asked, ask_for_space);
  ++lists.scopes;
  lists.served = kBlockMax;
}

HeapScope::~HeapScope() {
  if (--lists.scopes == 0) lists.served = 0;
}

bool is_heap_block(const void* at) { return is_in_space(at); }

void* heap_allocate(size_t size) {
  if (size - 1 >= lists.served) return from_malloc(size);  // of nothing too: it is rare
  const size_t which = (size + kGrain - 1) / kGrain;
  if (Block* block = lists.free[which]) {
    __builtin_prefetch(block->next, 1);  // the next to be handed out: most of them have left the cache
    lists.free[which] = block->next;
    return block;
  }
  void* fresh = fresh_block(which);
  return fresh != nullptr ? fresh : from_malloc(size);
}

void heap_release(void* at) noexcept {
  if (!is_in_space(at)) {
    std::free(at);
    return;
  }
  const char* chunk = static_cast<char*>(at) - reinterpret_cast<uintptr_t>(at) % kChunk;
  const size_t which = *reinterpret_cast<const size_t*>(chunk);
  lists.free[which] = ::new (at) Block{lists.free[which]};
}

}  // namespace trainyard::sim

#endif
