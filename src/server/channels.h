// The frames of exec and attach over WebSocket (v4 and v5.channel.k8s.io): a byte that names
// the channel, then its data. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainyard::server {

inline constexpr unsigned char kStdinChannel = 0;
inline constexpr unsigned char kStdoutChannel = 1;
inline constexpr unsigned char kStderrChannel = 2;
inline constexpr unsigned char kErrorChannel = 3;
inline constexpr unsigned char kResizeChannel = 4;
inline constexpr unsigned char kCloseChannel = 255;  // v5: the next byte names whose end it is

struct Frame {
  unsigned char channel = 0;
  std::string_view data;
};
// nullopt for an empty message, which means nothing.
std::optional<Frame> frame_of(std::string_view message);
std::string framed(unsigned char channel, std::string_view data);

// The same of messages that come in pieces: the first names the channel of all.
class FrameReader {
 public:
  std::optional<Frame> next(std::string_view bytes, bool begins);

 private:
  std::optional<unsigned char> channel_;
};

struct TerminalSize {
  int columns = 0;
  int rows = 0;
  bool operator==(const TerminalSize&) const = default;
};
// {"Width":80,"Height":24}; nullopt when it is not that.
std::optional<TerminalSize> terminal_size_of(std::string_view text);

}  // namespace trainyard::server
