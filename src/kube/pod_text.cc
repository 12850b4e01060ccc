#include <simdjson.h>

#include <cmath>

#include "kube/pod.h"
#include "kube/pod_reader.h"
#include "kube/yaml.h"

namespace trainyard::kube {
namespace {

namespace sj = simdjson::dom;

class TextNode {
 public:
  explicit TextNode(sj::element element) : element_(element) {}

  template <typename F>
  void members(F f) const {
    if (element_.type() != sj::element_type::OBJECT) return;
    for (sj::key_value_pair member : sj::object(element_)) f(member.key, TextNode(member.value));
  }
  template <typename F>
  void elements(F f) const {
    if (element_.type() != sj::element_type::ARRAY) return;
    for (sj::element element : sj::array(element_)) f(TextNode(element));
  }
  std::optional<std::string_view> text() const {
    if (element_.type() != sj::element_type::STRING) return std::nullopt;
    return std::string_view(element_);
  }
  std::optional<int64_t> whole() const {
    if (element_.type() == sj::element_type::INT64) return int64_t(element_);
    if (element_.type() != sj::element_type::DOUBLE) return std::nullopt;
    double n = double(element_);
    if (std::trunc(n) != n || std::fabs(n) > 9007199254740992.0) return std::nullopt;
    return static_cast<int64_t>(n);
  }
  std::optional<bool> truth() const {
    if (element_.type() != sj::element_type::BOOL) return std::nullopt;
    return bool(element_);
  }
  bool is_object() const { return element_.type() == sj::element_type::OBJECT; }

 private:
  sj::element element_;
};

// What the fast reader does not take (numbers beyond its range) the document reader may.
Result<Pod> decode_by_document(std::string_view text) {
  Result<json::value> value = parse_json(text);
  if (!value.ok()) return value.error();
  const json::object* object = value.value().if_object();
  if (object == nullptr) return Error{ErrorKind::kInvalid, "a pod is a JSON object"};
  return decode_pod(*object);
}

}  // namespace

struct PodDecoder::Impl {
  sj::parser parser;
  std::string buffer;  // the text with the padding the parser reads over
};

PodDecoder::PodDecoder() : impl_(std::make_unique<Impl>()) {}
PodDecoder::~PodDecoder() = default;

Result<Pod> PodDecoder::decode(std::string_view text) {
  std::string& buffer = impl_->buffer;
  if (buffer.size() < text.size() + simdjson::SIMDJSON_PADDING)
    buffer.resize(text.size() + simdjson::SIMDJSON_PADDING);
  // In pieces: for one long run memcpy may take the string instruction, which starts so slowly on
  // some machines that copying a pod costs as much as parsing it.
  constexpr size_t kPiece = 1024;
  for (size_t at = 0; at < text.size(); at += kPiece) text.copy(buffer.data() + at, kPiece, at);
  sj::element root;
  if (impl_->parser.parse(buffer.data(), text.size(), false).get(root) != simdjson::SUCCESS) {
    return decode_by_document(text);
  }
  if (root.type() != sj::element_type::OBJECT) return Error{ErrorKind::kInvalid, "a pod is a JSON object"};
  return PodReader<TextNode>::read(TextNode(root));
}

Result<Pod> decode_pod_text(std::string_view text) { return PodDecoder().decode(text); }

}  // namespace trainyard::kube
