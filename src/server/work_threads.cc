#include "server/work_threads.h"

namespace trainyard::server {

WorkThreads::~WorkThreads() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  has_work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkThreads::submit(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  if (work_.size() >= waiting_max_) return false;
  work_.push_back(std::move(work));
  if (work_.size() > idle_ && threads_.size() < threads_max_) threads_.emplace_back([this] { run(); });
  has_work_.notify_one();
  return true;
}

void WorkThreads::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    has_work_.wait(lock, [this] { return ending_ || !work_.empty(); });
    --idle_;
    if (work_.empty()) return;
    std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
}

}  // namespace trainyard::server
