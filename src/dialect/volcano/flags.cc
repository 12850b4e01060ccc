#include "dialect/volcano/flags.h"

#include <fmt/format.h>

#include <charconv>

namespace trainyard::dialect::vc {
namespace {

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  for (std::string_view each : words) {
    if (word == each) return true;
  }
  return false;
}

}  // namespace

Flags::Flags(const std::vector<std::string>& arguments, const std::set<std::string_view>& switches) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    size_t dashes = argument.starts_with("--") ? 2 : 1;
    if (!argument.starts_with('-') || argument.size() == dashes || argument[dashes] == '-' ||
        argument[dashes] == '=') {
      faults_.push_back(fmt::format("{} is not a flag: flags are written --name=value", argument));
      continue;
    }
    std::string_view name = argument.substr(dashes);
    size_t equals = name.find('=');
    if (equals != std::string_view::npos) {
      given_[std::string(name.substr(0, equals))] = name.substr(equals + 1);
    } else if (switches.contains(name)) {
      given_[std::string(name)] = "true";
    } else if (i + 1 < arguments.size()) {
      given_[std::string(name)] = arguments[++i];
    } else {
      asked_.insert(std::string(name));
      faults_.push_back(fmt::format("--{} needs a value: write --{}=value", name, name));
    }
  }
}

std::string Flags::text(std::string_view name, std::string_view fallback) {
  asked_.emplace(name);
  auto found = given_.find(name);
  return found == given_.end() ? std::string(fallback) : found->second;
}

int Flags::whole(std::string_view name, int fallback, int low, int high) {
  std::string given = text(name, fmt::to_string(fallback));
  int value = 0;
  auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error == std::errc() && end == given.data() + given.size() && value >= low && value <= high)
    return value;
  faults_.push_back(fmt::format("--{}={} must be a whole number from {} to {}", name, given, low, high));
  return fallback;
}

bool Flags::boolean(std::string_view name, bool fallback) {
  std::string given = text(name, fallback ? "true" : "false");
  if (one_of(given, {"1", "t", "T", "true", "TRUE", "True"})) return true;
  if (one_of(given, {"0", "f", "F", "false", "FALSE", "False"})) return false;
  faults_.push_back(fmt::format("--{}={} must be true or false", name, given));
  return fallback;
}

std::vector<std::string> Flags::faults() const {
  std::vector<std::string> all = faults_;
  std::string known;
  for (const std::string& name : asked_) known += fmt::format("{}--{}", known.empty() ? "" : ", ", name);
  for (const auto& [name, value] : given_) {
    if (asked_.contains(name)) continue;
    all.push_back(known.empty() ? fmt::format("--{} is not known: this plugin takes no flags", name)
                                : fmt::format("--{} is not known: this plugin takes {}", name, known));
  }
  return all;
}

}  // namespace trainyard::dialect::vc
