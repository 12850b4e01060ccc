#include "control/recorder.h"

#include "base/hash.h"
#include "kube/access.h"
#include "kube/objects.h"

namespace trainyard::control {

namespace {

Recorder::Words words_of(std::string_view uid, std::string_view component, const dialect::EventText& text) {
  std::string all;
  all.reserve(uid.size() + component.size() + text.reason.size() + text.message.size() + 16);
  all.append(uid).append("|").append(component).append(text.warning ? "|Warning|" : "|Normal|");
  all.append(text.reason).append("|").append(text.message);
  uint64_t first = fnv1a(all);
  return {first, fnv1a(all, ~first)};
}

void add_hex(std::string& text, uint64_t number, int digits) {
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4)
    text += "0123456789abcdef"[number >> shift & 0xF];
}

json::object involved_object(const Reference& of) {
  json::object out;
  out.reserve(6);
  auto put = [&](std::string_view as, std::string_view text) {
    if (!text.empty()) out.emplace(kube::jview(as), kube::jview(text));
  };
  put("kind", of.kind);
  put("namespace", of.ns);
  put("name", of.name);
  put("uid", of.uid);
  put("apiVersion", of.api_version);
  put("resourceVersion", of.version);
  return out;
}

// Names in the order of what they tell, as a list is sorted by name: the time, the turn
// within it, and a little of the words, which tells apart what two recorders say at once.
std::string event_name(std::string_view object, const Recorder::Words& words, uint64_t turn, Time now) {
  constexpr size_t kObjectNameMax = 230;
  constexpr int kTimeDigits = 11;  // until the year 2527
  std::string name(object.substr(0, kObjectNameMax));
  name += '.';
  add_hex(name, static_cast<uint64_t>(now.ms), kTimeDigits);
  add_hex(name, turn, 3);
  add_hex(name, words.first, 2);
  return name;
}

}  // namespace

Reference reference_of(const json::object& object) {
  return {std::string(kube::text_at(object, {"apiVersion"})),
          std::string(kube::text_at(object, {"kind"})),
          std::string(kube::namespace_of(object)),
          std::string(kube::name_of(object)),
          std::string(kube::uid_of(object)),
          std::string(kube::text_at(object, {"metadata", "resourceVersion"}))};
}

void Recorder::tell(client::Client& client, const json::object& about, std::string_view component,
                    const dialect::EventText& text, Time now) {
  const Reference whom = reference_of(about);
  auto is_told = [&] {
    Telling telling = prepare(whom, component, text, now);
    return answer(telling, client.send(request_of(telling, whom, component, text, now)));
  };
  if (!is_told()) is_told();
}

Recorder::Telling Recorder::prepare(const Reference& about, std::string_view component,
                                    const dialect::EventText& text, Time now) {
  Words words = words_of(about.uid, component, text);
  if (auto found = told_.find(words); found != told_.end()) {
    const Told& told = found->second;
    return {words, told.name, true, told.turn, told.count + 1};
  }
  uint64_t turn = turns_++;
  return {words, event_name(about.name, words, turn, now), false, turn};
}

kube::Request Recorder::request_of(const Telling& telling, const Reference& about, std::string_view component,
                                   const dialect::EventText& text, Time now) {
  if (telling.again) {
    json::object body{{"count", telling.count}, {"lastTimestamp", format_rfc3339(now)}};
    return kube::unheeded(kube::kEvents, about.ns,
                          kube::Patch{telling.name, kube::PatchKind::kMerge, std::move(body)});
  }
  kube::NewEvent event{telling.name, about.ns, involved_object(about)};
  event.type = text.warning ? kube::EventType::kWarning : kube::EventType::kNormal;
  event.reason = text.reason;
  event.message = text.message;
  event.component = component;
  event.first = now;
  event.last = now;
  return kube::unheeded(kube::kEvents, about.ns, kube::Create{kube::event(std::move(event))});
}

bool Recorder::answer(const Telling& telling, const Result<client::Reply>& reply) {
  auto found = told_.find(telling.words);
  if (telling.again) {
    bool expired = !reply.ok() && reply.error().kind == ErrorKind::kNotFound;
    if (found == told_.end()) return !expired;
    if (reply.ok()) ++found->second.count;
    if (expired) forget(found);
    return !expired;
  }
  if (!reply.ok()) return true;
  if (found != told_.end()) forget(found);
  if (told_.size() >= kEventsRememberedMax) forget(told_.find(oldest_.begin()->second));
  told_.emplace(telling.words, Told{telling.name, 1, telling.turn});
  oldest_.emplace(telling.turn, telling.words);
  return true;
}

void Recorder::forget(std::map<Words, Told>::iterator told) {
  oldest_.erase(told->second.turn);
  told_.erase(told);
}

}  // namespace trainyard::control
