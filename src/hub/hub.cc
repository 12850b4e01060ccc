#include "hub/hub.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "hub/carry_out.h"
#include "hub/gathering.h"
#include "hub/journal.h"
#include "hub/log_sizes.h"
#include "hub/watchers.h"
#include "kube/access.h"
#include "store/errors.h"

namespace trainyard::hub {

namespace {

constexpr std::chrono::seconds kTick{15};           // how often the hub looks at the clock when idle
constexpr std::chrono::seconds kExpiryEvery{60};    // how often events are looked through
constexpr std::chrono::seconds kPauseAfterFail{1};  // before the hub's own writes are tried again
constexpr int kSweepsMax = 1'000;
constexpr int kMarksKept = 20;
constexpr kube::Resource kServiceAccounts{"", "v1", "ServiceAccount", "serviceaccounts", true, false};
constexpr std::string_view kDefaultAccount = "default";

bool is_write(const kube::Verb& verb) {
  return !std::holds_alternative<kube::Get>(verb) && !std::holds_alternative<kube::List>(verb);
}

// An answer that is held back until what it shows is on disk.
struct Waiting {
  int64_t need = 0;  // the revision
  Result<Answer> answer;
  Hub::Respond respond;
  std::optional<kube::Request> read;  // how to answer anew if that revision never comes
};

class Handle final : public Subscription {
 public:
  explicit Handle(std::shared_ptr<Watcher> watcher) : watcher_(std::move(watcher)) {}
  ~Handle() override { watcher_->drop(); }

 private:
  std::shared_ptr<Watcher> watcher_;
};

class Body final : public Hub {
 public:
  Body(Options options, std::unique_ptr<Journal> journal, store::Store store)
      : options_(std::move(options)),
        journal_(std::move(journal)),
        durable_(journal_->is_durable()),
        store_(std::move(store)),
        committed_(store_.revision()),
        sizes_(committed_),
        told_(committed_) {}
  ~Body() override;

  Result<Done> start();

  void set_admission(const kube::Resource& resource, store::Admission admission) override;
  void set_shaping(const kube::Resource& resource, store::Shaping shaping) override;
  void set_schema(const kube::Resource& resource, store::SchemaSource schema) override;
  void submit(kube::Request request, Respond respond) override;
  Result<Answer> call(kube::Request request) override;
  Result<std::unique_ptr<Subscription>> watch(const kube::Resource& resource, std::string_view ns,
                                              const kube::Watch& query, WatchSink sink) override;
  int64_t revision() const override;
  std::optional<std::string> failed() const override;

 private:
  using Lock = std::unique_lock<std::mutex>;

  // Each is called with the lock held; those that take it let go of it while they work.
  void run();
  // Waits for as many answers as are worth a commit, not for long.
  void gather(Lock& lock);
  void housekeep(Steady::time_point now);
  // Gives each namespace the service account that every one has.
  void make_accounts(Time now);
  void commit(Lock& lock);
  Batch next_batch() const;
  void note_sizes(const Batch& written);
  void answer_ready(Lock& lock, Batch& written);
  void fail(Lock& lock, const Error& error);
  void tell(Lock& lock);
  int64_t needed_by(const kube::Verb& verb, const Result<Answer>& answer) const;
  // Remembers how far the log was at this time.
  void mark(Time now);
  // Up to where the log can go; nullopt when it is not worth it yet.
  std::optional<int64_t> compactable() const;

  // Fixed.
  const Options options_;
  const std::unique_ptr<Journal> journal_;  // of the hub's thread, once started
  const bool durable_;
  // State, guarded by mutex_.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  store::Store store_;
  int64_t committed_;
  LogSizes sizes_;               // of what was committed
  int64_t told_;                 // to those who watch
  int64_t equipped_ = 0;         // up to here every namespace has its service account
  std::deque<Waiting> waiting_;  // by what they need, ascending
  Gathering gathering_;
  bool gathers_ = false;  // the hub's thread waits for as many as that wants
  Watchers watchers_;
  std::optional<std::string> failed_;
  bool closing_ = false;
  Steady::time_point expiry_at_{};
  Steady::time_point paused_until_{};
  struct Mark {
    Time at;
    int64_t revision = 0;
  };
  std::deque<Mark> marks_;  // ascending; the first one is old enough to be compacted, if it is
  std::thread thread_;
};

Result<Done> Body::start() {
  for (std::string_view name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    if (store_.get(kube::kNamespaces, "", name).ok()) continue;
    json::object body{{"metadata", json::object{{"name", name}}}};
    Result<Object> made = store_.create(kube::kNamespaces, "", std::move(body), options_.clock());
    CHECK(made.ok());
  }
  make_accounts(options_.clock());
  if (store_.revision() > committed_) {
    Batch batch = next_batch();
    write_texts(batch);
    Result<Done> done = journal_->commit(batch);
    if (!done.ok()) return Error{ErrorKind::kUnavailable, done.error().message};
    committed_ = told_ = store_.revision();
    note_sizes(batch);
  }
  thread_ = std::thread([this] { run(); });
  return Done{};
}

Body::~Body() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Body::set_admission(const kube::Resource& resource, store::Admission admission) {
  std::lock_guard lock(mutex_);
  store_.set_admission(resource, std::move(admission));
}

void Body::set_shaping(const kube::Resource& resource, store::Shaping shaping) {
  std::lock_guard lock(mutex_);
  store_.set_shaping(resource, std::move(shaping));
}

void Body::set_schema(const kube::Resource& resource, store::SchemaSource schema) {
  std::lock_guard lock(mutex_);
  store_.set_schema(resource, std::move(schema));
}

int64_t Body::needed_by(const kube::Verb& verb, const Result<Answer>& answer) const {
  // An object that is on disk may be shown whatever else is under way.
  if (std::holds_alternative<kube::Get>(verb) && answer.ok()) return answer->revision;
  return store_.revision();
}

void Body::submit(kube::Request request, Respond respond) {
  Lock lock(mutex_);
  const bool writes = is_write(request.verb);
  if (writes && (failed_ || closing_)) {
    std::string why = failed_ ? *failed_ : "the store is closing";
    lock.unlock();
    respond(Error{ErrorKind::kUnavailable, std::move(why)});
    return;
  }
  std::optional<kube::Request> read;
  if (!writes) read = request;
  Result<Answer> answer = carry_out(store_, request, options_.clock());
  if (!durable_ && store_.revision() > committed_) {
    housekeep(Steady::now());
    committed_ = store_.revision();
  }
  const int64_t need = needed_by(request.verb, answer);
  if (need > committed_) {
    waiting_.push_back({need, std::move(answer), std::move(respond), std::move(read)});
    const bool is_worth_it = !gathers_ || waiting_.size() >= gathering_.wanted();
    lock.unlock();
    if (is_worth_it) wake_.notify_one();
    return;
  }
  const bool somebody_listens = told_ < committed_;
  lock.unlock();
  if (somebody_listens) wake_.notify_one();
  respond(std::move(answer));
}

Result<Answer> Body::call(kube::Request request) {
  CHECK(std::this_thread::get_id() != thread_.get_id());
  std::promise<Result<Answer>> promise;
  std::future<Result<Answer>> answer = promise.get_future();
  submit(std::move(request), [&](Result<Answer> result) { promise.set_value(std::move(result)); });
  return answer.get();
}

Result<std::unique_ptr<Subscription>> Body::watch(const kube::Resource& resource, std::string_view ns,
                                                  const kube::Watch& query, WatchSink sink) {
  Lock lock(mutex_);
  Result<std::shared_ptr<Watcher>> watcher =
      watchers_.add(store_, committed_, resource, ns, query, std::move(sink), Steady::now());
  if (!watcher.ok()) return watcher.error();
  lock.unlock();
  wake_.notify_one();
  return std::unique_ptr<Subscription>(std::make_unique<Handle>(std::move(watcher).value()));
}

int64_t Body::revision() const {
  std::lock_guard lock(mutex_);
  return committed_;
}

std::optional<std::string> Body::failed() const {
  std::lock_guard lock(mutex_);
  return failed_;
}

void Body::run() {
  Lock lock(mutex_);
  while (true) {
    gather(lock);
    Steady::time_point tick = Steady::now() + kTick;
    if (paused_until_ > Steady::now()) tick = std::min(tick, paused_until_);
    tick = std::min(tick, watchers_.next_bookmark().value_or(tick));
    wake_.wait_until(lock, tick, [&] {
      return closing_ || !waiting_.empty() || store_.revision() > committed_ || told_ < committed_ ||
             watchers_.has_new();
    });
    housekeep(Steady::now());
    if (!durable_) committed_ = store_.revision();
    const bool is_well = !failed_ && Steady::now() >= paused_until_;
    if (store_.revision() > committed_ || (durable_ && is_well && compactable())) commit(lock);
    tell(lock);
    if (closing_ && waiting_.empty() && store_.revision() == committed_) break;
  }
  std::vector<std::shared_ptr<Watcher>> rest = watchers_.take_all();
  lock.unlock();
  for (const std::shared_ptr<Watcher>& watcher : rest) watcher->close(std::nullopt);
}

void Body::gather(Lock& lock) {
  if (gathering_.wanted() == 1) return;
  gathers_ = true;
  wake_.wait_for(lock, kGatherMax, [&] { return closing_ || waiting_.size() >= gathering_.wanted(); });
  gathers_ = false;
  if (waiting_.empty()) gathering_ = {};
}

void Body::mark(Time now) {
  if (marks_.empty() || now - marks_.back().at >= options_.keep_for / kMarksKept) {
    marks_.push_back({now, committed_});
  }
  while (marks_.size() > 1 && now - marks_[1].at >= options_.keep_for) marks_.pop_front();
}

std::optional<int64_t> Body::compactable() const {
  const int64_t compacted = store_.compacted();
  // Watchers have been told everything up to told_.
  if (told_ - compacted > options_.keep_revisions * 9 / 8) return told_ - options_.keep_revisions;
  if (sizes_.total() > options_.keep_bytes / 8 * 9) {
    const int64_t excess = std::min(sizes_.excess_over(options_.keep_bytes).value_or(0), told_);
    if (excess > compacted) return excess;
  }
  if (marks_.empty() || marks_.back().at - marks_.front().at < options_.keep_for) return std::nullopt;
  const int64_t old = std::min(marks_.front().revision, told_);
  if (old - compacted <= options_.keep_revisions / 100) return std::nullopt;
  return old;
}

void Body::housekeep(Steady::time_point now) {
  if (failed_ || now < paused_until_) return;
  Time time = options_.clock();
  mark(time);
  if (now >= expiry_at_) {
    expiry_at_ = now + kExpiryEvery;
    store_.expire_events(time - options_.event_ttl, time);
  }
  for (int sweep = 0; sweep < kSweepsMax && store_.collect_garbage(time) > 0; ++sweep) {
  }
  make_accounts(time);
  if (durable_) return;
  if (std::optional<int64_t> revision = compactable()) store_.compact(*revision);
}

void Body::make_accounts(Time now) {
  auto is_same = [&](const kube::Resource& resource) {
    Result<std::vector<store::WatchEvent>> events = store_.events_since(resource, equipped_);
    return events.ok() && events->empty();
  };
  std::vector<Object> homes;
  if (!is_same(kube::kNamespaces) || !is_same(kServiceAccounts)) {
    homes = store_.list(kube::kNamespaces, "").value().items;
  }
  for (const Object& home : homes) {
    const std::string_view name = kube::name_of(*home);
    if (kube::is_deleting(*home) || store_.get(kServiceAccounts, name, kDefaultAccount).ok()) continue;
    json::object account{{"metadata", json::object{{"name", kube::jview(kDefaultAccount)}}}};
    (void)store_.create(kServiceAccounts, name, std::move(account), now);
  }
  equipped_ = store_.revision();
}

void Body::commit(Lock& lock) {
  Batch batch = next_batch();
  const int64_t target = store_.revision();
  const size_t together = waiting_.size();
  if (std::optional<int64_t> revision = compactable()) batch.compaction = compaction_up_to(store_, *revision);
  lock.unlock();
  write_texts(batch);
  Result<Done> done = journal_->commit(batch);
  lock.lock();
  if (!done.ok()) {
    fail(lock, done.error());
    return;
  }
  committed_ = target;
  note_sizes(batch);
  if (batch.compaction) {
    store_.compact(batch.compaction->revision);
    sizes_.forget(batch.compaction->revision);
  }
  gathering_.on_commit(together, waiting_.size() - together);
  answer_ready(lock, batch);
}

Batch Body::next_batch() const {
  return {.changes = store_.changes_since(committed_), .uids = store_.uids()};
}

// Each revision is one change.
void Body::note_sizes(const Batch& written) {
  for (const std::string& text : written.texts) sizes_.add(text.size());
}

void Body::answer_ready(Lock& lock, Batch& written) {
  std::vector<Waiting> ready;
  while (!waiting_.empty() && waiting_.front().need <= committed_) {
    ready.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  lock.unlock();
  size_t at = 0;
  for (Waiting& one : ready) {
    // Both are in the order of revisions.
    while (at < written.changes.size() && written.changes[at].event.revision < one.need) ++at;
    if (at < written.changes.size() && one.answer.ok() &&
        one.answer->object == written.changes[at].event.object) {
      one.answer.value().text = std::move(written.texts[at]);
    }
    one.respond(std::move(one.answer));
  }
  lock.lock();
}

void Body::fail(Lock& lock, const Error& error) {
  store_.rollback(committed_);
  equipped_ = std::min(equipped_, committed_);
  if (error.kind == ErrorKind::kUnknown) failed_ = error.message;
  paused_until_ = Steady::now() + kPauseAfterFail;
  gathering_ = {};
  std::vector<Waiting> refused;
  for (Waiting& one : std::exchange(waiting_, {})) {
    one.answer = one.read ? carry_out(store_, *one.read, options_.clock()) : Result<Answer>(error);
    refused.push_back(std::move(one));
  }
  lock.unlock();
  for (Waiting& one : refused) one.respond(std::move(one.answer));
  lock.lock();
}

void Body::tell(Lock& lock) {
  std::vector<Telling> tellings = watchers_.take(store_, sizes_, committed_, Steady::now());
  told_ = committed_;
  if (tellings.empty()) return;
  lock.unlock();
  Departures departures;
  for (const Telling& telling : tellings) deliver(telling, departures);
  tellings.clear();
  lock.lock();
}

}  // namespace

Result<std::unique_ptr<Hub>> Hub::open(Options options) {
  if (options.file.empty()) return open(std::move(options), memory_journal());
  Result<std::unique_ptr<Journal>> journal = open_sqlite_journal(options.file);
  if (!journal.ok()) return journal.error();
  return open(std::move(options), std::move(journal).value());
}

Result<std::unique_ptr<Hub>> Hub::open(Options options, std::unique_ptr<Journal> journal) {
  CHECK(options.clock != nullptr);
  store::Store store(options.seed, {.namespaces = true});
  if (Result<Done> loaded = journal->load(store); !loaded.ok()) return loaded.error();
  auto body = std::make_unique<Body>(std::move(options), std::move(journal), std::move(store));
  if (Result<Done> started = body->start(); !started.ok()) return started.error();
  return std::unique_ptr<Hub>(std::move(body));
}

}  // namespace trainyard::hub
