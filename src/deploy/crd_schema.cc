#include "deploy/crd_schema.h"

#include "base/check.h"
#include "kube/access.h"
#include "server/openapi_schema.h"

namespace trainyard::deploy {
namespace {

using kube::jview;
using server::ScalarType;
using server::SchemaField;
using server::SchemaType;

constexpr int kDepthMax = 32;
constexpr const char* kPreserve = "x-kubernetes-preserve-unknown-fields";
// What is taken for an amount, such as 500m, 2 or 1Gi: a quantity of Kubernetes that is not below nothing.
constexpr const char* kAmountPattern =
    R"(^\+?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+)))"
    R"((([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";

// Names of containers and volumes, of other objects and of ports ("" is none); what labels may be; which
// protocols and pull policies there are.
constexpr const char* kLabelPattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
constexpr const char* kObjectNamePattern =
    R"(^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$)";
constexpr const char* kPortNamePattern = "^(([0-9]+-)*[0-9]*[a-z][a-z0-9]*(-[a-z0-9]+)*)?$";
constexpr const char* kLabelValuePattern = "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$";
constexpr const char* kProtocolPattern = "^(TCP|UDP|SCTP)$";
constexpr const char* kPullPattern = "^(Always|IfNotPresent|Never)$";

json::object schema_of_type(const SchemaType& type, int depth);

json::object described(json::object schema, std::string_view description) {
  json::object out;
  if (!description.empty()) out["description"] = jview(description);
  for (json::key_value_pair& each : schema) out[each.key()] = std::move(each.value());
  return out;
}

json::object open_object() { return {{"type", "object"}, {kPreserve, true}}; }

json::object text_map() {
  return {{"type", "object"}, {"additionalProperties", json::object{{"type", "string"}}}};
}

json::object word(std::string_view description) {
  return {{"description", jview(description)}, {"type", "string"}, {"minLength", 1}};
}

json::object label_name(std::string_view description) {
  return {
      {"description", jview(description)}, {"type", "string"}, {"maxLength", 63}, {"pattern", kLabelPattern}};
}

// Of a pod template null stands for nothing, as wherever Go reads it.
json::object maybe(const char* type, std::string_view description) {
  return {{"description", jview(description)}, {"type", type}, {"nullable", true}};
}

json::object word_like(std::string_view description, const char* pattern) {
  json::object out = maybe("string", description);
  out["pattern"] = pattern;
  return out;
}

json::object whole(std::string_view description, int least) {
  json::object out = maybe("integer", description);
  out["minimum"] = least;
  return out;
}

json::object list_of(std::string_view description, json::object items) {
  return {{"description", jview(description)},
          {"type", "array"},
          {"nullable", true},
          {"items", std::move(items)}};
}

json::object by(const char* key, json::object list) {
  list["x-kubernetes-list-type"] = "map";
  list["x-kubernetes-list-map-keys"] = json::array{key};
  return list;
}

// These fields, and any others.
json::object open_with(std::string_view description, json::array required, json::object properties) {
  json::object out{{"description", jview(description)}, {"type", "object"}};
  if (!required.empty()) out["required"] = std::move(required);
  out["properties"] = std::move(properties);
  out[kPreserve] = true;
  return out;
}

// Amounts may be whole numbers, fractions and texts, for which a structural schema has no type.
json::object amounts_schema(std::string_view description) {
  json::object amount{{kPreserve, true}, {"minimum", 0}, {"pattern", kAmountPattern}};
  return {{"description", jview(description)},
          {"type", "object"},
          {"nullable", true},
          {"additionalProperties", std::move(amount)}};
}

json::object port_schema() {
  json::object number{
      {"description", "Number of the port."}, {"type", "integer"}, {"minimum", 1}, {"maximum", 65535}};
  json::object host = whole("Number of the port of the node.", 0);
  host["maximum"] = 65535;
  json::object name = word_like("Name of the port.", kPortNamePattern);
  name["maxLength"] = 15;
  return open_with("A port that the container listens on.", {"containerPort"},
                   {{"containerPort", std::move(number)},
                    {"hostPort", std::move(host)},
                    {"name", std::move(name)},
                    {"protocol", word_like("TCP, UDP or SCTP.", kProtocolPattern)}});
}

json::object variable_schema() {
  json::object name{{"description", "Name of the variable."}, {"type", "string"}, {"pattern", "^[^=]+$"}};
  json::object value{{"description", "What it is set to, as text."}, {"type", "string"}, {"nullable", true}};
  json::object from = maybe("object", "Where its value comes from.");
  from[kPreserve] = true;
  from["minProperties"] = 1;
  return open_with("A variable of the environment.", {"name"},
                   {{"name", std::move(name)}, {"value", std::move(value)}, {"valueFrom", std::move(from)}});
}

json::object resources_schema() {
  json::object resources = open_with("What the container needs and may use.", {},
                                     {{"limits", amounts_schema("What it may use at most.")},
                                      {"requests", amounts_schema("What it is given, as 500m, 2 or 1Gi.")}});
  resources["nullable"] = true;
  return resources;
}

json::object mount_schema() {
  return open_with("A volume and where it appears.", {"name", "mountPath"},
                   {{"name", word("Name of a volume of the pod.")},
                    {"mountPath", word("Path in the container.")},
                    {"readOnly", maybe("boolean", "Whether it may only be read.")},
                    {"subPath", maybe("string", "The part of the volume that is seen.")}});
}

json::object container_schema() {
  const json::object text{{"type", "string"}};
  return open_with(
      "A container, with all fields that Kubernetes gives it.", {"name", "image"},
      {{"name", label_name("Name of the container, unique in the pod.")},
       {"image", word("Image that the container runs.")},
       {"imagePullPolicy", word_like("Always, IfNotPresent or Never.", kPullPattern)},
       {"command", list_of("The program and its first arguments.", text)},
       {"args", list_of("Further arguments.", text)},
       {"workingDir", maybe("string", "Where it starts.")},
       {"env", list_of("Variables of its environment.", variable_schema())},
       {"envFrom", list_of("Where more variables come from.", open_object())},
       {"ports", list_of("Ports that it listens on.", port_schema())},
       {"resources", resources_schema()},
       {"volumeMounts", by("mountPath", list_of("Volumes of the pod that it sees.", mount_schema()))}});
}

// The types of fields that a pod is placed and run by.
void add_pod_fields(json::object& properties) {
  constexpr std::string_view kText = "As of any pod: kubectl explain pod.spec.";
  for (std::string_view name : {"schedulerName", "hostname", "subdomain", "dnsPolicy"}) {
    properties[jview(name)] = maybe("string", kText);
  }
  for (std::string_view name : {"priorityClassName", "serviceAccountName", "nodeName", "runtimeClassName"}) {
    json::object other = word_like(kText, kObjectNamePattern);
    other["maxLength"] = 253;
    properties[jview(name)] = std::move(other);
  }
  for (std::string_view name : {"hostNetwork", "hostIPC", "hostPID", "shareProcessNamespace",
                                "automountServiceAccountToken", "enableServiceLinks"}) {
    properties[jview(name)] = maybe("boolean", kText);
  }
  for (std::string_view name : {"affinity", "securityContext", "dnsConfig", "overhead"}) {
    properties[jview(name)] = maybe("object", kText);
    properties[jview(name)].as_object()[kPreserve] = true;
  }
  for (std::string_view name :
       {"tolerations", "imagePullSecrets", "hostAliases", "topologySpreadConstraints"}) {
    properties[jview(name)] = list_of(kText, open_object());
  }
  properties["activeDeadlineSeconds"] = whole(kText, 1);
  properties["terminationGracePeriodSeconds"] = whole(kText, 0);
}

json::object pod_spec_schema() {
  json::object containers = by("name", list_of("The containers of the pod.", container_schema()));
  containers.erase("nullable");
  containers["minItems"] = 1;
  containers["maxItems"] = 100;
  json::object volume = open_with("A volume, with all fields that Kubernetes gives it.", {"name"},
                                  {{"name", label_name("Name of the volume, unique in the pod.")}});
  json::object selector = described(text_map(), "Labels of the nodes that the pod may run on.");
  selector["nullable"] = true;
  json::object policy{{"description", "Always, OnFailure or Never; the role's own counts for more."},
                      {"type", "string"},
                      {"enum", {"", "Always", "OnFailure", "Never"}}};
  json::object properties{
      {"containers", std::move(containers)},
      {"initContainers",
       by("name", list_of("Containers that run before the others, one by one.", container_schema()))},
      {"volumes", by("name", list_of("What its containers may mount.", std::move(volume)))},
      {"nodeSelector", std::move(selector)},
      {"restartPolicy", std::move(policy)}};
  add_pod_fields(properties);
  return open_with("The pod, with all fields that Kubernetes gives it: kubectl explain pod.spec.",
                   {"containers"}, std::move(properties));
}

json::object pod_template_schema() {
  json::object spec = pod_spec_schema();
  json::object labels = described(text_map(), "Labels of the pod.");
  json::object& label = labels["additionalProperties"].as_object();
  label["maxLength"] = 63;
  label["pattern"] = kLabelValuePattern;
  json::object metadata = open_with(
      "Labels and annotations of the pod.", {},
      {{"labels", std::move(labels)},
       {"annotations", described(text_map(), "Annotations of the pod.")},
       {"finalizers", list_of("What must be done before it goes.", json::object{{"type", "string"}})}});
  return {{"type", "object"},
          {"required", {"spec"}},
          {"properties", json::object{{"metadata", std::move(metadata)}, {"spec", std::move(spec)}}}};
}

json::object message_schema(const SchemaType& type, int depth) {
  if (type.name == "PodTemplateSpec") return pod_template_schema();
  if (type.name == "ObjectMeta") return {{"type", "object"}};
  return schema_of_type(type, depth);
}

json::object value_schema(const SchemaField& field, int depth) {
  switch (field.scalar) {
    case ScalarType::kInt32:
    case ScalarType::kInt64:
    case ScalarType::kBool:
    case ScalarType::kDouble:
    case ScalarType::kBytes:
    case ScalarType::kStringList:
    case ScalarType::kString:
    case ScalarType::kDuration:
      return server::plain_schema(field.scalar);
    case ScalarType::kTime:
    case ScalarType::kMicroTime:
      return {{"type", "string"}, {"format", "date-time"}};
    case ScalarType::kQuantity:
      return {{"anyOf", {json::object{{"type", "integer"}}, json::object{{"type", "string"}}}},
              {"minimum", 0},
              {"pattern", kAmountPattern},
              {"x-kubernetes-int-or-string", true}};
    case ScalarType::kIntOrString:
      return {{"anyOf", {json::object{{"type", "integer"}}, json::object{{"type", "string"}}}},
              {"x-kubernetes-int-or-string", true}};
    case ScalarType::kRaw:
      return open_object();
    case ScalarType::kMessage:
      return message_schema(*field.message, depth);
  }
  return {};
}

json::object field_schema(const SchemaField& field, int depth) {
  json::object value = value_schema(field, depth);
  switch (field.many) {
    case server::Many::kOne:
      if (field.description.empty()) return value;
      value.erase("description");
      return described(std::move(value), field.description);
    case server::Many::kList:
      return described({{"type", "array"}, {"items", std::move(value)}}, field.description);
    case server::Many::kMap:
      return described({{"type", "object"}, {"additionalProperties", std::move(value)}}, field.description);
  }
  return value;
}

void add_fields(const SchemaType& type, int depth, json::object& properties, json::array& required) {
  CHECK(depth < kDepthMax);
  for (const SchemaField& field : type.fields) {
    if (field.inlined) {
      add_fields(*field.message, depth + 1, properties, required);
      continue;
    }
    properties[jview(field.name)] = field_schema(field, depth + 1);
    if (field.required) required.emplace_back(jview(field.name));
  }
}

json::object schema_of_type(const SchemaType& type, int depth) {
  json::object properties;
  json::array required;
  add_fields(type, depth, properties, required);
  json::object out{{"description", jview(type.description)}, {"type", "object"}};
  if (!required.empty()) out["required"] = std::move(required);
  if (!properties.empty()) out["properties"] = std::move(properties);
  if (type.open) out[kPreserve] = true;
  return out;
}

}  // namespace

json::object structural_schema(const server::SchemaType& kind) {
  CHECK(kind.is_kind());
  json::object schema = schema_of_type(kind, 0);
  json::object properties;
  properties["apiVersion"] =
      json::object{{"description", "Group and version of the object's schema."}, {"type", "string"}};
  properties["kind"] = json::object{{"description", "Kind of the object."}, {"type", "string"}};
  for (json::key_value_pair& each : schema["properties"].as_object()) {
    properties[each.key()] = std::move(each.value());
  }
  properties["metadata"] = json::object{{"type", "object"}};
  schema["properties"] = std::move(properties);
  return schema;
}

}  // namespace trainyard::deploy
