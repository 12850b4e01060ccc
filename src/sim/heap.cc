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

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <utility>

namespace trainyard::sim {

namespace {

constexpr size_t kGrain = 16;
constexpr size_t kBlockMax = 4096;  // what is larger is rare
constexpr size_t kClasses = kBlockMax / kGrain + 1;
// Blocks of one class lie in chunks that begin, at a multiple of their size, with what is known of them.
constexpr size_t kChunk = size_t{1} << 16;
constexpr size_t kChunkHead = 64;
// Addresses set aside once, beginning at a multiple of their size: the upper bits of an address tell whether
// it is one of them. Memory only where they are used. Beyond them malloc serves again.
constexpr int kSpaceBits = 34;
constexpr size_t kSpace = size_t{1} << kSpaceBits;

struct Block {
  Block* next;
};

struct Lists;

// A chunk belongs to the thread that began it: nobody else writes here.
struct Chunk {
  const Lists* owner;
  Block* free;        // given back, the newest first
  char* fresh;        // where the unused part begins
  uint32_t unused;    // blocks in it
  uint32_t taken;     // blocks
  uint32_t which;     // its class
  bool is_exhausted;  // neither the current one of its class nor among those with room
  Chunk* with_room;   // the next of those
  Chunk* older;       // of its thread
};
static_assert(sizeof(Chunk) <= kChunkHead);

struct Lists {
  int scopes;
  size_t served;             // sizes up to this one come from here: 0 outside of a scope
  Chunk* current[kClasses];  // from which blocks are taken
  Chunk* room[kClasses];     // others that have some
  Block* strays[kClasses];   // of other threads' chunks, given back here
  Chunk* newest;             // of all
};

thread_local constinit Lists lists{};
constinit Chunk no_chunk{};  // the current one where there is none; never written
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

Chunk* chunk_around(const void* at) {
  return reinterpret_cast<Chunk*>(reinterpret_cast<uintptr_t>(at) / kChunk * kChunk);
}

void make_unused(Chunk* chunk) {
  chunk->free = nullptr;
  chunk->fresh = reinterpret_cast<char*>(chunk) + kChunkHead;
  chunk->unused = static_cast<uint32_t>((kChunk - kChunkHead) / (chunk->which * kGrain));
}

void* take_from(Chunk* chunk) {
  if (Block* block = chunk->free) {
    __builtin_prefetch(block->next, 1);  // the next to be handed out
    chunk->free = block->next;
    ++chunk->taken;
    return block;
  }
  if (chunk->unused == 0) return nullptr;
  --chunk->unused;
  ++chunk->taken;
  return std::exchange(chunk->fresh, chunk->fresh + chunk->which * kGrain);
}

// Null when there is no room for one.
Chunk* new_chunk(size_t which) {
  const uintptr_t number = space_number.load(std::memory_order_acquire);
  const size_t at = space_used.fetch_add(kChunk, std::memory_order_relaxed);
  if (number == kNoSpace || at + kChunk > kSpace) return nullptr;
  void* memory = reinterpret_cast<char*>(number << kSpaceBits) + at;
  auto* chunk = ::new (memory) Chunk{.owner = &lists, .which = static_cast<uint32_t>(which)};
  make_unused(chunk);
  chunk->older = std::exchange(lists.newest, chunk);
  return chunk;
}

// From another chunk than the current one, which has nothing left.
void* take_elsewhere(size_t which) {
  Chunk* chunk = lists.room[which];
  if (chunk != nullptr) {
    lists.room[which] = chunk->with_room;
  } else if (Block* stray = lists.strays[which]) {
    lists.strays[which] = stray->next;
    return stray;
  } else if (chunk = new_chunk(which); chunk == nullptr) {
    return nullptr;
  }
  Chunk* before = std::exchange(lists.current[which], chunk);
  if (before != &no_chunk) before->is_exhausted = true;
  return take_from(chunk);
}

// What a world leaves behind is all over its chunks. Those of which nothing is taken any more are begun anew,
// so the next world finds what it asks for in a row, the oldest chunk first.
void put_in_order() {
  std::fill(std::begin(lists.current), std::end(lists.current), &no_chunk);
  std::fill(std::begin(lists.room), std::end(lists.room), nullptr);
  for (Chunk* chunk = lists.newest; chunk != nullptr; chunk = chunk->older) {
    if (chunk->taken == 0) make_unused(chunk);
    chunk->is_exhausted = chunk->free == nullptr && chunk->unused == 0;
    if (!chunk->is_exhausted) chunk->with_room = std::exchange(lists.room[chunk->which], chunk);
  }
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
  if (lists.scopes++ > 0) return;
  put_in_order();
  lists.served = kBlockMax;
}

HeapScope::~HeapScope() {
  if (--lists.scopes == 0) lists.served = 0;
}

bool is_heap_block(const void* at) { return is_in_space(at); }

void* heap_allocate(size_t size) {
  if (size - 1 >= lists.served) return from_malloc(size);  // of nothing too: it is rare
  const size_t which = (size + kGrain - 1) / kGrain;
  if (void* block = take_from(lists.current[which])) return block;
  void* block = take_elsewhere(which);
  return block != nullptr ? block : from_malloc(size);
}

void heap_release(void* at) noexcept {
  if (!is_in_space(at)) {
    std::free(at);
    return;
  }
  Chunk* chunk = chunk_around(at);
  if (chunk->owner != &lists) {
    lists.strays[chunk->which] = ::new (at) Block{lists.strays[chunk->which]};
    return;
  }
  chunk->free = ::new (at) Block{chunk->free};
  --chunk->taken;
  if (!chunk->is_exhausted) return;
  chunk->is_exhausted = false;
  chunk->with_room = std::exchange(lists.room[chunk->which], chunk);
}

}  // namespace trainyard::sim

#endif
