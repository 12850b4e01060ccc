// Every manifest of tests/golden, through every command, compared with the transcript
// beside it. TRAINYARD_REWRITE=1 writes the transcripts anew; read the diff then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "kube/access.h"
#include "session.h"

namespace trainyard::cli_suite {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

// Messages name files as they were given, so they are given from here.
void enter_golden_folder() { fs::current_path(fs::path(TRAINYARD_SOURCE_DIR) / "tests/golden"); }

std::vector<std::string> manifests() {
  enter_golden_folder();
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(".")) {
    if (entry.path().extension() == ".yaml")
      paths.push_back(entry.path().lexically_normal().generic_string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// A first line "# options: --gang-scheduler-name volcano" is for validate and explain.
Words options_of(const std::string& manifest) {
  std::string text = read_text(manifest);
  const std::string mark = "# options: ";
  Words options;
  if (!text.starts_with(mark)) return options;
  std::istringstream words(text.substr(mark.size(), text.find('\n') - mark.size()));
  for (std::string word; words >> word;) options.push_back(word);
  return options;
}

std::string all_transcripts(const std::string& manifest) {
  Words options = options_of(manifest);
  auto with = [&](Words words) {
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(manifest);
    return words;
  };
  const std::string now = "2026-01-01T00:00:00Z";
  std::string text = transcript(with({"validate"}));
  text += "\n" + transcript(with({"explain", "--now", now}));
  bool is_fragment = manifest.starts_with("fragments/");
  if (is_fragment) return text;
  text += "\n" + transcript(with({"explain", "-o", "yaml"}));
  for (const char* target : {"tfjob", "t9k", "volcano"}) {
    text += "\n" + transcript({"convert", "--to", target, manifest});
  }
  return text;
}

class Golden : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { enter_golden_folder(); }
};

TEST_P(Golden, TranscriptIsAsRecorded) {
  std::string golden = GetParam().substr(0, GetParam().size() - 5) + ".txt";
  std::string actual = all_transcripts(GetParam());
  if (rewriting()) write_text(golden, actual);
  ASSERT_TRUE(fs::exists(golden)) << "no transcript; TRAINYARD_REWRITE=1 makes one";
  EXPECT_EQ(read_text(golden), actual)
      << "if this is meant: TRAINYARD_REWRITE=1 ctest -R cli_suite, then git diff";
}

INSTANTIATE_TEST_SUITE_P(Manifests, Golden, ::testing::ValuesIn(manifests()),
                         [](const ::testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

// Every part of a text that the pattern finds, in order of the alphabet.
Words found_in(const std::string& text, const char* pattern) {
  const std::regex wanted(pattern);
  Words parts;
  for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at)
    parts.push_back((*at)[1]);
  std::sort(parts.begin(), parts.end());
  return parts;
}

// "TFJob mnist" of every job in what validate prints.
Words jobs_in(const std::string& validated) { return found_in(validated, R"(:\d+: (\S+ \S+): valid)"); }

// The image of every container of every pod; those that only prepare it aside.
Words images_of(const std::string& manifest) {
  Words images;
  const Session shown = run_session({"explain", "-o", "json", "-"}, manifest);
  if (shown.status != 0) return {shown.err};
  const json::object list = json::parse(shown.out).as_object();
  for (const json::value& item : list.at("items").as_array()) {
    if (kube::text_at(item.as_object(), {"kind"}) != "Pod") continue;
    for (const json::value& container : *kube::array_at(item.as_object(), {"spec", "containers"}))
      images.emplace_back(kube::text_at(container.as_object(), {"image"}));
  }
  std::sort(images.begin(), images.end());
  return images;
}

const char* dialect_of(const std::string& job) {
  if (job.starts_with("TFJob ")) return "tfjob";
  return job.starts_with("TensorFlowTrainingJob ") ? "t9k" : "volcano";
}

// What is written in another dialect is valid there, and means the same again when it
// comes back: names, replicas and images survive the round trip.
TEST_P(Golden, ConvertedManifestsAreValid) {
  if (GetParam().starts_with("fragments/")) return;
  const Words jobs = jobs_in(run_session({"validate", GetParam()}).out);
  ASSERT_FALSE(jobs.empty());
  const Words images = images_of(read_text(GetParam()));
  for (const char* target : {"tfjob", "t9k", "volcano"}) {
    SCOPED_TRACE(target);
    Session converted = run_session({"convert", "--to", target, GetParam()});
    if (converted.status != 0) continue;  // its golden file shows why
    Session validated = run_session({"validate", "-"}, converted.out);
    EXPECT_EQ(validated.status, 0) << validated.err << converted.out;
    Session again = run_session({"convert", "--to", target, "-"}, converted.out);
    EXPECT_EQ(again.status, 0) << again.err;
    Session back = run_session({"convert", "--to", dialect_of(jobs.front()), "-"}, converted.out);
    EXPECT_EQ(jobs_in(run_session({"validate", "-"}, back.out).out), jobs) << back.err;
    if (images.empty()) continue;  // stopped, which a Volcano Job cannot say: its golden file does
    EXPECT_EQ(images_of(converted.out), images);
    EXPECT_EQ(images_of(back.out), images);
  }
}

TEST(GoldenFiles, EveryTranscriptHasItsManifest) {
  std::vector<std::string> paths = manifests();
  std::set<std::string> known(paths.begin(), paths.end());
  for (const auto& entry : fs::recursive_directory_iterator(".")) {
    if (entry.path().extension() != ".txt") continue;
    std::string manifest = entry.path().lexically_normal().replace_extension(".yaml").generic_string();
    EXPECT_TRUE(known.contains(manifest)) << entry.path() << " is a transcript of nothing";
  }
}

TEST(Examples, AreValidInEveryDialect) {
  fs::current_path(TRAINYARD_SOURCE_DIR);
  Session session = run_session({"validate", "examples"});
  EXPECT_EQ(session.status, 0) << session.err;
  std::map<std::string, int> valid;  // how many jobs of each kind
  std::istringstream lines(session.out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.ends_with(": valid")) continue;
    size_t kind = line.find(": ") + 2;
    ++valid[line.substr(kind, line.find(' ', kind) - kind)];
  }
  EXPECT_EQ(valid, (std::map<std::string, int>{{"TFJob", 6}, {"TensorFlowTrainingJob", 5}, {"Job", 5}}))
      << session.out;
}

}  // namespace
}  // namespace trainyard::cli_suite
