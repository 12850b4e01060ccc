// What we write into the status of an object is what its CRD takes: a field that the schema lacks is cut off
// by the API server, and would be written again and again; one that it requires and that is not there is
// refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/tensorboard_plan.h"
#include "deploy/crds.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/structural.h"
#include "kube/yaml.h"

namespace trainyard::cli {
namespace {

json::object status_schema(std::string_view crd_name) {
  for (const json::object& crd : deploy::own_crds()) {
    if (kube::name_of(crd) != crd_name) continue;
    const json::object& version = kube::array_at(crd, {"spec", "versions"})->front().as_object();
    return *kube::object_at(version, {"schema", "openAPIV3Schema", "properties", "status"});
  }
  ADD_FAILURE() << "no CRD " << crd_name;
  return {};
}

// Paths of what the API server would cut off or miss.
std::string misfits(const json::object& schema, const json::value& value, const std::string& path) {
  std::string found;
  if (const json::array* list = value.if_array()) {
    const json::object* items = kube::schema_of_items(schema);
    if (items == nullptr) return path + " is no list; ";
    for (const json::value& one : *list) found += misfits(*items, one, path + "[]");
  }
  const json::object* object = value.if_object();
  if (object == nullptr) return found;
  for (const json::value& name : kube::or_empty(kube::array_at(schema, {"required"}))) {
    if (!object->contains(name.as_string()))
      found += fmt::format("{}.{} is missing; ", path, name.as_string().c_str());
  }
  for (const json::key_value_pair& member : *object) {
    std::string here = path + "." + std::string(member.key());
    const json::object* below = kube::schema_of_member(schema, kube::view(member.key()));
    bool open = kube::is_set(schema, "x-kubernetes-preserve-unknown-fields");
    if (below == nullptr && !open) found += here + " is cut off; ";
    if (below != nullptr) found += misfits(*below, member.value(), here);
  }
  return found;
}

json::object from_yaml(std::string_view text) { return kube::parse_yaml(text)->front().body.as_object(); }

TEST(CrdStatuses, ATensorBoardsIsTaken) {
  const json::object schema = status_schema("tensorboards.tensorstack.dev");
  json::object pod = from_yaml(
      "{metadata: {name: tb-tensorboard, uid: p}, status: {phase: Running, conditions: [{type: Ready, "
      "status: 'True'}]}}");
  json::object service = from_yaml("{metadata: {name: tb-tensorboard, uid: s}}");
  for (const char* spec : {"{image: i, trainingLogFilesets: ['t9k://pvc/c/log']}", "{}",
                           "{image: i, suspend: true, trainingLogFilesets: ['t9k://pvc/c/log']}"}) {
    json::object board{{"apiVersion", "tensorstack.dev/v1beta1"},
                       {"kind", "TensorBoard"},
                       {"metadata", json::object{{"name", "tb"}, {"namespace", "ns"}, {"uid", "u"}}},
                       {"spec", from_yaml(spec)}};
    for (const json::object* seen :
         {static_cast<const json::object*>(nullptr), static_cast<const json::object*>(&pod)}) {
      control::BoardPlan plan = control::plan_board({&board, seen, &service}, {}, Time{1'000'000});
      int written = 0;
      for (const control::BoardStep& step : plan.steps) {
        const auto* write = std::get_if<control::WriteBoardStatus>(&step);
        if (write == nullptr) continue;
        ++written;
        EXPECT_EQ(misfits(schema, write->status, "status"), "") << spec;
      }
      EXPECT_EQ(written, 1) << spec;
    }
  }
}

}  // namespace
}  // namespace trainyard::cli
