#include "cli/verbs_submit.h"

#include <fmt/format.h>

#include <array>

#include "cli/commands.h"
#include "cli/dialects.h"
#include "cli/lower.h"
#include "cli/manifest.h"
#include "cli/validate.h"
#include "cli/verbs_find.h"
#include "kube/access.h"

namespace trainyard::cli {
namespace {

constexpr std::array kKnown{
    kube::kPods,
    kube::kServices,
    kube::kConfigMaps,
    kube::kSecrets,
    kube::kPersistentVolumeClaims,
    kube::kNetworkPolicies,
    kube::kVolcanoPodGroups,
    kube::kVolcanoQueues,
    kube::kT9kQueues,
    kube::kTensorBoards,
    kube::Resource{"", "v1", "Namespace", "namespaces", false},
    kube::Resource{"", "v1", "ServiceAccount", "serviceaccounts", true, false},
};

// A resource and the texts it points at.
struct ResourceText {
  std::string group;
  std::string version;
  std::string kind;
  std::string plural;
  bool namespaced = true;

  kube::Resource resource() const { return {group, version, kind, plural, namespaced}; }
};

// What the API calls objects of this kind; asked for where it is not known by heart.
Result<ResourceText> resource_of(const Cluster& cluster, const Object& object) {
  std::string api_version(kube::text_at(object.body, {"apiVersion"}));
  std::string kind(kube::text_at(object.body, {"kind"}));
  size_t slash = api_version.find('/');
  ResourceText text{slash == std::string::npos ? "" : api_version.substr(0, slash),
                    slash == std::string::npos ? api_version : api_version.substr(slash + 1), kind, "", true};
  if (object.dialect != nullptr) {
    text.plural = object.dialect->resource.plural;
    return text;
  }
  for (const kube::Resource& known : kKnown) {
    if (known.api_version() != api_version || known.kind != kind) continue;
    text.plural = known.plural;
    text.namespaced = known.namespaced;
    return text;
  }
  Result<std::string> listed =
      cluster.pods.read(slash == std::string::npos ? "/api/" + api_version : "/apis/" + api_version);
  if (listed.ok()) {
    Result<json::value> parsed = kube::parse_json(*listed);
    const json::object* body = parsed.ok() ? parsed->if_object() : nullptr;
    const json::array* resources = body == nullptr ? nullptr : kube::array_at(*body, {"resources"});
    for (const json::value& value : kube::or_empty(resources)) {
      const json::object* entry = value.if_object();
      if (entry == nullptr || kube::text_at(*entry, {"kind"}) != kind) continue;
      if (kube::text_at(*entry, {"name"}).find('/') != std::string_view::npos) continue;
      text.plural = kube::text_at(*entry, {"name"});
      text.namespaced = kube::bool_at(*entry, {"namespaced"}).value_or(true);
      return text;
    }
  }
  return Error{ErrorKind::kNotFound, fmt::format("{} knows no {} of {}", cluster.where, kind, api_version)};
}

bool check_all(const Manifests& manifests, const dialect::Settings& settings, const Cluster& cluster,
               const Console& console) {
  bool fine = report_complaints(manifests, console);
  for (const Object& object : manifests.objects) {
    std::string_view ns = kube::namespace_of(object.body);
    if (cluster.ns_said && !ns.empty() && ns != cluster.ns) {
      fine = false;
      console.err << fmt::format("{}: metadata.namespace: is '{}', the command line says '{}'\n",
                                 object.place_of("metadata.namespace"), ns, cluster.ns);
    }
    if (object.dialect == nullptr) continue;
    dialect::LowerResult lowered = lower_document(object, settings);
    if (const auto* spec = std::get_if<model::JobSpec>(&lowered)) {
      for (const model::Advice& advice : spec->advice) {
        console.err << fmt::format("{}: warning: {}\n", object.place_of(""), advice.message);
      }
      continue;
    }
    fine = false;
    for (const std::string& line : located(object, std::get<std::vector<dialect::Problem>>(lowered))) {
      console.err << line << "\n";
    }
  }
  if (fine && manifests.objects.empty()) {
    console.err << "there is nothing in the input to submit\n";
    return false;
  }
  return fine;
}

std::string title_of(const Object& object, const ResourceText& text) {
  if (object.dialect != nullptr) return std::string(word_of(*object.dialect));
  return text.group.empty() ? text.plural : fmt::format("{}.{}", text.plural, text.group);
}

std::string advice_for(const Error& error, const Object& object, const std::string& title,
                       const std::string& ns) {
  if (error.kind == ErrorKind::kAlreadyExists) {
    return object.dialect == nullptr
               ? fmt::format("; change it with: kubectl apply -f {}", object.file->label)
               : fmt::format(
                     "; change it with 'trainyard scale', 'pause' or 'kubectl apply', or run it anew after "
                     "'trainyard delete --wait {}'",
                     title);
  }
  if (error.kind == ErrorKind::kNotFound && error.message.starts_with("namespaces ")) {
    return fmt::format("; make it with: kubectl create namespace {}", ns);
  }
  if (error.kind == ErrorKind::kNotFound && object.dialect != nullptr) {
    return fmt::format("; are the custom resources of {} installed?", object.dialect->resource.group);
  }
  return "";
}

bool create_one(const Object& object, const Cluster& cluster, const Console& console) {
  Result<ResourceText> text = resource_of(cluster, object);
  if (!text.ok()) {
    console.err << fmt::format("{}: {}\n", object.place_of(""), text.error().message);
    return false;
  }
  std::string ns(kube::namespace_of(object.body));
  if (ns.empty()) ns = cluster.ns;
  kube::Request request{text->resource(), text->namespaced ? ns : "", kube::Create{object.body}};
  request.options.field_manager = "trainyard";
  request.options.field_validation = "Strict";
  Result<client::Reply> made = cluster.client.send(request);
  std::string name(kube::name_of(made.ok() && made->object != nullptr ? *made->object : object.body));
  std::string title = fmt::format("{}/{}", title_of(object, *text), name);
  if (made.ok()) {
    console.out << fmt::format("{} created in {}\n", title, text->namespaced ? ns : "the cluster");
    return true;
  }
  console.err << fmt::format("{}: {}: {}{}\n", object.place_of(""), title, made.error().message,
                             advice_for(made.error(), object, title, ns));
  return false;
}

}  // namespace

int submit(const Submit& verb, const Cluster& cluster, const Console& console) {
  std::vector<TextFile> files = read_paths(verb.paths, console.in);
  Manifests manifests = take_apart(files, all_dialects());
  if (!check_all(manifests, verb.settings, cluster, console)) return kInputAtFault;
  bool fine = true;
  for (const Object& object : manifests.objects) fine = create_one(object, cluster, console) && fine;
  return fine ? kFine : kInputAtFault;
}

}  // namespace trainyard::cli
