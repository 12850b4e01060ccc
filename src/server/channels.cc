#include "server/channels.h"

#include "kube/access.h"
#include "kube/yaml.h"

namespace trainyard::server {

std::optional<Frame> frame_of(std::string_view message) {
  if (message.empty()) return std::nullopt;
  return Frame{static_cast<unsigned char>(message[0]), message.substr(1)};
}

std::optional<Frame> FrameReader::next(std::string_view bytes, bool begins) {
  if (begins) {
    std::optional<Frame> frame = frame_of(bytes);
    channel_ = frame ? std::optional(frame->channel) : std::nullopt;
    return frame;
  }
  return channel_ ? std::optional(Frame{*channel_, bytes}) : std::nullopt;
}

std::string framed(unsigned char channel, std::string_view data) {
  std::string message;
  message.reserve(data.size() + 1);
  message += static_cast<char>(channel);
  message += data;
  return message;
}

std::optional<TerminalSize> terminal_size_of(std::string_view text) {
  constexpr int64_t kSideMax = 65'535;
  Result<json::value> value = kube::parse_json(text);
  if (!value.ok() || !value->is_object()) return std::nullopt;
  std::optional<int64_t> width = kube::int_at(value->get_object(), {"Width"});
  std::optional<int64_t> height = kube::int_at(value->get_object(), {"Height"});
  if (!width || !height || *width < 1 || *height < 1 || *width > kSideMax || *height > kSideMax)
    return std::nullopt;
  return TerminalSize{static_cast<int>(*width), static_cast<int>(*height)};
}

}  // namespace trainyard::server
