// WorkThreads: a few threads for what waits for somebody else, a pod or the node that runs it, so that
// no connection's thread does. They begin when they are needed. Thread-safe.
//
// What was submitted is carried out even when it goes, before its destructor returns.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace trainyard::server {

class WorkThreads {
 public:
  WorkThreads(size_t threads_max, size_t waiting_max)
      : threads_max_(threads_max), waiting_max_(waiting_max) {}
  ~WorkThreads();
  WorkThreads(const WorkThreads&) = delete;
  WorkThreads& operator=(const WorkThreads&) = delete;

  // False when too much waits already, or when no thread can be had.
  bool submit(std::function<void()> work);

 private:
  bool begin_thread();
  void run();

  // Fixed.
  const size_t threads_max_;
  const size_t waiting_max_;
  // State.
  std::mutex mutex_;
  std::condition_variable has_work_;
  std::deque<std::function<void()>> work_;
  size_t idle_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace trainyard::server
