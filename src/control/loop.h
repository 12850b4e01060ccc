// Loop: the thread that drives a controller (steps.h) over a real client: it sends the
// lists, opens the watches, carries in what they tell, lets the controller work and sleeps
// in between. Resource; start() and stop() from one thread.
//
// A controller in a loop does what it does in the simulator, where the world drives it.
// With workers, lists are sent by them, so that a slow server does not keep the loop from
// its other streams, and while the controller takes a page in the next one is on its way;
// without, the loop waits for each.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>

#include "client/client.h"
#include "client/watch_source.h"
#include "control/steps.h"
#include "control/workers.h"

namespace trainyard::control {

class Loop {
 public:
  using Clock = std::function<Time()>;

  // Everything is borrowed and outlives the loop. REQUIRES: workers are stopped before the
  // loop goes, and after stop().
  Loop(Steps& steps, client::Client& client, client::WatchSource& watches, Clock clock,
       Workers* workers = nullptr);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void start();
  // Finishes the step that is under way, then ends. Idempotent.
  void stop();

 private:
  struct Opened {};
  struct Closed {
    std::optional<Error> error;
  };
  struct Listed {
    Result<client::Reply> reply;
  };
  struct Incoming {
    int stream = 0;
    int64_t number = 0;  // which list or watch of the stream; what an old one says is ignored
    std::variant<client::WatchEvent, Opened, Closed, Listed> what;
  };
  struct Watch {
    int64_t number = 0;
    std::unique_ptr<client::OpenWatch> open;
  };
  // A page with the workers: one that was asked for, or the one that will be asked for next.
  struct Page {
    int64_t number = 0;
    kube::Request request;
    bool is_wanted = false;
    std::optional<Result<client::Reply>> reply;  // before it was wanted
  };

  void run();
  void take_in();
  void take(Incoming& one);
  void ask();
  void ask_for_page(StreamRequest wanted);
  void send_page(int stream, kube::Request request, bool is_wanted);
  void page_came(int stream, int64_t number, Result<client::Reply> reply);
  void answer_page(int stream, const Result<client::Reply>& reply);
  void open_watch(const StreamRequest& wanted);
  void put(Incoming incoming);
  void sleep();
  bool stopping();
  bool is_crowded();

  // Fixed.
  Steps& steps_;
  client::Client& client_;
  client::WatchSource& watches_;
  Clock clock_;
  Workers* workers_;
  // State of the loop's thread.
  std::map<int, Watch> open_;
  std::map<int, Page> pages_;
  int64_t numbers_ = 0;  // given to lists and watches
  // Shared with the threads that bring events.
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Incoming> incoming_;
  bool roused_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace trainyard::control
