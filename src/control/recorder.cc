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

void Recorder::tell(client::Client& client, const json::object& about, std::string_view component,
                    const dialect::EventText& text, Time now) {
  Telling telling = prepare(about, component, text, now);
  if (answer(telling, client.send(std::move(telling.request)))) return;
  telling = prepare(about, component, text, now);
  (void)answer(telling, client.send(std::move(telling.request)));
}

Recorder::Telling Recorder::prepare(const json::object& about, std::string_view component,
                                    const dialect::EventText& text, Time now) {
  Words words = words_of(kube::uid_of(about), component, text);
  std::string ns(kube::namespace_of(about));
  if (auto found = told_.find(words); found != told_.end()) {
    const Told& told = found->second;
    json::object body{{"count", told.count + 1}, {"lastTimestamp", format_rfc3339(now)}};
    kube::Patch patch{told.name, kube::PatchKind::kMerge, std::move(body)};
    return {kube::unheeded(kube::kEvents, ns, std::move(patch)), words, told.name, true, told.turn};
  }
  uint64_t turn = turns_++;
  kube::NewEvent event;
  event.name = event_name(kube::name_of(about), words, turn, now);
  event.ns = ns;
  event.involved = kube::involved_object(about);
  event.type = text.warning ? kube::EventType::kWarning : kube::EventType::kNormal;
  event.reason = text.reason;
  event.message = text.message;
  event.component = component;
  event.first = now;
  event.last = now;
  std::string name = event.name;
  return {kube::unheeded(kube::kEvents, ns, kube::Create{kube::event(std::move(event))}), words,
          std::move(name), false, turn};
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
