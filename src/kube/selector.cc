#include "kube/selector.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "kube/access.h"
#include "kube/requirement.h"

namespace trainyard::kube {
namespace {

constexpr size_t kNameMax = 63;
constexpr size_t kPrefixMax = 253;

bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// Letters and digits at both ends, and '-', '_', '.' between.
bool is_label_name(std::string_view name) {
  if (name.empty() || name.size() > kNameMax || !is_alnum(name.front()) || !is_alnum(name.back()))
    return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_dns_subdomain(std::string_view name) {
  if (name.empty() || name.size() > kPrefixMax) return false;
  while (true) {
    std::string_view part = name.substr(0, name.find('.'));
    auto fits = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-'; };
    if (part.empty() || part.front() == '-' || part.back() == '-') return false;
    if (!std::all_of(part.begin(), part.end(), fits)) return false;
    if (part.size() == name.size()) return true;
    name.remove_prefix(part.size() + 1);
  }
}

Error bad_selector(std::string message) { return {ErrorKind::kInvalid, std::move(message)}; }

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

// Sorts the values and says what is wrong with the requirement, if anything is.
std::optional<Error> settle(Requirement& requirement) {
  if (!is_label_key(requirement.key))
    return bad_selector(fmt::format("\"{}\" is not a label key", shown(requirement.key)));
  std::sort(requirement.values.begin(), requirement.values.end());
  requirement.values.erase(std::unique(requirement.values.begin(), requirement.values.end()),
                           requirement.values.end());
  for (const std::string& value : requirement.values) {
    if (!is_label_value(value)) return bad_selector(fmt::format("\"{}\" is not a label value", shown(value)));
  }
  switch (requirement.op) {
    case SelectorOp::kEquals:
    case SelectorOp::kNotEquals:
    case SelectorOp::kExists:
    case SelectorOp::kDoesNotExist:
      return std::nullopt;
    case SelectorOp::kIn:
    case SelectorOp::kNotIn:
      if (requirement.values.empty())
        return bad_selector(fmt::format("no values for the key \"{}\"", requirement.key));
      return std::nullopt;
    case SelectorOp::kGreaterThan:
    case SelectorOp::kLessThan:
      if (requirement.values.size() != 1 || !whole_number(requirement.values[0])) {
        return bad_selector(
            fmt::format("\"{}\" is compared with something that is not a whole number", requirement.key));
      }
      return std::nullopt;
  }
  return std::nullopt;
}

// Reads the text form of a label selector from left to right.
class LabelParser {
 public:
  explicit LabelParser(std::string_view text) : text_(text) {}

  Result<std::vector<Requirement>> parse() {
    std::vector<Requirement> out;
    skip_space();
    if (at_end()) return out;
    while (true) {
      Result<Requirement> next = requirement();
      if (!next.ok()) return next.error();
      out.push_back(std::move(next).value());
      skip_space();
      if (at_end()) return out;
      if (!take(',')) return unexpected();
    }
  }

 private:
  bool at_end() const { return at_ == text_.size(); }
  void skip_space() {
    while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Error unexpected() const {
    if (at_end()) return bad_selector("the label selector ends too early");
    return bad_selector(fmt::format("unexpected \"{}\" in the label selector at character {}",
                                    shown(text_.substr(at_, 20)), at_ + 1));
  }
  std::string_view word() {
    size_t from = at_;
    while (!at_end() && std::string_view(" \t,()=!<>").find(text_[at_]) == std::string_view::npos) ++at_;
    return text_.substr(from, at_ - from);
  }

  Result<Requirement> requirement() {
    Requirement out;
    skip_space();
    if (take('!')) {
      skip_space();
      out.op = SelectorOp::kDoesNotExist;
      out.key = word();
      return settled(std::move(out));
    }
    out.key = word();
    if (out.key.empty()) return unexpected();
    skip_space();
    if (at_end() || text_[at_] == ',') return settled(std::move(out));
    if (take('=')) {
      take('=');
      return compared(std::move(out), SelectorOp::kEquals);
    }
    if (take('!')) {
      if (!take('=')) return unexpected();
      return compared(std::move(out), SelectorOp::kNotEquals);
    }
    if (take('>')) return compared(std::move(out), SelectorOp::kGreaterThan);
    if (take('<')) return compared(std::move(out), SelectorOp::kLessThan);
    size_t before = at_;
    std::string_view op = word();
    if (op == "in") return listed(std::move(out), SelectorOp::kIn);
    if (op == "notin") return listed(std::move(out), SelectorOp::kNotIn);
    at_ = before;
    return unexpected();
  }

  Result<Requirement> compared(Requirement out, SelectorOp op) {
    out.op = op;
    skip_space();
    out.values = {std::string(word())};
    return settled(std::move(out));
  }

  Result<Requirement> listed(Requirement out, SelectorOp op) {
    out.op = op;
    skip_space();
    if (!take('(')) return unexpected();
    while (true) {
      skip_space();
      out.values.emplace_back(word());
      skip_space();
      if (take(')')) return settled(std::move(out));
      if (!take(',')) return unexpected();
    }
  }

  static Result<Requirement> settled(Requirement out) {
    if (std::optional<Error> fault = settle(out)) return *fault;
    return out;
  }

  std::string_view text_;
  size_t at_ = 0;
};

bool fits(const Requirement& requirement, const json::object* labels) {
  const json::value* found = labels ? labels->if_contains(jview(requirement.key)) : nullptr;
  if (found == nullptr || !found->is_string()) return holds(requirement, std::nullopt);
  return holds(requirement, view(found->get_string()));
}

std::string to_text(const Requirement& requirement) {
  std::string_view key = requirement.key;
  auto one = [&] { return std::string_view(requirement.values[0]); };
  switch (requirement.op) {
    case SelectorOp::kEquals:
      return fmt::format("{}={}", key, one());
    case SelectorOp::kNotEquals:
      return fmt::format("{}!={}", key, one());
    case SelectorOp::kIn:
      return fmt::format("{} in ({})", key, fmt::join(requirement.values, ","));
    case SelectorOp::kNotIn:
      return fmt::format("{} notin ({})", key, fmt::join(requirement.values, ","));
    case SelectorOp::kExists:
      return std::string(key);
    case SelectorOp::kDoesNotExist:
      return fmt::format("!{}", key);
    case SelectorOp::kGreaterThan:
      return fmt::format("{}>{}", key, one());
    case SelectorOp::kLessThan:
      return fmt::format("{}<{}", key, one());
  }
  return {};
}

void sort_requirements(std::vector<Requirement>& requirements) {
  auto order = [](const Requirement& a, const Requirement& b) {
    return std::tie(a.key, a.op, a.values) < std::tie(b.key, b.op, b.values);
  };
  std::sort(requirements.begin(), requirements.end(), order);
  requirements.erase(std::unique(requirements.begin(), requirements.end()), requirements.end());
}

Result<Requirement> read_expression(const json::value& entry, size_t index) {
  auto at = [&](std::string_view what) {
    return bad_selector(fmt::format("matchExpressions[{}]{}", index, what));
  };
  const json::object* expression = entry.if_object();
  if (expression == nullptr) return at(" must be an object");
  Requirement out;
  out.key = text_at(*expression, {"key"});
  std::string_view op = text_at(*expression, {"operator"});
  if (op == "In") {
    out.op = SelectorOp::kIn;
  } else if (op == "NotIn") {
    out.op = SelectorOp::kNotIn;
  } else if (op == "Exists") {
    out.op = SelectorOp::kExists;
  } else if (op == "DoesNotExist") {
    out.op = SelectorOp::kDoesNotExist;
  } else {
    return at(fmt::format(".operator: \"{}\" is not one of In, NotIn, Exists, DoesNotExist", shown(op)));
  }
  if (const json::value* values = expression->if_contains("values");
      values != nullptr && !values->is_null()) {
    if (!values->is_array()) return at(".values must be a list");
    for (const json::value& value : values->get_array()) {
      if (!value.is_string()) return at(".values must be a list of strings");
      out.values.emplace_back(view(value.get_string()));
    }
  }
  bool listed = out.op == SelectorOp::kIn || out.op == SelectorOp::kNotIn;
  if (!listed && !out.values.empty()) return at(fmt::format(".values must be empty with {}", op));
  if (std::optional<Error> fault = settle(out)) return at(": " + fault->message);
  return out;
}

// The text of a scalar as field selectors compare it; "" when there is none.
std::string field_text(const json::object& object, std::string_view path) {
  const json::object* in = &object;
  while (true) {
    size_t dot = path.find('.');
    const json::value* found = in->if_contains(jview(path.substr(0, dot)));
    if (found == nullptr) return "";
    if (dot == path.npos) {
      if (const json::string* text = found->if_string()) return std::string(view(*text));
      if (found->is_primitive() && !found->is_null()) return json::serialize(*found);
      return "";
    }
    in = found->if_object();
    if (in == nullptr) return "";
    path.remove_prefix(dot + 1);
  }
}

std::string escape_field(std::string_view value) {
  std::string out;
  for (char c : value) {
    if (c == '\\' || c == ',' || c == '=') out += '\\';
    out += c;
  }
  return out;
}

Result<std::string> unescape_field(std::string_view value) {
  std::string out;
  for (size_t at = 0; at < value.size(); ++at) {
    char c = value[at];
    if (c == '=') return bad_selector(fmt::format("\"{}\" holds an unescaped \"=\"", shown(value)));
    if (c == '\\') {
      if (++at == value.size() || std::string_view("\\,=").find(value[at]) == std::string_view::npos) {
        return bad_selector(fmt::format("\"{}\" holds a bad escape", shown(value)));
      }
      c = value[at];
    }
    out += c;
  }
  return out;
}

Result<FieldSelector::Term> read_term(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
      continue;
    }
    bool differs = text.substr(at, 2) == "!=";
    if (!differs && text[at] != '=') continue;
    size_t length = differs || text.substr(at, 2) == "==" ? 2 : 1;
    Result<std::string> value = unescape_field(text.substr(at + length));
    if (!value.ok()) return value.error();
    if (at == 0) return bad_selector(fmt::format("\"{}\" names no field", shown(text)));
    return FieldSelector::Term{std::string(text.substr(0, at)), !differs, std::move(value).value()};
  }
  return bad_selector(
      fmt::format("\"{}\" is not a field selector: it has no \"=\", \"==\" or \"!=\"", shown(text)));
}

}  // namespace

bool holds(const Requirement& requirement, std::optional<std::string_view> value) {
  const std::vector<std::string>& values = requirement.values;
  const bool listed = value && std::find(values.begin(), values.end(), *value) != values.end();
  switch (requirement.op) {
    case SelectorOp::kEquals:
    case SelectorOp::kIn:
      return listed;
    case SelectorOp::kNotEquals:
    case SelectorOp::kNotIn:
      return !listed;
    case SelectorOp::kExists:
      return value.has_value();
    case SelectorOp::kDoesNotExist:
      return !value;
    case SelectorOp::kGreaterThan:
    case SelectorOp::kLessThan: {
      if (!value || values.empty()) return false;
      std::optional<int64_t> left = whole_number(*value);
      std::optional<int64_t> right = whole_number(values.front());
      if (!left || !right) return false;
      return requirement.op == SelectorOp::kGreaterThan ? *left > *right : *left < *right;
    }
  }
  return false;
}

bool is_label_key(std::string_view key) {
  size_t slash = key.find('/');
  if (slash == key.npos) return is_label_name(key);
  return is_dns_subdomain(key.substr(0, slash)) && is_label_name(key.substr(slash + 1));
}

bool is_label_value(std::string_view value) { return value.empty() || is_label_name(value); }

LabelSelector LabelSelector::nothing() {
  LabelSelector selector;
  selector.nothing_ = true;
  return selector;
}

LabelSelector LabelSelector::equals(const std::vector<std::pair<std::string, std::string>>& labels) {
  LabelSelector selector;
  for (const auto& [key, value] : labels)
    selector.requirements_.push_back({key, SelectorOp::kEquals, {value}});
  sort_requirements(selector.requirements_);
  return selector;
}

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  Result<std::vector<Requirement>> requirements = LabelParser(text).parse();
  if (!requirements.ok()) return requirements.error();
  LabelSelector selector;
  selector.requirements_ = std::move(requirements).value();
  sort_requirements(selector.requirements_);
  return selector;
}

Result<LabelSelector> LabelSelector::from_json(const json::value& value) {
  if (value.is_null()) return nothing();
  const json::object* object = value.if_object();
  if (object == nullptr) return bad_selector("a label selector must be an object");
  LabelSelector selector;
  if (const json::value* labels = object->if_contains("matchLabels");
      labels != nullptr && !labels->is_null()) {
    if (!labels->is_object()) return bad_selector("matchLabels must be an object");
    for (const json::key_value_pair& label : labels->get_object()) {
      std::string key(label.key().data(), label.key().size());
      if (!label.value().is_string())
        return bad_selector(fmt::format("matchLabels[{}] must be a string", shown(key)));
      Requirement requirement{key, SelectorOp::kEquals, {std::string(view(label.value().get_string()))}};
      if (std::optional<Error> fault = settle(requirement)) return *fault;
      selector.requirements_.push_back(std::move(requirement));
    }
  }
  if (const json::value* list = object->if_contains("matchExpressions");
      list != nullptr && !list->is_null()) {
    if (!list->is_array()) return bad_selector("matchExpressions must be a list");
    for (const json::value& entry : list->get_array()) {
      Result<Requirement> requirement =
          read_expression(entry, static_cast<size_t>(&entry - list->get_array().data()));
      if (!requirement.ok()) return requirement.error();
      selector.requirements_.push_back(std::move(requirement).value());
    }
  }
  sort_requirements(selector.requirements_);
  return selector;
}

bool LabelSelector::matches(const json::object& object) const {
  return matches_labels(object_at(object, {"metadata", "labels"}));
}

bool LabelSelector::matches_labels(const json::object* labels) const {
  if (nothing_) return false;
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& requirement) { return fits(requirement, labels); });
}

std::string LabelSelector::to_string() const {
  std::string out;
  for (const Requirement& requirement : requirements_) {
    if (!out.empty()) out += ',';
    out += to_text(requirement);
  }
  return out;
}

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  FieldSelector selector;
  size_t from = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] == '\\') {
      ++at;
      continue;
    }
    if (at < text.size() && text[at] != ',') continue;
    std::string_view part = text.substr(from, at - from);
    from = at + 1;
    if (part.empty()) continue;
    Result<Term> term = read_term(part);
    if (!term.ok()) return term.error();
    selector.terms_.push_back(std::move(term).value());
  }
  // An escape at the very end swallows the end of the text.
  if (from <= text.size()) {
    return bad_selector(fmt::format("\"{}\" holds a bad escape", shown(text)));
  }
  return selector;
}

FieldSelector& FieldSelector::add(std::string_view path, std::string_view value) {
  terms_.push_back({std::string(path), true, std::string(value)});
  return *this;
}

bool FieldSelector::matches(const json::object& object) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    return (field_text(object, term.path) == term.value) == term.equal;
  });
}

std::string FieldSelector::to_string() const {
  std::string out;
  for (const Term& term : terms_) {
    if (!out.empty()) out += ',';
    out += fmt::format("{}{}{}", term.path, term.equal ? "=" : "!=", escape_field(term.value));
  }
  return out;
}

}  // namespace trainyard::kube
