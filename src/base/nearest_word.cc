#include "base/nearest_word.h"

#include <algorithm>

namespace trainyard {
namespace {

// Edits from `a` to `b`, a swap of neighbours being one.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) table[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) table[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t changed = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
      }
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr size_t kWordMax = 64;
  if (word.empty() || word.size() > kWordMax) return "";
  std::string_view best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (std::string_view candidate : known) {
    const bool begins = candidate.starts_with(word);
    size_t d = begins ? 1 : distance(word, candidate);
    // With every letter another it is another word.
    if (d < best_distance && (begins || d < word.size())) {
      best = candidate;
      best_distance = d;
    }
  }
  return std::string(best);
}

}  // namespace trainyard
