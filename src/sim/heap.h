// The memory of simulated worlds. A world is one thread and some twenty thousand small
// allocations, nearly all of them parts of documents that go while it runs; malloc took a fifth of
// its time. While a HeapScope lives, what its thread asks of operator new comes from that thread's
// own lists of blocks of one size. Everything else, and every other thread, is served by malloc.
//
// A block may be freed by any thread, inside a scope or after it: it goes to the lists of the thread
// that frees it. Blocks stay with the process, for the next world, so whatever outlives a world
// (a report, a table made on first use) is as good as from malloc. With sanitizers, which want to
// see every allocation, a scope does nothing.
#pragma once

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

}  // namespace trainyard::sim
