// operator new and delete of a program that simulates and does nothing else, in place of the library's:
// worlds have their own heap (heap.h). Those for arrays and those that do not throw end here too.
//
// REQUIRES: included by exactly one file of a program. The product does not include it: it is measured by its
// memory, and serves other things than worlds.
#pragma once

#include "sim/heap.h"

#ifndef TRAINYARD_PLAIN_HEAP

// NOLINTBEGIN(misc-definitions-in-headers): one file of a program, as said above; they may not be inline
void* operator new(size_t size) { return trainyard::sim::heap_allocate(size); }
void operator delete(void* at) noexcept { trainyard::sim::heap_release(at); }
void operator delete(void* at, size_t) noexcept { trainyard::sim::heap_release(at); }
// NOLINTEND(misc-definitions-in-headers)

#endif
