#include "kube/placement_parts.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>
#include <string>

#include "kube/access.h"
#include "kube/quantity.h"
#include "kube/selector.h"

namespace trainyard::kube {
namespace {

constexpr std::array<std::string_view, 2> kWhenUnsatisfiable{"DoNotSchedule", "ScheduleAnyway"};

// Whether the member is there as a text, even an empty one.
bool is_text(const json::object& in, std::string_view member) {
  const json::value* found = in.if_contains(jview(member));
  return found != nullptr && found->is_string();
}

void check_toleration(const json::object& toleration, const std::string& at, PartFaults& faults) {
  std::string_view key = text_at(toleration, {"key"});
  std::string_view operation = text_at(toleration, {"operator"});
  std::string_view effect = text_at(toleration, {"effect"});
  if (!key.empty() && !is_label_key(key)) {
    add_invalid(faults, at + ".key", key, "must be the key of a taint, as example.com/dedicated");
  }
  if (key.empty() && operation != "Exists") {
    add_invalid(faults, at + ".operator", operation,
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
  }
  if (operation == "Exists" && !text_at(toleration, {"value"}).empty()) {
    add_invalid(faults, at + ".operator", operation, "value must be empty when `operator` is 'Exists'");
  }
  if (is_there(toleration, "tolerationSeconds") && effect != "NoExecute") {
    add_invalid(faults, at + ".effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
}

void check_spread(const json::object& spread, const std::string& at,
                  std::set<std::pair<std::string_view, std::string_view>>& seen, PartFaults& faults) {
  const json::value* skew = spread.if_contains("maxSkew");
  if (skew == nullptr || skew->is_null()) {
    add_required(faults, at + ".maxSkew");
  } else if (std::optional<int64_t> most = as_whole(*skew); most && *most <= 0) {
    add_invalid_value(faults, at + ".maxSkew", *skew, "must be greater than zero");
  }
  std::string_view key = text_at(spread, {"topologyKey"});
  if (key.empty() && (is_text(spread, "topologyKey") || !is_there(spread, "topologyKey"))) {
    add_required(faults, at + ".topologyKey", "can not be empty");
  }
  std::string_view action = text_at(spread, {"whenUnsatisfiable"});
  if (!is_there(spread, "whenUnsatisfiable")) {
    add_required(faults, at + ".whenUnsatisfiable");
  } else if (is_text(spread, "whenUnsatisfiable") && action != kWhenUnsatisfiable[0] &&
             action != kWhenUnsatisfiable[1]) {
    add_unsupported(faults, at + ".whenUnsatisfiable", action, kWhenUnsatisfiable);
  }
  if (!key.empty() && !seen.insert({key, action}).second) {
    add_invalid(faults, at + ".topologyKey", key,
                "another constraint has it with the same whenUnsatisfiable");
  }
}

bool is_address(std::string_view text) {
  unsigned char bytes[sizeof(in6_addr)];
  const std::string whole(text);
  return ::inet_pton(AF_INET, whole.c_str(), bytes) == 1 || ::inet_pton(AF_INET6, whole.c_str(), bytes) == 1;
}

// Each object of the list with its place; what is no object is told elsewhere.
template <typename Check>
void each_of(const json::object& spec, std::string_view list, Check check) {
  const json::array* entries = array_at(spec, {list});
  for (size_t i = 0; entries != nullptr && i < entries->size(); ++i) {
    const json::object* entry = (*entries)[i].if_object();
    if (entry != nullptr) check(*entry, fmt::format("{}[{}]", list, i));
  }
}

void check_overhead(const json::object& spec, PartFaults& faults) {
  const json::object* overhead = object_at(spec, {"overhead"});
  if (overhead == nullptr) return;
  for (const json::key_value_pair& entry : *overhead) {
    Result<Quantity> amount = Quantity::from_json(entry.value());
    std::string at = fmt::format("overhead.{}", view(entry.key()));
    if (!amount.ok()) {
      add_invalid_value(faults, std::move(at), entry.value(), "must be a quantity, as 500m, 2 or 1Gi");
    } else if (amount->is_negative()) {
      add_invalid_value(faults, std::move(at), entry.value(), "must be greater than or equal to 0");
    }
  }
}

}  // namespace

PartFaults placement_faults(const json::object& spec) {
  PartFaults faults;
  each_of(spec, "tolerations", [&](const json::object& entry, const std::string& at) {
    check_toleration(entry, at, faults);
  });
  std::set<std::pair<std::string_view, std::string_view>> spreads;
  each_of(spec, "topologySpreadConstraints", [&](const json::object& entry, const std::string& at) {
    check_spread(entry, at, spreads, faults);
  });
  each_of(spec, "hostAliases", [&](const json::object& entry, const std::string& at) {
    std::string_view ip = text_at(entry, {"ip"});
    bool is_other = is_there(entry, "ip") && !is_text(entry, "ip");
    if (!is_other && !is_address(ip)) add_invalid(faults, at + ".ip", ip, "must be a valid IP address");
  });
  check_overhead(spec, faults);
  return faults;
}

}  // namespace trainyard::kube
