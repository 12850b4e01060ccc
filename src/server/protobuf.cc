#include "server/protobuf.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "base/time.h"
#include "kube/access.h"
#include "kube/objects.h"
#include "kube/utf8.h"
#include "server/protobuf_reader.h"
#include "server/schema.h"
#include "server/uri.h"

namespace trainyard::server {
namespace {

constexpr std::string_view kMagic("k8s\0", 4);
constexpr int kMessageDepthMax = 64;
constexpr std::string_view kDeleteOptions = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

// Seconds and nanoseconds, as Time and MicroTime are sent.
std::optional<std::string> time_text(std::string_view bytes, bool micro) {
  if (bytes.empty()) return std::nullopt;  // never set
  ProtobufReader reader(bytes);
  int64_t seconds = 0;
  int64_t nanos = 0;
  while (std::optional<ProtobufField> field = reader.next()) {
    if (field->number == 1) seconds = static_cast<int64_t>(field->varint);
    if (field->number == 2) nanos = static_cast<int64_t>(field->varint);
  }
  constexpr int64_t kYear10000 = 253'402'300'800;
  if (reader.broken() || seconds <= -62'135'596'800 || seconds >= kYear10000) return std::nullopt;
  std::string text = format_rfc3339(Time{seconds * 1000});
  if (!micro) return text;
  text.pop_back();  // the Z
  return fmt::format("{}.{:06}Z", text, std::clamp<int64_t>(nanos / 1000, 0, 999'999));
}

// "1h2m3s" of Go, of whole milliseconds.
std::string duration_text(int64_t nanos) {
  std::string text = nanos < 0 ? "-" : "";
  uint64_t rest = nanos < 0 ? 0 - static_cast<uint64_t>(nanos) : static_cast<uint64_t>(nanos);
  uint64_t seconds = rest / 1'000'000'000;
  uint64_t millis = rest / 1'000'000 % 1000;
  if (seconds >= 3600) text += fmt::format("{}h", seconds / 3600);
  if (seconds >= 60) text += fmt::format("{}m", seconds / 60 % 60);
  text += millis == 0 ? fmt::format("{}s", seconds % 60) : fmt::format("{}.{:03}s", seconds % 60, millis);
  return text;
}

// The first field of a message that wraps one value.
std::string_view wrapped_bytes(std::string_view message) {
  ProtobufReader reader(message);
  while (std::optional<ProtobufField> field = reader.next()) {
    if (field->number == 1) return field->bytes;
  }
  return {};
}

int64_t wrapped_number(std::string_view message) {
  ProtobufReader reader(message);
  while (std::optional<ProtobufField> field = reader.next()) {
    if (field->number == 1) return static_cast<int64_t>(field->varint);
  }
  return 0;
}

json::value int_or_string(std::string_view message) {
  ProtobufReader reader(message);
  bool text = false;
  int64_t number = 0;
  std::string_view string;
  while (std::optional<ProtobufField> field = reader.next()) {
    if (field->number == 1) text = field->varint != 0;
    if (field->number == 2) number = static_cast<int32_t>(field->varint);
    if (field->number == 3) string = field->bytes;
  }
  if (text) return json::value(kube::jview(string));
  return number;
}

json::array string_list(std::string_view message) {
  json::array out;
  ProtobufReader reader(message);
  while (std::optional<ProtobufField> field = reader.next()) {
    if (field->number == 1) out.emplace_back(kube::jview(field->bytes));
  }
  return out;
}

class ProtobufDecoder {
 public:
  // False when the bytes do not hold together.
  bool decode(const SchemaType& type, std::string_view bytes, json::object& out, int depth) {
    if (depth > kMessageDepthMax) return false;
    ProtobufReader reader(bytes);
    while (std::optional<ProtobufField> field = reader.next()) {
      const SchemaField* known = type.field_numbered(field->number);
      if (known != nullptr && !add(*known, *field, out, depth)) return false;
    }
    return !reader.broken();
  }

 private:
  bool add(const SchemaField& field, const ProtobufField& sent, json::object& out, int depth) {
    if (field.inlined) return decode(*field.message, sent.bytes, out, depth + 1);
    if (field.many == Many::kMap) return add_entry(field, sent.bytes, out, depth);
    std::optional<json::value> value = value_of(field, sent, depth);
    if (!value) return false;
    if (field.many == Many::kList) {
      json::value& list = out[kube::jview(field.name)];
      if (!list.is_array()) list.emplace_array();
      list.get_array().push_back(std::move(*value));
      return true;
    }
    if (is_said(field, *value)) out[kube::jview(field.name)] = std::move(*value);
    return true;
  }

  // Go sends every field, set or not; JSON leaves out those that are at their zero value.
  static bool is_said(const SchemaField& field, const json::value& value) {
    if (value.is_null()) return false;
    if (field.present) return true;
    if (value.is_object()) return !value.get_object().empty();
    if (field.required) return true;
    if (value.is_string()) return !value.get_string().empty();
    if (value.is_int64()) return value.get_int64() != 0;
    if (value.is_double()) return value.get_double() != 0;
    return !value.is_bool() || value.get_bool();
  }

  bool add_entry(const SchemaField& field, std::string_view entry, json::object& out, int depth) {
    std::string_view key;
    ProtobufField sent;
    ProtobufReader reader(entry);
    while (std::optional<ProtobufField> part = reader.next()) {
      if (part->number == 1) key = part->bytes;
      if (part->number == 2) sent = *part;
    }
    std::optional<json::value> value = value_of(field, sent, depth);
    if (reader.broken() || !value) return false;
    json::value& map = out[kube::jview(field.name)];
    if (!map.is_object()) map.emplace_object();
    map.get_object()[kube::jview(key)] = std::move(*value);
    return true;
  }

  // A null value is a time that was never set.
  std::optional<json::value> value_of(const SchemaField& field, const ProtobufField& sent, int depth) {
    switch (field.scalar) {
      case ScalarType::kString:
        if (!kube::is_utf8(sent.bytes)) return std::nullopt;
        return json::value(kube::jview(sent.bytes));
      case ScalarType::kInt32:
        return static_cast<int64_t>(static_cast<int32_t>(sent.varint));
      case ScalarType::kInt64:
        return static_cast<int64_t>(sent.varint);
      case ScalarType::kBool:
        return sent.varint != 0;
      case ScalarType::kDouble: {
        double number = 0;
        std::memcpy(&number, &sent.varint, sizeof number);
        return std::isfinite(number) ? std::optional<json::value>(number) : std::nullopt;
      }
      case ScalarType::kBytes:
        return json::value(kube::encode_base64(sent.bytes));
      case ScalarType::kTime:
      case ScalarType::kMicroTime: {
        std::optional<std::string> text = time_text(sent.bytes, field.scalar == ScalarType::kMicroTime);
        return text ? json::value(*text) : json::value(nullptr);
      }
      case ScalarType::kDuration:
        return json::value(duration_text(wrapped_number(sent.bytes)));
      case ScalarType::kQuantity:
        return json::value(kube::jview(wrapped_bytes(sent.bytes)));
      case ScalarType::kIntOrString:
        return int_or_string(sent.bytes);
      case ScalarType::kStringList:
        return string_list(sent.bytes);
      case ScalarType::kRaw:
        return raw(wrapped_bytes(sent.bytes));
      case ScalarType::kMessage: {
        json::object object;
        if (!decode(*field.message, sent.bytes, object, depth + 1)) return std::nullopt;
        return object;
      }
    }
    return std::nullopt;
  }

  static std::optional<json::value> raw(std::string_view bytes) {
    if (bytes.empty()) return json::value(nullptr);
    boost::system::error_code error;
    json::value value = json::parse(kube::jview(bytes), error);
    if (error) return std::nullopt;
    return value;
  }
};

Error refused(std::string message) { return Error{ErrorKind::kInvalid, std::move(message)}; }

}  // namespace

bool is_protobuf_envelope(std::string_view body) { return body.starts_with(kMagic); }

Result<json::object> decode_protobuf(std::string_view body) {
  if (!is_protobuf_envelope(body)) {
    return refused("provided data does not appear to be a protobuf message, expected prefix k8s");
  }
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;
  ProtobufReader reader(body.substr(kMagic.size()));
  while (std::optional<ProtobufField> field = reader.next()) {
    if (field->number == 2) raw = field->bytes;
    if (field->number != 1) continue;
    ProtobufReader type(field->bytes);
    while (std::optional<ProtobufField> part = type.next()) {
      if (part->number == 1) api_version = part->bytes;
      if (part->number == 2) kind = part->bytes;
    }
  }
  if (reader.broken()) return refused("the protobuf envelope is cut off or damaged");
  size_t slash = api_version.find('/');
  bool core = slash == std::string_view::npos;
  const SchemaType* type = kind == "DeleteOptions"
                               ? schema_named(kDeleteOptions)
                               : schema_of(core ? "" : api_version.substr(0, slash),
                                           core ? api_version : api_version.substr(slash + 1), kind);
  if (type == nullptr) {
    return refused(fmt::format("no kind \"{}\" is registered for version \"{}\" in protobuf",
                               kube::shown(kind), kube::shown(api_version)));
  }
  json::object out{{"kind", kube::jview(kind)}, {"apiVersion", kube::jview(api_version)}};
  if (!ProtobufDecoder().decode(*type, raw, out, 0)) {
    return refused(fmt::format("the protobuf message of kind \"{}\" is damaged", kind));
  }
  return out;
}

}  // namespace trainyard::server
