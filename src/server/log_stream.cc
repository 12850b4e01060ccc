#include "server/log_stream.h"

namespace trainyard::server {
namespace {

constexpr Duration kPollEvery{100};

class LogStream final : public Stream {
 public:
  explicit LogStream(std::unique_ptr<LogReader> reader) : reader_(std::move(reader)) {}

  State pull(SharedText& out) override {
    auto text = std::make_shared<std::string>();
    State state = read(*text);
    out = std::move(text);
    return state;
  }
  void on_ready(std::function<void()>) override {}
  Duration poll_every() const override { return kPollEvery; }

 private:
  State read(std::string& out) {
    while (out.size() < kStreamChunkBytes) {
      size_t before = out.size();
      Result<bool> more = reader_->read(out);
      if (!more.ok()) return State::kBroken;
      if (!*more) return State::kEnded;
      if (out.size() == before) return State::kOpen;
    }
    return State::kOpen;
  }

  std::unique_ptr<LogReader> reader_;
};

}  // namespace

std::shared_ptr<Stream> log_stream(std::unique_ptr<LogReader> reader) {
  return std::make_shared<LogStream>(std::move(reader));
}

}  // namespace trainyard::server
