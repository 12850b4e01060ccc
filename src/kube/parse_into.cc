#include "kube/parse_into.h"

#include <fmt/format.h>

#include <boost/json/basic_parser_impl.hpp>
#include <cmath>

#include "kube/yaml.h"

namespace trainyard::kube {
namespace {

constexpr size_t kStackBytes = 4096;  // while reading; what is deeper or wider takes more from the heap

// Makes a value of what the parser finds. A number too large for a double is found as infinity, which JSON
// cannot say: it is noticed here, because to look for it in the value takes half as long as to read it.
class JsonMaker {
 public:
  static constexpr size_t max_object_size = json::object::max_size();
  static constexpr size_t max_array_size = json::array::max_size();
  static constexpr size_t max_key_size = json::string::max_size();
  static constexpr size_t max_string_size = json::string::max_size();

  explicit JsonMaker(const json::storage_ptr& where) : stack_({}, room_, sizeof room_) {
    stack_.reset(where);
  }
  JsonMaker(const JsonMaker&) = delete;
  JsonMaker& operator=(const JsonMaker&) = delete;

  json::value take() { return stack_.release(); }
  bool found_infinity() const { return found_infinity_; }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return true; }
  bool on_object_end(size_t count, json::error_code&) { return stack_.push_object(count), true; }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(size_t count, json::error_code&) { return stack_.push_array(count), true; }
  bool on_key_part(json::string_view part, size_t, json::error_code&) {
    return stack_.push_chars(part), true;
  }
  bool on_key(json::string_view rest, size_t, json::error_code&) { return stack_.push_key(rest), true; }
  bool on_string_part(json::string_view part, size_t, json::error_code&) {
    return stack_.push_chars(part), true;
  }
  bool on_string(json::string_view rest, size_t, json::error_code&) { return stack_.push_string(rest), true; }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(int64_t number, json::string_view, json::error_code&) {
    return stack_.push_int64(number), true;
  }
  bool on_uint64(uint64_t number, json::string_view, json::error_code&) {
    return stack_.push_uint64(number), true;
  }
  bool on_double(double number, json::string_view, json::error_code&) {
    found_infinity_ = found_infinity_ || !std::isfinite(number);
    return stack_.push_double(number), true;
  }
  bool on_bool(bool value, json::error_code&) { return stack_.push_bool(value), true; }
  bool on_null(json::error_code&) { return stack_.push_null(), true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  unsigned char room_[kStackBytes];
  json::value_stack stack_;
  bool found_infinity_ = false;
};

}  // namespace

Result<json::value> parse_json_into(const json::storage_ptr& where, std::string_view text, int depth_max) {
  json::parse_options options;
  options.max_depth = static_cast<size_t>(depth_max);
  json::basic_parser<JsonMaker> parser(options, where);
  json::error_code fault;
  const size_t read = parser.write_some(false, text.data(), text.size(), fault);
  if (!fault && read < text.size()) fault = json::error::extra_data;
  if (fault) return Error{ErrorKind::kInvalid, fmt::format("not valid JSON: {}", fault.message())};
  if (parser.handler().found_infinity()) {
    return Error{ErrorKind::kInvalid, "not valid JSON: a number is too large"};
  }
  return parser.handler().take();
}

Result<json::value> parse_json(std::string_view text, int depth_max) {
  return parse_json_into({}, text, depth_max);
}

}  // namespace trainyard::kube
