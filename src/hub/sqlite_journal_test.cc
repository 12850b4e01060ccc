// The hub on a real file: what survives, and what is refused.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "base/fd.h"
#include "hub/faulty_vfs.h"
#include "hub/hub.h"
#include "hub/testing.h"

namespace trainyard::hub {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Hub> open_hub(const fs::path& file) {
  Result<std::unique_ptr<Hub>> hub = Hub::open(test_options(file));
  EXPECT_TRUE(hub.ok()) << (hub.ok() ? "" : hub.error().message);
  return hub.ok() ? std::move(hub).value() : nullptr;
}

// Begins a process of its own that ends without tidying up, as a killed one does. REQUIRES: no thread but
// this one, for a lock that another one holds at this moment (malloc's) is held for ever in the child.
pid_t begin_child(const std::function<int()>& work) {
  pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  return child;
}

void await_child(pid_t child) {
  ASSERT_GE(child, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  ASSERT_EQ(WEXITSTATUS(status), 0);
}

void in_child(const std::function<int()>& work) { await_child(begin_child(work)); }

void copy_store(const fs::path& from, const fs::path& to) {
  for (std::string_view tail : {"", "-wal"}) {
    fs::path source = from.string() + std::string(tail);
    if (fs::exists(source)) {
      fs::copy_file(source, to.string() + std::string(tail), fs::copy_options::overwrite_existing);
    }
  }
}

void overwrite(const fs::path& file, int64_t at, const std::string& bytes) {
  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
  out.seekp(at);
  out << bytes;
  ASSERT_TRUE(out.good());
}

TEST(SqliteJournalTest, WhatWasWrittenIsThereAgain) {
  TempDir folder;
  std::unique_ptr<Hub> hub = open_hub(folder / "store.db");
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  ASSERT_TRUE(hub->call(create(config("b"))).ok());
  ASSERT_TRUE(hub->call(set("a", "other \"quoted\" \xC3\xA9")).ok());
  ASSERT_TRUE(hub->call(remove("b")).ok());
  const std::map<std::string, std::string> before = contents(*hub);
  const int64_t revision = hub->revision();
  hub.reset();
  hub = open_hub(folder / "store.db");
  EXPECT_EQ(contents(*hub), before);
  EXPECT_EQ(hub->revision(), revision);
  Told told;
  auto watch = hub->watch(kube::kConfigMaps, "", {.version = std::to_string(revision - 4)}, told.sink());
  ASSERT_TRUE(watch.ok()) << watch.error().message;
  EXPECT_EQ(told.await(4), "added a; added b; modified a; deleted b");
  Object again = hub->call(create(config("b")))->object;
  EXPECT_EQ(kube::version_of(*again), revision + 1);
}

TEST(SqliteJournalTest, DeepAndManyDocumentsAreThereAgain) {
  TempDir folder;
  std::unique_ptr<Hub> hub = open_hub(folder / "store.db");
  json::value nested = "end";
  for (int i = 0; i < 95; ++i) nested = json::object{{"properties", std::move(nested)}};
  json::object deep = config("deep");
  deep["schema"] = std::move(nested);
  ASSERT_TRUE(hub->call(create(deep)).ok());
  // More than are read in one go.
  std::atomic<int> made = 0;
  for (int i = 0; i < 1'500; ++i) {
    hub->submit(create(config(fmt::format("c{}", i))),
                [&](const Result<Answer>& answer) { made += answer.ok() ? 1 : 0; });
  }
  const std::map<std::string, std::string> before = contents(*hub);
  hub.reset();
  EXPECT_EQ(made, 1'500);
  hub = open_hub(folder / "store.db");
  EXPECT_EQ(contents(*hub), before);
}

TEST(SqliteJournalTest, ADocumentWithBytesThatAreNoTextDoesNotMakeTheStoreUnreadable) {
  TempDir folder;
  const fs::path file = folder / "store.db";
  json::object odd = config("odd");
  odd["data"] = json::object{{"key", "\xFF said"}};
  ASSERT_TRUE(open_hub(file)->call(create(std::move(odd))).ok());
  std::unique_ptr<Hub> hub = open_hub(file);
  ASSERT_NE(hub, nullptr);
  Result<Answer> there = hub->call({kube::kConfigMaps, "default", kube::Get{"odd"}});
  ASSERT_TRUE(there.ok());
  EXPECT_EQ(kube::text_at(*there->object, {"data", "key"}), "\uFFFD said");
}

TEST(SqliteJournalTest, NobodyElseMayReadIt) {
  TempDir folder;
  std::unique_ptr<Hub> hub = open_hub(folder / "store.db");
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  for (std::string_view name : {"store.db", "store.db-wal"}) {
    EXPECT_EQ(fs::status(folder / name).permissions(), fs::perms::owner_read | fs::perms::owner_write)
        << name;
  }
}

TEST(SqliteJournalTest, UidsAreNotGivenTwice) {
  TempDir folder;
  std::unique_ptr<Hub> hub = open_hub(folder / "store.db");
  std::string first(kube::uid_of(*hub->call(create(config("a")))->object));
  ASSERT_TRUE(hub->call(remove("a")).ok());
  hub.reset();
  hub = open_hub(folder / "store.db");
  EXPECT_NE(kube::uid_of(*hub->call(create(config("a")))->object), first);
}

TEST(SqliteJournalTest, CompactionIsKept) {
  TempDir folder;
  Options options = test_options(folder / "store.db");
  options.keep_revisions = 20;
  std::unique_ptr<Hub> hub = Hub::open(options).value();
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(hub->call(set("a", std::to_string(i))).ok());
  ASSERT_TRUE(hub->call(remove("a")).ok());
  const int64_t revision = hub->revision();
  hub.reset();
  hub = Hub::open(options).value();
  EXPECT_EQ(hub->revision(), revision);
  Told told;
  EXPECT_EQ(hub->watch(kube::kConfigMaps, "", {.version = "6"}, told.sink()).error().kind, ErrorKind::kGone);
  auto watch = hub->watch(kube::kConfigMaps, "", {.version = std::to_string(revision - 2)}, told.sink());
  ASSERT_TRUE(watch.ok()) << watch.error().message;
  EXPECT_EQ(told.await(2), "modified a; deleted a");
}

TEST(SqliteJournalTest, OneHubAtATime) {
  TempDir folder;
  std::array<int, 2> turn{};
  ASSERT_EQ(::pipe(turn.data()), 0);
  pid_t other = begin_child([&] {
    ::close(turn[1]);
    char byte = 0;
    bool has_turn = ::read(turn[0], &byte, 1) == 1;
    return !has_turn || Hub::open(test_options(folder / "store.db")).ok() ? 1 : 0;
  });
  std::unique_ptr<Hub> hub = open_hub(folder / "store.db");
  Result<std::unique_ptr<Hub>> second = Hub::open(test_options(folder / "store.db"));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(second.error().message.find("another process has it open"), std::string::npos)
      << second.error().message;
  ASSERT_EQ(::write(turn[1], "x", 1), 1);
  await_child(other);
  ::close(turn[0]);
  ::close(turn[1]);
  hub.reset();
  EXPECT_NE(open_hub(folder / "store.db"), nullptr);
}

TEST(SqliteJournalTest, WhatIsNoStoreIsRefused) {
  TempDir folder;
  std::ofstream(folder / "text.db") << std::string(10'000, 'x');
  Result<std::unique_ptr<Hub>> hub = Hub::open(test_options(folder / "text.db"));
  ASSERT_FALSE(hub.ok());
  EXPECT_EQ(hub.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(hub.error().message.find("no database of ours"), std::string::npos) << hub.error().message;
  hub = Hub::open(test_options(folder / "missing" / "store.db"));
  ASSERT_FALSE(hub.ok());
  EXPECT_NE(hub.error().message.find("cannot be opened"), std::string::npos) << hub.error().message;
}

TEST(SqliteJournalTest, AFullDiskIsSurvived) {
  TempDir folder;
  FaultyVfs vfs;
  std::unique_ptr<Hub> hub = open_hub(folder / "store.db");
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  vfs.full = true;
  Result<Answer> refused = hub->call(create(config("b")));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(refused.error().message.find("the disk is full"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(hub->call(get("a")).ok());
  vfs.full = false;
  EXPECT_TRUE(hub->call(create(config("b"))).ok());
  const std::map<std::string, std::string> before = contents(*hub);
  hub.reset();
  hub = open_hub(folder / "store.db");
  EXPECT_EQ(contents(*hub), before);
}

TEST(SqliteJournalTest, AFailedFsyncMakesTheHubReadOnly) {
  TempDir folder;
  FaultyVfs vfs;
  std::unique_ptr<Hub> hub = open_hub(folder / "store.db");
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  const std::map<std::string, std::string> before = contents(*hub);
  vfs.breaks_log = true;
  EXPECT_EQ(hub->call(create(config("b"))).error().kind, ErrorKind::kUnknown);
  vfs.breaks_log = false;
  EXPECT_EQ(hub->call(create(config("c"))).error().kind, ErrorKind::kUnavailable);
  ASSERT_TRUE(hub->failed().has_value());
  EXPECT_NE(hub->failed()->find("fsync failed"), std::string::npos) << *hub->failed();
  EXPECT_EQ(contents(*hub), before);
  hub.reset();
  hub = open_hub(folder / "store.db");
  std::map<std::string, std::string> after = contents(*hub);
  EXPECT_EQ(after["a"], before.at("a"));
  EXPECT_FALSE(after.contains("c"));
}

TEST(SqliteJournalTest, AFailedFsyncOfTheDatabaseItselfIsNoticed) {
  TempDir folder;
  FaultyVfs vfs;
  std::unique_ptr<Hub> hub = open_hub(folder / "store.db");
  vfs.breaks_main = true;
  const std::string large(900'000, 'x');
  std::map<std::string, std::string> written;
  std::optional<Error> error;
  for (int i = 0; i < 40 && !error; ++i) {
    Result<Answer> answer = hub->call(create(config(fmt::format("c{}", i), large)));
    if (answer.ok()) {
      written[fmt::format("c{}", i)] = json::serialize(*answer->object);
    } else {
      error = answer.error();
    }
  }
  ASSERT_TRUE(error.has_value()) << "the write-ahead log was never folded in";
  EXPECT_EQ(error->kind, ErrorKind::kUnknown);
  EXPECT_TRUE(hub->failed().has_value());
  hub.reset();
  vfs.breaks_main = false;
  hub = open_hub(folder / "store.db");
  EXPECT_EQ(contents(*hub), written);
}

// Behind it are the zeros that the log grows into.
size_t end_of_frames(const fs::path& log) {
  std::ifstream in(log, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return text.find_last_not_of('\0') + 1;
}

TEST(SqliteJournalTest, TheLogGrowsByManyPagesAtATime) {
  TempDir folder;
  const fs::path file = folder / "store.db";
  std::unique_ptr<Hub> hub = open_hub(file);
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  const fs::path log = file.string() + "-wal";
  const uintmax_t size = fs::file_size(log);
  EXPECT_GE(size, end_of_frames(log) + 500'000);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(hub->call(create(config(fmt::format("b{}", i)))).ok());
  EXPECT_EQ(fs::file_size(log), size);
}

TEST(SqliteJournalTest, ALimitOnFileSizeIsSurvived) {
  TempDir folder;
  const fs::path file = folder / "store.db";
  in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    std::unique_ptr<Hub> hub = Hub::open(test_options(file)).value();
    if (!hub->call(create(config("a"))).ok()) return 1;
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit old = limit;
    limit.rlim_cur = fs::file_size(file.string() + "-wal") + 8'192;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Result<Answer> refused = hub->call(create(config("large", std::string(2'000'000, 'x'))));
    if (refused.ok() || refused.error().kind != ErrorKind::kUnavailable) return 2;
    if (hub->failed()) return 3;
    ::setrlimit(RLIMIT_FSIZE, &old);
    return hub->call(create(config("b"))).ok() ? 0 : 4;
  });
  std::unique_ptr<Hub> hub = open_hub(file);
  std::map<std::string, std::string> all = contents(*hub);
  EXPECT_EQ(all.size(), 2u);
  EXPECT_TRUE(all.contains("a") && all.contains("b"));
}

TEST(SqliteJournalTest, ATornEndOfTheLogLosesNothingBeforeIt) {
  TempDir folder;
  const fs::path file = folder / "store.db";
  constexpr int kWrites = 20;
  in_child([&] {
    std::unique_ptr<Hub> hub = Hub::open(test_options(file)).value();
    for (int i = 0; i < kWrites; ++i) {
      if (!hub->call(create(config(fmt::format("c{:02}", i)))).ok()) return 1;
    }
    ::_exit(0);  // before the hub closes and folds the log in
  });
  const fs::path log = file.string() + "-wal";
  const auto whole = static_cast<int64_t>(end_of_frames(log));
  auto names_after = [&](const std::function<void(const fs::path& log)>& harm) {
    const fs::path copy = folder / "copy.db";
    copy_store(file, copy);
    harm(copy.string() + "-wal");
    std::unique_ptr<Hub> hub = open_hub(copy);
    std::vector<std::string> names;
    if (hub == nullptr) return names;
    for (const auto& [name, text] : contents(*hub)) names.push_back(name);
    hub.reset();
    fs::remove(copy);
    fs::remove(copy.string() + "-wal");
    return names;
  };
  EXPECT_EQ(names_after([](const fs::path&) {}).size(), static_cast<size_t>(kWrites));
  size_t fewest = kWrites;
  for (int64_t cut : {1, 100, 2'000, 4'096, 5'000, 9'000}) {
    std::vector<std::string> torn =
        names_after([&](const fs::path& at) { fs::resize_file(at, whole - cut); });
    std::vector<std::string> spoiled =
        names_after([&](const fs::path& at) { overwrite(at, whole - cut, std::string(1, '\xA5')); });
    for (const std::vector<std::string>& names : {torn, spoiled}) {
      for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(names[i], fmt::format("c{:02}", i));
      EXPECT_GE(names.size(), static_cast<size_t>(kWrites - 4)) << cut;
      fewest = std::min(fewest, names.size());
    }
  }
  EXPECT_LT(fewest, static_cast<size_t>(kWrites));
}

TEST(SqliteJournalTest, ADamagedDatabaseIsRefused) {
  TempDir folder;
  const fs::path file = folder / "store.db";
  std::unique_ptr<Hub> hub = open_hub(file);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(hub->call(create(config(fmt::format("c{}", i), std::string(1'000, 'x')))).ok());
  }
  hub.reset();  // folds the log in
  const int64_t size = static_cast<int64_t>(fs::file_size(file));
  for (int64_t at = 3 * 4'096; at + 4'096 < size; at += 4 * 4'096)
    overwrite(file, at, std::string(4'096, '\xA5'));
  Result<std::unique_ptr<Hub>> opened = Hub::open(test_options(file));
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(opened.error().message.find("damaged"), std::string::npos) << opened.error().message;
}

// Writes until it is killed; tells the name of every write that was acknowledged.
[[noreturn]] void write_for_ever(const fs::path& file, int round, int to) {
  std::unique_ptr<Hub> hub = Hub::open(test_options(file)).value();
  std::mutex telling;
  for (int i = 0;; ++i) {
    std::string name = fmt::format("r{}-{:06}", round, i);
    auto tell = [&telling, name, to](const Result<Answer>& answer) {
      std::lock_guard lock(telling);
      std::string line = (answer.ok() ? name : "failed") + "\n";
      if (::write(to, line.data(), line.size()) < 0) ::_exit(1);
    };
    if (i % 4 == 3) {
      tell(hub->call(create(config(name))));
    } else {
      hub->submit(create(config(name)), tell);
    }
  }
}

TEST(SqliteJournalTest, AKilledHubKeepsWhatItAcknowledged) {
  TempDir folder;
  const fs::path file = folder / "store.db";
  std::set<std::string> acknowledged;
  for (int round = 0; round < 3; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    Fd from(ends[0]);
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_for_ever(file, round, ends[1]);
    Fd(ends[1]).reset();
    std::string told;
    char buffer[4'096];
    bool killed = false;
    for (ssize_t n = 0; (n = ::read(from.get(), buffer, sizeof buffer)) > 0;) {
      told.append(buffer, static_cast<size_t>(n));
      if (!killed && std::count(told.begin(), told.end(), '\n') >= 20 + 37 * round) {
        killed = true;
        ASSERT_EQ(::kill(child, SIGKILL), 0);
      }
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    for (size_t at = 0, end = 0; (end = told.find('\n', at)) != told.npos; at = end + 1) {
      acknowledged.insert(told.substr(at, end - at));
    }
    ASSERT_FALSE(acknowledged.contains("failed"));
    std::unique_ptr<Hub> hub = open_hub(file);
    ASSERT_NE(hub, nullptr);
    std::map<std::string, std::string> all = contents(*hub);
    for (const std::string& name : acknowledged) EXPECT_TRUE(all.contains(name)) << name;
  }
  EXPECT_GE(acknowledged.size(), 100u);
}

}  // namespace
}  // namespace trainyard::hub
