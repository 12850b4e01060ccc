#include "kube/placement_parts.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <tuple>

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

void check_node_requirement(const json::object& requirement, const std::string& at, PartFaults& faults) {
  std::string_view key = text_at(requirement, {"key"});
  std::string_view operation = text_at(requirement, {"operator"});
  const json::array* values = array_at(requirement, {"values"});
  const size_t count = values == nullptr ? 0 : values->size();
  if (!is_label_key(key)) add_invalid(faults, at + ".key", key, "must be the key of a label");
  if (operation == "In" || operation == "NotIn") {
    if (count == 0)
      add_required(faults, at + ".values", "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operation == "Exists" || operation == "DoesNotExist") {
    if (count > 0) {
      add_forbidden(faults, at + ".values",
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else if (operation == "Gt" || operation == "Lt") {
    if (count != 1) {
      add_required(faults, at + ".values", "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    add_invalid(faults, at + ".operator", operation,
                "not a valid selector operator: In, NotIn, Exists, DoesNotExist, Gt and Lt are");
  }
}

// Each object of the list with its place; what is no object is told elsewhere.
template <typename Check>
void each_of(const json::object& in, std::string_view list, const std::string& prefix, Check check) {
  const json::array* entries = array_at(in, {list});
  for (size_t i = 0; entries != nullptr && i < entries->size(); ++i) {
    const json::object* entry = (*entries)[i].if_object();
    if (entry != nullptr) check(*entry, fmt::format("{}{}[{}]", prefix, list, i));
  }
}

void check_node_term(const json::object& term, const std::string& at, PartFaults& faults) {
  each_of(term, "matchExpressions", at + ".", [&](const json::object& entry, const std::string& where) {
    check_node_requirement(entry, where, faults);
  });
}

void check_weight(const json::object& preferred, const std::string& at, PartFaults& faults) {
  const json::value* weight = preferred.if_contains("weight");
  std::optional<int64_t> given = weight == nullptr ? 0 : as_whole(*weight);
  if (given && (*given < 1 || *given > 100)) {
    add_invalid_value(faults, at + ".weight", weight == nullptr ? json::value(0) : *weight,
                      "must be in the range 1-100");
  }
}

void check_affinity_term(const json::object& term, const std::string& at, PartFaults& faults) {
  if (text_at(term, {"topologyKey"}).empty()) {
    add_required(faults, at + ".topologyKey", "can not be empty");
  }
}

constexpr std::string_view kRequiredTerms = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferredTerms = "preferredDuringSchedulingIgnoredDuringExecution";

void check_affinity(const json::object& spec, PartFaults& faults) {
  if (const json::object* node = object_at(spec, {"affinity", "nodeAffinity"})) {
    const std::string at = "affinity.nodeAffinity.";
    if (const json::object* required = object_at(*node, {kRequiredTerms})) {
      const json::array* terms = array_at(*required, {"nodeSelectorTerms"});
      const std::string where = fmt::format("{}{}.", at, kRequiredTerms);
      if (terms == nullptr || terms->empty()) {
        add_required(faults, where + "nodeSelectorTerms", "must have at least one node selector term");
      }
      each_of(*required, "nodeSelectorTerms", where, [&](const json::object& term, const std::string& place) {
        check_node_term(term, place, faults);
      });
    }
    each_of(*node, kPreferredTerms, at, [&](const json::object& preferred, const std::string& place) {
      check_weight(preferred, place, faults);
      const json::object* term = object_at(preferred, {"preference"});
      if (term != nullptr) check_node_term(*term, place + ".preference", faults);
    });
  }
  for (std::string_view which : {"podAffinity", "podAntiAffinity"}) {
    const json::object* pods = object_at(spec, {"affinity", which});
    if (pods == nullptr) continue;
    const std::string at = fmt::format("affinity.{}.", which);
    each_of(*pods, kRequiredTerms, at, [&](const json::object& term, const std::string& place) {
      check_affinity_term(term, place, faults);
    });
    each_of(*pods, kPreferredTerms, at, [&](const json::object& preferred, const std::string& place) {
      check_weight(preferred, place, faults);
      const json::object* term = object_at(preferred, {"podAffinityTerm"});
      if (term != nullptr) check_affinity_term(*term, place + ".podAffinityTerm", faults);
    });
  }
}

void check_node_selector(const json::object& spec, PartFaults& faults) {
  const json::object* selector = object_at(spec, {"nodeSelector"});
  if (selector == nullptr) return;
  for (const json::key_value_pair& entry : *selector) {
    const json::string* value = entry.value().if_string();
    std::string at = fmt::format("nodeSelector.{}", shown(view(entry.key())));
    if (!is_label_key(view(entry.key()))) {
      add_invalid(faults, std::move(at), view(entry.key()), "the key is not a label key");
    } else if (value != nullptr && !is_label_value(view(*value))) {
      add_invalid(faults, std::move(at), view(*value),
                  "must be at most 63 characters of letters, digits, '-', '_' or '.', and start and end with "
                  "a letter or digit");
    }
  }
}

void check_host_ports(const json::object& spec, PartFaults& faults) {
  const bool on_host = bool_at(spec, {"hostNetwork"}) == true;
  std::set<std::tuple<int64_t, std::string_view, std::string_view>> taken;
  each_of(spec, "containers", "", [&](const json::object& container, const std::string& at) {
    each_of(container, "ports", at + ".", [&](const json::object& port, const std::string& place) {
      const int64_t on_node = int_at(port, {"hostPort"}).value_or(0);
      if (on_node == 0) return;
      if (on_host && on_node != int_at(port, {"containerPort"})) {
        add_invalid_value(faults, place + ".hostPort", on_node,
                          "must match `containerPort` when `hostNetwork` is true");
      }
      std::string_view protocol = text_at(port, {"protocol"});
      if (protocol.empty()) protocol = "TCP";
      if (!taken.insert({on_node, protocol, text_at(port, {"hostIP"})}).second) {
        add_invalid_value(faults, place + ".hostPort", on_node, "another port of this pod has it");
      }
    });
  });
}

void check_dns(const json::object& spec, PartFaults& faults) {
  if (text_at(spec, {"dnsPolicy"}) != "None") return;
  const json::array* servers = array_at(spec, {"dnsConfig", "nameservers"});
  if (servers != nullptr && !servers->empty()) return;
  add_required(faults, "dnsConfig.nameservers",
               "must provide at least one DNS nameserver when `dnsPolicy` is None");
}

bool is_address(std::string_view text) {
  unsigned char bytes[sizeof(in6_addr)];
  const std::string whole(text);
  return ::inet_pton(AF_INET, whole.c_str(), bytes) == 1 || ::inet_pton(AF_INET6, whole.c_str(), bytes) == 1;
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
  each_of(spec, "tolerations", "",
          [&](const json::object& entry, const std::string& at) { check_toleration(entry, at, faults); });
  std::set<std::pair<std::string_view, std::string_view>> spreads;
  each_of(spec, "topologySpreadConstraints", "", [&](const json::object& entry, const std::string& at) {
    check_spread(entry, at, spreads, faults);
  });
  check_node_selector(spec, faults);
  check_affinity(spec, faults);
  check_host_ports(spec, faults);
  check_dns(spec, faults);
  each_of(spec, "hostAliases", "", [&](const json::object& entry, const std::string& at) {
    std::string_view ip = text_at(entry, {"ip"});
    bool is_other = is_there(entry, "ip") && !is_text(entry, "ip");
    if (!is_other && !is_address(ip)) add_invalid(faults, at + ".ip", ip, "must be a valid IP address");
  });
  check_overhead(spec, faults);
  return faults;
}

}  // namespace trainyard::kube
