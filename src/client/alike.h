// Texts that have much in common, each held as what sets it apart from one of a few patterns: where it
// copies from the pattern, and what is its own. A thousand pods of one shape differ in names, uids, times
// and versions, a fifth of their text. Pure; a Pattern never changes, Patterns is a value of one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::client {

inline constexpr size_t kPatternBytesMax = 32'000;
inline constexpr size_t kPatternsMax = 4;

class Pattern {
 public:
  // REQUIRES: no longer than kPatternBytesMax.
  explicit Pattern(std::string text);

  // What `text` is beside this one; any text has an answer, of one that is not alike a longer one.
  std::string difference(std::string_view text) const;
  // The text again. REQUIRES: an answer of difference().
  std::string whole(std::string_view difference) const;

 private:
  struct Copy {
    size_t from = 0;
    size_t length = 0;
  };
  Copy longest(std::string_view rest) const;

  std::string text_;
  // Where a text may be found that begins so: the first place for each hash, and for each place the next.
  std::vector<uint16_t> first_;
  std::vector<uint16_t> next_;
};

struct Alike {
  std::shared_ptr<const Pattern> pattern;
  std::string difference;

  std::string text() const { return pattern->whole(difference); }
};

class Patterns {
 public:
  // A text that is like none that was given before becomes a pattern itself, as long as there are few;
  // nullopt: it is better kept as it is.
  std::optional<Alike> shorten(std::string_view text);

 private:
  std::vector<std::shared_ptr<const Pattern>> known_;  // the one that served last at the front
};

}  // namespace trainyard::client
