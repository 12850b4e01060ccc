// The memory of simulated worlds. A world is one thread and some twenty thousand small
// allocations, nearly all of them parts of documents that go while it runs; malloc took a fifth of
// its time. While a HeapScope lives, what its thread asks of operator new comes from that thread's
// own lists of blocks of one size. Everything else, and every other thread, is served by malloc.
// That is so in programs that take their operators from heap_operators.h; in all others, the
// product among them, a scope does nothing.
//
// A block may be freed by any thread, inside a scope or after it: that of another thread's chunk stays with
// the thread that frees it. Blocks stay with the process, for the next world, so whatever outlives a world
// (a report, a table made on first use) is as good as from malloc. A scope that begins finds what nobody
// holds any more in the order of addresses, as if it were new: what is made one after the other lies
// together. With sanitizers, which want to see every allocation, a scope does nothing.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRAINYARD_PLAIN_HEAP
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TRAINYARD_PLAIN_HEAP
#endif
#endif

namespace trainyard::sim {

class HeapScope {
 public:
  HeapScope();
  HeapScope(const HeapScope&) = delete;
  HeapScope& operator=(const HeapScope&) = delete;
  ~HeapScope();
};

// Whether it is a block of such a list, taken or free.
bool is_heap_block(const void* at);

// What the operators are made of.
void* heap_allocate(size_t size);
void heap_release(void* at) noexcept;

}  // namespace trainyard::sim
