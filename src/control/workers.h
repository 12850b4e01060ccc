// Workers: threads that carry out what would keep a loop waiting: the talking to the server of
// several passes at once, lists, the lease. Resource; run() from any thread.
//
// Work is taken in the order in which it was given. One thread is kept for what is urgent,
// so that a lease is renewed however busy the others are.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace trainyard::control {

class Workers {
 public:
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const { return static_cast<int>(threads_.size()) - 1; }
  void run(std::function<void()> work) { put(usual_, std::move(work)); }
  void run_urgent(std::function<void()> work) { put(urgent_, std::move(work)); }
  // Whether none of them is free, the one for what is urgent aside.
  bool busy();
  // Finishes what was given, then ends. Idempotent; nothing may be given afterwards.
  void stop();

 private:
  struct Line {
    std::deque<std::function<void()>> work;
    std::condition_variable changed;
    int free = 0;  // threads that wait for work
  };
  void put(Line& line, std::function<void()> work);
  void serve(Line& line);

  std::mutex mutex_;
  Line usual_;
  Line urgent_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace trainyard::control
