// What the tests of this room share: a journal whose disk can be lost, full or broken, a
// folder that goes away, requests in few words.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "hub/hub.h"
#include "hub/journal.h"
#include "kube/access.h"

namespace trainyard::hub {

inline constexpr Time kTestNow{1'700'000'000'000};
inline constexpr std::chrono::seconds kPatience{20};  // of every wait: longer means that it hangs

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "trainyard-hub-XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline Options test_options(std::filesystem::path file = {}) {
  Options options;
  options.file = std::move(file);
  options.clock = [] { return kTestNow; };
  return options;
}

inline json::object config(std::string_view name, std::string_view value = "value") {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", json::object{{"name", name}}},
          {"data", json::object{{"key", value}}}};
}

inline kube::Request create(json::object body, std::string_view ns = "default") {
  return {kube::kConfigMaps, std::string(ns), kube::Create{std::move(body)}};
}
inline kube::Request get(std::string_view name, std::string_view ns = "default") {
  return {kube::kConfigMaps, std::string(ns), kube::Get{std::string(name)}};
}
inline kube::Request list(kube::List query = {}, std::string_view ns = "default") {
  return {kube::kConfigMaps, std::string(ns), std::move(query)};
}
inline kube::Request set(std::string_view name, std::string_view value) {
  return {kube::kConfigMaps, "default",
          kube::Patch{std::string(name), kube::PatchKind::kMerge,
                      json::object{{"data", json::object{{"key", value}}}}}};
}
inline kube::Request remove(std::string_view name) {
  return {kube::kConfigMaps, "default", kube::Delete{std::string(name), {}}};
}

// Every object of the hub's config maps as text, by name.
inline std::map<std::string, std::string> contents(Hub& hub) {
  std::map<std::string, std::string> all;
  Result<Answer> answer = hub.call(list({}, ""));
  EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
  if (!answer.ok()) return all;
  for (const Object& object : answer->items) {
    all[std::string(kube::name_of(*object))] = json::serialize(*object);
  }
  return all;
}

// What a journal has written, surviving the journal. Thread-safe.
struct Disk {
  enum class Mode { kWell, kFull, kBroken, kLying };  // kLying: writes, then says that fsync failed

  struct Row {
    KeptResource resource;
    store::ChangeKind kind;
    std::string text;
  };

  std::mutex mutex;
  std::condition_variable changed;
  Mode mode = Mode::kWell;
  bool held = false;  // commits wait
  int commits_under_way = 0;
  int64_t compacted = 0;
  int64_t revision = 1;
  uint64_t uids = 0;
  std::map<int64_t, Row> rows;

  void set_mode(Mode to) {
    std::lock_guard lock(mutex);
    mode = to;
  }
  void hold(bool on) {
    std::lock_guard lock(mutex);
    held = on;
    changed.notify_all();
  }
  // Waits until a commit waits.
  void await_commit() {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, kPatience, [&] { return commits_under_way > 0; }));
  }
};

class FakeJournal final : public Journal {
 public:
  explicit FakeJournal(std::shared_ptr<Disk> disk) : disk_(std::move(disk)) {}

  Result<Done> load(store::Store& store) override {
    std::lock_guard lock(disk_->mutex);
    for (const auto& [revision, row] : disk_->rows) {
      json::value value = json::parse(row.text);
      store.replay(row.resource.view(), row.kind,
                   std::make_shared<const json::object>(std::move(value.get_object())),
                   revision > disk_->compacted);
    }
    store.set_counters(disk_->revision, disk_->compacted, disk_->uids);
    return Done{};
  }

  Result<Done> commit(const Batch& batch) override {
    std::unique_lock lock(disk_->mutex);
    ++disk_->commits_under_way;
    disk_->changed.notify_all();
    disk_->changed.wait(lock, [&] { return !disk_->held; });
    --disk_->commits_under_way;
    switch (disk_->mode) {
      case Disk::Mode::kFull:
        return Error{ErrorKind::kUnavailable, "the disk is full"};
      case Disk::Mode::kBroken:
        return Error{ErrorKind::kUnknown, "fsync failed"};
      case Disk::Mode::kLying:
        keep(batch);
        return Error{ErrorKind::kUnknown, "fsync failed"};
      case Disk::Mode::kWell:
        break;
    }
    keep(batch);
    return Done{};
  }
  bool is_durable() const override { return true; }

 private:
  void keep(const Batch& batch) {
    ASSERT_EQ(batch.texts.size(), batch.changes.size());
    for (size_t i = 0; i < batch.changes.size(); ++i) {
      const store::Change& change = batch.changes[i];
      EXPECT_GT(change.event.revision, disk_->revision);
      disk_->revision = change.event.revision;
      disk_->rows.insert_or_assign(
          change.event.revision, Disk::Row{KeptResource(change.resource), change.event.kind, batch.texts[i]});
    }
    disk_->uids = batch.uids;
    if (!batch.compaction) return;
    disk_->compacted = batch.compaction->revision;
    for (int64_t revision : batch.compaction->superseded) EXPECT_EQ(disk_->rows.erase(revision), 1u);
  }

  std::shared_ptr<Disk> disk_;
};

// Collects what a watch tells; waits for it. Thread-safe.
class Told {
 public:
  WatchSink sink() {
    return {[this](const std::vector<WatchEvent>& events) {
              std::lock_guard lock(mutex_);
              events_.insert(events_.end(), events.begin(), events.end());
              changed_.notify_all();
            },
            [this](const std::optional<Error>& error) {
              std::lock_guard lock(mutex_);
              closed_ = true;
              error_ = error;
              changed_.notify_all();
            }};
  }
  // "added a; bookmark", once that many have come.
  std::string await(size_t count) {
    static constexpr const char* kKinds[] = {"added", "modified", "deleted", "bookmark"};
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return events_.size() >= count; }));
    std::string text;
    for (const WatchEvent& event : events_) {
      if (!text.empty()) text += "; ";
      text += kKinds[static_cast<int>(event.kind)];
      if (event.kind != store::ChangeKind::kBookmark)
        text += fmt::format(" {}", kube::name_of(*event.object));
    }
    return text;
  }
  std::optional<Error> await_closed() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return closed_; }));
    return error_;
  }
  std::vector<WatchEvent> events() {
    std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<WatchEvent> events_;
  bool closed_ = false;
  std::optional<Error> error_;
};

}  // namespace trainyard::hub
