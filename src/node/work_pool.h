// WorkPool: a few threads that run what they are given, in the order given when there is
// one of them. So that calls which wait for a disk wait together. Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace trainyard::node {

class WorkPool {
 public:
  WorkPool(int threads, size_t queue_max);
  ~WorkPool();  // runs what was submitted, then ends
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // False when too much is waiting already.
  bool submit(std::function<void()> work);

 private:
  void run();

  // Fixed.
  const size_t queue_max_;
  // State.
  std::mutex mutex_;
  std::condition_variable has_work_;
  std::deque<std::function<void()>> queue_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace trainyard::node
