#include "source_text.h"

#include <cctype>
#include <regex>

namespace trainyard::tidy {
namespace {

// Reads one character after the other and knows what it is inside of.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  SourceText split() {
    out_.lines.emplace_back();
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  bool next_is(std::string_view word) const { return text_.substr(at_, word.size()) == word; }
  SourceLine& line() { return out_.lines.back(); }
  void new_line() {
    out_.lines.emplace_back();
    ++at_;
  }

  void step() {
    if (text_[at_] == '\n') {
      new_line();
    } else if (next_is("//")) {
      size_t end = std::min(text_.find('\n', at_), text_.size());
      line().comment = std::string(text_.substr(at_, end - at_));
      at_ = end;
    } else if (next_is("/*")) {
      skip_until("*/");
    } else if (next_is("R\"")) {
      size_t open = text_.find('(', at_);
      if (open == std::string_view::npos) open = at_ + 1;
      std::string close = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
      line().code += "\"\"";
      skip_until(close);
    } else if (text_[at_] == '"' || (text_[at_] == '\'' && !inside_number())) {
      skip_quoted(text_[at_]);
    } else {
      line().code += text_[at_++];
    }
  }

  // 1'000 holds no character literal.
  bool inside_number() const {
    return at_ > 0 && std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0;
  }

  void skip_until(std::string_view end) {
    size_t stop = text_.find(end, at_ + 1);
    stop = stop == std::string_view::npos ? text_.size() : stop + end.size();
    while (at_ < stop) {
      if (text_[at_] == '\n') {
        new_line();
      } else {
        ++at_;
      }
    }
  }

  void skip_quoted(char quote) {
    line().code += quote;
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    line().code += quote;
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
  SourceText out_;
};

std::string trimmed(const std::string& text) {
  size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// What a brace opens, judged by what stands before it.
bool opens_scope(const std::string& head) {
  static const std::regex kScope(R"(\b(namespace|class|struct|union|enum)\b)");
  static const std::regex kExtern(R"(^\s*extern\s*"")");
  return std::regex_search(head, kExtern) ||
         (std::regex_search(head, kScope) && head.find(')') == std::string::npos);
}

bool opens_function(const std::string& head) {
  std::string text = trimmed(head);
  if (text.empty()) return true;  // the body after a constructor's initialisers
  return text.find(')') != std::string::npos && text.back() != '=';
}

}  // namespace

SourceText take_apart(std::string_view text) { return Splitter(text).split(); }

std::vector<FunctionSpan> SourceText::functions() const {
  std::vector<FunctionSpan> found;
  std::string head;  // code since the last statement, block or brace
  int head_line = 0;
  int inner = 0;        // braces open inside the present function or initialiser
  bool counts = false;  // the block under way is a function
  FunctionSpan span;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string& code = lines[i].code;
    if (!code.empty() && code[0] == '#') continue;
    for (char c : code) {
      if (inner > 0) {
        inner += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (inner == 0 && counts) {
          span.line_count = static_cast<int>(i) + 1 - span.first_line + 1;
          found.push_back(span);
        }
        if (inner == 0) head.clear();
        continue;
      }
      if (c == '{' && !opens_scope(head)) {
        counts = opens_function(head);
        span = {trimmed(head), trimmed(head).empty() ? static_cast<int>(i) + 1 : head_line, 0};
        inner = 1;
      } else if (c == '{' || c == '}' || c == ';') {
        head.clear();
      } else {
        if (trimmed(head).empty()) head_line = static_cast<int>(i) + 1;
        head += c;
      }
    }
    if (inner == 0) head += ' ';
  }
  return found;
}

}  // namespace trainyard::tidy
