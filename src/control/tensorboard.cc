#include "control/tensorboard.h"

#include <algorithm>
#include <utility>

#include "base/match.h"
#include "control/retry.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::control {
namespace {

constexpr std::string_view kBoardComponent = "tensorboard-controller";
constexpr Duration kLeadAgain{2'000};

kube::LabelSelector board_children() {
  Result<kube::LabelSelector> labels = kube::LabelSelector::parse(kBoardLabel);
  CHECK(labels.ok());
  return *labels;
}

// Whether an owner of this kind and name stands in it; "" when none does.
std::string_view board_owning(const json::object& child) {
  const json::array* owners = kube::array_at(child, {"metadata", "ownerReferences"});
  for (size_t i = 0; owners != nullptr && i < owners->size(); ++i) {
    const json::object* one = (*owners)[i].if_object();
    if (one != nullptr && kube::text_at(*one, {"kind"}) == kube::kTensorBoards.kind)
      return kube::text_at(*one, {"name"});
  }
  return "";
}

}  // namespace

BoardKeeper::BoardKeeper(client::Client& client, BoardOptions options)
    : client_(client), options_(std::move(options)), caches_(3) {
  watchers_.emplace_back(client::Stream{kube::kTensorBoards, {}, options_.ns});
  watchers_.emplace_back(client::Stream{kube::kPods, board_children(), options_.ns});
  watchers_.emplace_back(client::Stream{kube::kServices, board_children(), options_.ns});
}

std::vector<StreamRequest> BoardKeeper::requests(Time now) {
  std::vector<StreamRequest> wanted;
  for (int stream : {kBoardStream, kPodStream, kServiceStream}) {
    if (auto request = watchers_[stream].ask(now)) wanted.push_back({stream, std::move(*request)});
  }
  return wanted;
}

void BoardKeeper::on_list(int stream, const Result<client::Reply>& reply, Time now) {
  take_in(stream, watchers_[stream].on_list(reply, now), now);
}

void BoardKeeper::on_event(int stream, const client::WatchEvent& event, Time now) {
  take_in(stream, watchers_[stream].on_event(event, now), now);
}

void BoardKeeper::on_closed(int stream, const std::optional<Error>& error, Time now) {
  watchers_[stream].on_closed(error, now);
}

void BoardKeeper::take_in(int stream, const std::vector<client::Output>& outputs, Time now) {
  for (const client::Output& output : outputs) {
    for (const client::Changed& changed : caches_[stream].apply(output, now)) {
      const client::Object seen = changed.after != nullptr ? changed.after : changed.before();
      client::ObjectKey key{std::string(kube::namespace_of(*seen)), std::string(kube::name_of(*seen))};
      if (stream != kBoardStream) {
        wake_owner(*seen, now);
      } else if (changed.after == nullptr) {
        told_.erase(key);
        queue_.forget(key);
      } else {
        queue_.add(key, now);
      }
    }
  }
}

void BoardKeeper::wake_owner(const json::object& child, Time now) {
  std::string_view owner = board_owning(child);
  std::string_view ns = kube::namespace_of(child);
  // What one leaves behind that is gone is collected by the cluster.
  if (!caches_[kBoardStream].contains(ns, owner)) return;
  queue_.add({std::string(ns), std::string(owner)}, now);
}

bool BoardKeeper::synced() const {
  return std::all_of(caches_.begin(), caches_.end(), [](const client::Cache& c) { return c.synced(); });
}

bool BoardKeeper::step(Time now) {
  if (!synced()) return false;
  if (!leads()) {
    not_before_ = now + kLeadAgain;
    return false;
  }
  std::optional<client::ObjectKey> key = queue_.take(now);
  if (!key) return false;
  queue_.done(*key);
  client::Object board = caches_[kBoardStream].find(key->ns, key->name);
  if (board == nullptr) {
    told_.erase(*key);
    queue_.forget(*key);
    return true;
  }
  std::optional<Time> wake;
  if (std::optional<Error> error = keep(board, now, wake)) {
    const bool is_news = std::exchange(told_[*key], error->message) != error->message;
    if (is_news && options_.trouble) options_.trouble(*key, *error);
    queue_.add(*key, queue_.back_off(*key, now));
  } else {
    told_.erase(*key);
    queue_.reset(*key);
    if (wake) queue_.add(*key, *wake);
  }
  return true;
}

client::Object BoardKeeper::child_of(const json::object& board, int stream) const {
  client::Object child =
      caches_[stream].find(kube::namespace_of(board), board_child_name(kube::name_of(board)));
  bool ours = child != nullptr && kube::controller_uid_of(*child) == kube::uid_of(board);
  return ours ? child : nullptr;
}

std::optional<Error> BoardKeeper::keep(const client::Object& board, Time now, std::optional<Time>& wake) {
  client::Object pod = child_of(*board, kPodStream);
  client::Object service = child_of(*board, kServiceStream);
  BoardPlan plan = plan_board({board.get(), pod.get(), service.get()}, options_.settings, now);
  for (const BoardStep& step : plan.steps) {
    std::optional<Error> error = carry_out(*board, step, now);
    if (!error) continue;
    const bool is_of_child = !std::holds_alternative<WriteBoardStatus>(step);
    if (is_of_child && retry_for(error->kind) == Retry::kTell) {
      say_refused(*board, {board.get(), pod.get(), service.get(), error->message}, now);
    }
    return error;
  }
  wake = plan.wake;
  return std::nullopt;
}

// Who asks how it is doing looks at its status.
void BoardKeeper::say_refused(const json::object& board, const BoardSeen& seen, Time now) {
  for (const BoardStep& step : plan_board(seen, options_.settings, now).steps) {
    // What is wrong is known already; it is tried again with the rest.
    if (std::holds_alternative<WriteBoardStatus>(step)) static_cast<void>(carry_out(board, step, now));
  }
}

std::optional<Error> BoardKeeper::create(const json::object& board, const kube::Resource& resource,
                                         const json::object& body, Time now) {
  std::string_view ns = kube::namespace_of(board);
  Result<client::Object> made = client::create(client_, resource, ns, body);
  if (made.ok()) {
    recorder_.tell(
        client_, board, kBoardComponent,
        {false, "SuccessfulCreate",
         fmt::format("Created {}: {}", resource.kind == "Pod" ? "pod" : "service", kube::name_of(body))},
        now);
    return std::nullopt;
  }
  if (made.error().kind == ErrorKind::kAlreadyExists) {
    Result<client::Object> there = client::get(client_, resource, ns, kube::name_of(body));
    if (there.ok() && kube::controller_uid_of(**there) == kube::uid_of(board)) return std::nullopt;
  }
  recorder_.tell(client_, board, kBoardComponent, {true, "FailedCreate", made.error().message}, now);
  return made.error();
}

std::optional<Error> BoardKeeper::carry_out(const json::object& board, const BoardStep& step, Time now) {
  // The lease may have run out while an earlier step took its time.
  if (!leads()) return Error{ErrorKind::kUnavailable, "somebody else leads: nothing is written"};
  std::string_view ns = kube::namespace_of(board);
  auto remove = [&](const DeleteBoardPod& what) -> std::optional<Error> {
    Result<Done> gone = client::remove(client_, kube::kPods, ns, what.name, {.uid = what.uid});
    if (gone.ok() || gone.error().kind == ErrorKind::kNotFound) return std::nullopt;
    return gone.error();
  };
  auto write = [&](const WriteBoardStatus& what) -> std::optional<Error> {
    json::object body = board;
    body["status"] = what.status;
    Result<client::Object> written = client::update_status(client_, kube::kTensorBoards, ns, std::move(body));
    if (!written.ok()) {
      ErrorKind kind = written.error().kind;
      if (kind == ErrorKind::kNotFound) return std::nullopt;
      // What will not come right by itself is told, for nobody would see it otherwise.
      if (kind == ErrorKind::kInvalid || kind == ErrorKind::kForbidden) {
        recorder_.tell(client_, board, kBoardComponent, {true, "FailedUpdateStatus", written.error().message},
                       now);
      }
      return written.error();
    }
    for (const dialect::EventText& note : what.notes)
      recorder_.tell(client_, board, kBoardComponent, note, now);
    return std::nullopt;
  };
  return std::visit(
      Match{
          remove,
          [&](const CreateBoardService& what) { return create(board, kube::kServices, what.body, now); },
          [&](const CreateBoardPod& what) { return create(board, kube::kPods, what.body, now); },
          write,
      },
      step);
}

std::optional<Time> BoardKeeper::next_wake() const {
  std::optional<Time> next;
  if (synced()) next = queue_.next();
  if (next) next = std::max(*next, not_before_);
  for (const client::Watcher& watcher : watchers_) {
    std::optional<Time> ask = watcher.next_ask();
    if (ask && (!next || *ask < *next)) next = ask;
  }
  return next;
}

}  // namespace trainyard::control
