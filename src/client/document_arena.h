// DocumentArena: makes a JSON document whose parts lie together in memory of their own, which goes at once
// with the document: nothing of it is counted, looked at or given back part by part.
//
// Boost.JSON puts a copy of a part where the part itself lies, and of a document that is kept copies are made
// for as long as it is kept, on any thread, and some outlive it. So no part refers to the arena: all refer to
// one memory that is always there. It gives what is asked for from the arena that a thread is making a
// document in, and from the heap to everybody else.
//
// One thread. Between its beginning and whole() the thread makes this document and no other value.
#pragma once

#include <cstddef>

#include "client/client.h"
#include "kube/json.h"

namespace trainyard::client {

class DocumentArena {
 public:
  // `expected`: how many bytes the document is likely to take.
  explicit DocumentArena(size_t expected);
  ~DocumentArena();
  DocumentArena(const DocumentArena&) = delete;
  DocumentArena& operator=(const DocumentArena&) = delete;

  // Where the document is made.
  static json::storage_ptr storage();
  // The document, for as long as somebody holds it. REQUIRES: it and all its parts were made in storage()
  // since this arena was begun; called once.
  Object whole(json::object document);

 private:
  class Memory;
  struct Block;
  struct Held;

  void* give(size_t bytes);
  void stop_giving();

  DocumentArena* outer_;  // in which this thread was making a document before
  size_t block_size_;
  Block* blocks_ = nullptr;  // the newest first
  char* free_ = nullptr;     // of the newest
  char* end_ = nullptr;
  bool gives_ = true;
};

}  // namespace trainyard::client
