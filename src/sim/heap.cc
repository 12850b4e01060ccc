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
// Addresses set aside once; memory only where they are used. Beyond them malloc serves again.
constexpr size_t kSpace = size_t{1} << 34;

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
constinit std::atomic<char*> space_begin{nullptr};
constinit std::atomic<uintptr_t> space_size{0};  // 0 until there is one
constinit std::atomic<size_t> space_used{0};

void ask_for_space() {
  void* got =
      mmap(nullptr, kSpace, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return;
  madvise(got, kSpace, MADV_HUGEPAGE);  // worlds touch some megabytes all over; refused, it is only slower
  const size_t past = reinterpret_cast<uintptr_t>(got) % kChunk;
  const size_t skipped = past == 0 ? 0 : kChunk - past;
  space_begin.store(static_cast<char*>(got) + skipped, std::memory_order_relaxed);
  space_size.store(kSpace - skipped, std::memory_order_release);
}

bool is_in_space(const void* at) {
  const uintptr_t size = space_size.load(std::memory_order_acquire);
  return reinterpret_cast<uintptr_t>(at) -
             reinterpret_cast<uintptr_t>(space_begin.load(std::memory_order_relaxed)) <
         size;
}

// A block that was never used; null when there is no room for one.
void* fresh_block(size_t which) {
  const size_t size = which * kGrain;
  if (static_cast<size_t>(lists.end[which] - lists.fresh[which]) < size) {
    const size_t at = space_used.fetch_add(kChunk, std::memory_order_relaxed);
    if (at + kChunk > space_size.load(std::memory_order_acquire)) return nullptr;
    char* chunk = space_begin.load(std::memory_order_relaxed) + at;
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
