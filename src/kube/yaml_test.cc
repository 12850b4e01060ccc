#include "kube/yaml.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "kube/access.h"

namespace trainyard::kube {
namespace {

std::string read(std::string_view text) {
  Result<std::vector<Document>> documents = parse_yaml(text);
  if (!documents.ok()) return documents.error().message;
  std::string out;
  for (const Document& document : documents.value()) {
    if (!out.empty()) out += " | ";
    out += json::serialize(document.body);
  }
  return out;
}

struct YamlRow {
  std::string text, expected;
};

void expect_rows(const std::vector<YamlRow>& rows) {
  for (const YamlRow& row : rows) EXPECT_EQ(read(row.text), row.expected) << row.text;
}

TEST(Yaml, ReadsScalarsAsKubernetesDoes) {
  expect_rows({
      {"[yes, Yes, YES, on, true, y, no, off, False, n]",
       "[true,true,true,true,true,true,false,false,false,false]"},
      {"[null, ~, Null, NULL, ]", "[null,null,null,null]"},
      {"[1, -1, +1, 0777, 0o17, 0x1F, -0x10, 0b11, 1_000]", "[1,-1,1,511,15,31,-16,3,1000]"},
      {"[08, 1.5, .5, 1e3, 1., -0.25, 3.0]", "[8,1.5E0,5E-1,1000,1,-2.5E-1,3]"},
      {"[9223372036854775807, 18446744073709551615, -9223372036854775808]",
       "[9223372036854775807,18446744073709551615,-9223372036854775808]"},
      {"[1e999, 0x, 1e, 1a, -, --1]", R"(["1e999","0x","1e","1a","-","--1"])"},
      {"[2001-12-14, 12:30:45, 1.2.3, 10.0.0.1]", R"(["2001-12-14","12:30:45","1.2.3","10.0.0.1"])"},
      {R"(["yes", 'no', "1", "", '~'])", R"(["yes","no","1","","~"])"},
      {"[!!str 1, !!int \"2\", !!float 3, !!bool \"yes\", !!null '', !local 5, ! 6]",
       R"(["1",2,3,true,null,"5","6"])"},
      {"a: !!binary aGVsbG8=", R"({"a":"hello"})"},
      {"[YeS, tRue, nULL]", R"(["YeS","tRue","nULL"])"},
  });
}

TEST(Yaml, ReadsKeysAsText) {
  expect_rows({
      {"1: a\ntrue: b\nno: c\n1.5: d\n0x10: e\n\"f\": g",
       R"({"1":"a","true":"b","false":"c","1.5":"d","16":"e","f":"g"})"},
      {"? a\n: b", R"({"a":"b"})"},
  });
}

TEST(Yaml, ReadsBlocksAndManyDocuments) {
  expect_rows({
      {"a: |\n  x\n   y\n\n  z\nb: >\n  folded\n  text\nc: |-\n  s\nd: |+\n  k\n\n",
       R"({"a":"x\n y\n\nz\n","b":"folded text\n","c":"s","d":"k\n\n"})"},
      {"a: >+\n  x\n  y\n\n\nb: 1", R"({"a":"x y\n\n\n","b":1})"},
      {"a: >+\n  x\n\n# c\n\nb: 1", R"({"a":"x\n\n","b":1})"},
      {"a: >+\n  x\n   y\n\nb: >+\n  z", R"({"a":"x\n y\n\n","b":"z"})"},
      {"a: !!str >2+ # c\r\n   x\r\n  y\r\n\r\nb:\n- >+1\n x\n\n-\n  >+\n  y\n\n",
       R"({"a":" x\ny\n\n","b":["x\n\n","y\n\n"]})"},
      {"a: >+\n\n\nb: >+\n  x\n   \n\n", R"({"a":"\n\n","b":"x\n \n\n"})"},
      {"a: |2\n  \tx\nb: |\n  x\n  \ty\n", R"({"a":"\tx\n","b":"x\n\ty\n"})"},
      {"a: 1\n---\n---\n# nothing\n---\nb: 2\n...\n", R"({"a":1} | {"b":2})"},
      {"", ""},
      {"# only a comment\n", ""},
      {"---\n---\n", ""},
      {"a: b # comment\n", R"({"a":"b"})"},
      {"\xEF\xBB\xBF"
       "a: 1",
       R"({"a":1})"},
      {"a: 1\r\nb:\r\n- c\r\n", R"({"a":1,"b":["c"]})"},
      {"text", R"("text")"},
  });
}

TEST(Yaml, ReadsAnchorsAndMergeKeys) {
  expect_rows({
      {"a: &x {b: 1}\nc: *x", R"({"a":{"b":1},"c":{"b":1}})"},
      {"d: &d {a: 1, b: 2}\ne:\n  <<: *d\n  b: 3", R"({"d":{"a":1,"b":2},"e":{"b":3,"a":1}})"},
      {"d: &d {a: 1, b: 2}\ne:\n  b: 3\n  <<: *d", R"({"d":{"a":1,"b":2},"e":{"b":3,"a":1}})"},
      {"x: &x {a: 1}\nw: &w {a: 2, b: 2}\nz: {<<: [*x, *w]}",
       R"({"x":{"a":1},"w":{"a":2,"b":2},"z":{"a":1,"b":2}})"},
      {"a: &k key\n*k : v", R"({"a":"key","key":"v"})"},
      {"\"<<\": 1", R"({"<<":1})"},
      {"a: &x 1\nb: &x 2\nc: *x", R"({"a":1,"b":2,"c":2})"},
  });
}

TEST(Yaml, ReadsJson) {
  expect_rows({
      {R"({"a":{"b":[1,2.5,true,null,"x"]},"c":"\u00e9\ud83d\ude00\/\n"})",
       "{\"a\":{\"b\":[1,2.5E0,true,null,\"x\"]},\"c\":\"é😀/\\n\"}"},
      {"{\n\t\"a\": 1,\n\t\"b\": [\n\t\t1\n\t]\n}", R"({"a":1,"b":[1]})"},
      {"{\"a\":1}\n", R"({"a":1})"},
      {R"(["\ud83d\ude00", null])", "[\"😀\",null]"},
  });
}

TEST(Yaml, RefusesWithLineAndColumn) {
  expect_rows({
      {"a: 1\nb: 2\na: 3", "line 3, column 1: the key \"a\" is there twice"},
      {"a:\n  b: 1\n  c: {d: 1, d: 2}", "line 3, column 13: the key \"d\" is there twice"},
      {"{\"a\": 1, \"a\": 2}", "line 1, column 10: the key \"a\" is there twice"},
      {"1: a\n\"1\": b", "line 2, column 1: the key \"1\" is there twice"},
      {"a:\n\tb: 1", "line 2, column 1: a tab cannot be used for indentation, use spaces"},
      {"a:\n  b: 1\n \tc: 2", "line 3, column 2: a tab cannot be used for indentation, use spaces"},
      {"a:\n\t- 1", "line 2, column 1: a tab cannot be used for indentation, use spaces"},
      {"a: |\n\n  \tx\n", "line 3, column 3: a tab cannot be used for indentation, use spaces"},
      {"a:\n- \tx", "line 2, column 3: a tab cannot be used for indentation, use spaces"},
      {"a:\n  - -\tb: 1", "line 2, column 6: a tab cannot be used for indentation, use spaces"},
      {"---\ta", R"("a")"},
      {"a:\t[1,\t2]", R"({"a":[1,2]})"},
      {"a: [1,, 2]", "line 1, column 7: a value is missing before this \",\""},
      {"a:\n\ttext", "line 2, column 1: a tab cannot be used for indentation, use spaces"},
      {"a: &x [*x]", "line 1, column 8: the anchor \"x\" is used inside itself"},
      {"a: &y\n  b: *y", "line 2, column 6: the anchor \"y\" is used inside itself"},
      {"a: *nowhere", "line 1, column 4: the alias \"*nowhere\" refers to no anchor"},
      {"? [a]\n: b", "line 1, column 3: a key must be a single value, not a list or a map"},
      {"{a: 1}: b", "line 1, column 1: a key must be a single value, not a list or a map"},
      {"null: 1", "line 1, column 1: a key must be a single value, not null, a list or a map"},
      {"a: .inf", "line 1, column 4: \".inf\" is not a number JSON can hold"},
      {"a: .nan", "line 1, column 4: \".nan\" is not a number JSON can hold"},
      {"a: !!int x", "line 1, column 4: \"x\" is not a !!int"},
      {"a: !!binary '*'", "line 1, column 4: !!binary is not valid base64"},
      {"<<: 3", "line 1, column 5: the merge key \"<<\" takes a map or a list of maps"},
      {"a: \xFF", "line 1, column 4: the text is not valid UTF-8"},
      {"é: \xC3", "line 1, column 4: the text is not valid UTF-8"},
      {std::string("a: \0", 4), "line 1, column 4: the character U+0000 is not allowed"},
      {"a: \x07", "line 1, column 4: the character U+0007 is not allowed"},
      {"a: \"x\n", "line 1, column 4: the quotation is not closed"},
      {"a: 1\nb: 'x''\n\n", "line 2, column 4: the quotation is not closed"},
      {"a: &x !!str \"x\\\"\n", "line 1, column 4: the quotation is not closed"},
      {"a: &x !!str \"x\\\\\"\nb: 'c'''\n", R"({"a":"x\\","b":"c'"})"},
      {R"(a: "\N\_\L\xe9\u00e9\U0001F600")",
       "{\"a\":\"\xC2\x85\xC2\xA0\xE2\x80\xA8"
       "éé😀\"}"},
      {",", "line 1, column 1: nothing can begin here"},
      {"a: 1\n...\n,", "line 3, column 1: nothing can begin here"},
      {"- a\nb: c", "line 2, column 1: a second value begins here; documents are separated by \"---\""},
      {"a: 1\n...\nb: 2", R"({"a":1} | {"b":2})"},
      {"a: 1\n...\n# c\n\nb: 2", R"({"a":1} | {"b":2})"},
      {"a: 1\n... \n%YAML 1.1\n--- # x\nb: 2", R"({"a":1} | {"b":2})"},
      {"é: 1\né: 2", "line 2, column 1: the key \"é\" is there twice"},
      {"é: {a: 1, a: 2}", "line 1, column 11: the key \"a\" is there twice"},
  });
}

TEST(Yaml, RefusesBrokenSyntax) {
  for (std::string_view text : {"a: [1, 2", "a: {b: 1", "a: \"x", "a: 'x", "a: b: c", "a:\n  b: 1\n c: 2",
                                "{} x", "[1] [2]", "\"a\" b", "a: @x", "a: `x", "a: %x", "a: !!str !!int 1",
                                "\"\\q\"", "a:\n- b\n c: d", "%YAML 3.0\n---\na: 1", "]", "}"}) {
    Result<std::vector<Document>> documents = parse_yaml(text);
    EXPECT_FALSE(documents.ok()) << text;
    if (documents.ok()) continue;
    EXPECT_TRUE(documents.error().message.starts_with("line ")) << documents.error().message;
  }
}

TEST(Yaml, HoldsItsLimits) {
  std::string huge(100 * 1024 * 1024, 'x');
  EXPECT_EQ(read(huge), "line 1, column 1: the text is 104857600 bytes, more than the limit of 3145728");

  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += fmt::format("a{}: &a{} [", i, i);
    for (int j = 0; j < 10; ++j) bomb += fmt::format("*a{},", i - 1);
    bomb += "]\n";
  }
  EXPECT_EQ(read(bomb), "line 6, column 18: more than 500000 values, aliases counted in full");

  EXPECT_EQ(read(std::string(101, '[') + std::string(101, ']')),
            "line 1, column 101: nested more than 100 deep");
  EXPECT_EQ(read(std::string(100, '[') + std::string(100, ']')).size(), 200u);
  EXPECT_EQ(read(std::string(1'000'000, '[')), "line 1, column 10001: too many brackets are open");
  std::string dashes;
  for (int i = 0; i < 100'000; ++i) dashes += "- ";
  EXPECT_EQ(read(dashes), "line 1, column 201: nested more than 100 deep");
  std::string deep = "a0: &a0 [x]\n";
  for (int i = 1; i < 200; ++i) deep += fmt::format("a{}: &a{} [*a{}]\n", i, i, i - 1);
  EXPECT_EQ(read(deep), "line 100, column 12: nested more than 100 deep");
}

TEST(Yaml, TheLargestTextsAreRead) {
  std::string one_line = "[";
  while (one_line.size() < 1'000'000) one_line += R"({"name":"é","v":[1,2]},)";
  one_line += "1]";
  Result<std::vector<Document>> documents = parse_yaml(one_line, {.nodes_max = 2'000'000});
  ASSERT_TRUE(documents.ok()) << documents.error().message;
  EXPECT_EQ(documents.value()[0].lines.find("[2].name"), (Position{1, 2 + 2 * 23 + 1}));
}

TEST(Yaml, SaysWhereEachFieldIs) {
  Result<std::vector<Document>> documents = parse_yaml(
      "# head\n---\na: 1\n---\nkind: Job\nmetadata:\n  labels:\n    a.b/c: x\nspec:\n  tasks:\n  - name: t\n "
      "   é: 2\n"
      "  base: &b\n    k: 1\n  use:\n    <<: *b\n    l: 2\n  copy: *b\n");
  ASSERT_TRUE(documents.ok()) << documents.error().message;
  ASSERT_EQ(documents.value().size(), 2u);
  EXPECT_EQ(documents.value()[0].line, 3);
  EXPECT_EQ(documents.value()[1].line, 5);
  const LineMap& lines = documents.value()[1].lines;
  EXPECT_EQ(lines.find("kind"), (Position{5, 1}));
  EXPECT_EQ(lines.find("spec.tasks"), (Position{10, 3}));
  EXPECT_EQ(lines.find("spec.tasks[0]"), (Position{11, 5}));
  EXPECT_EQ(lines.find("spec.tasks[0].name"), (Position{11, 5}));
  EXPECT_EQ(lines.find("spec.tasks[0].é"), (Position{12, 5}));
  EXPECT_EQ(lines.find("metadata.labels.a.b/c"), (Position{8, 5}));
  EXPECT_EQ(lines.find("metadata.labels[a.b/c]"), (Position{8, 5}));
  EXPECT_EQ(lines.find("spec.use.k"), (Position{14, 5}));
  EXPECT_EQ(lines.find("spec.copy.k"), (Position{14, 5}));
  EXPECT_EQ(lines.find("spec.copy"), (Position{18, 3}));
  EXPECT_EQ(lines.find(""), (Position{5, 1}));
  EXPECT_EQ(lines.find("spec.tasks[1]"), std::nullopt);
  EXPECT_EQ(lines.find("spec.nothing"), std::nullopt);
  EXPECT_EQ(lines.nearest("spec.tasks[0].template.spec"), (Position{11, 5}));
  EXPECT_EQ(LineMap().nearest("a"), Position{});
}

TEST(Yaml, WritesReadableBlocks) {
  json::value value =
      json::parse(R"({"apiVersion":"v1","spec":{"args":["--a=b","yes","1"],"list":[[1,2],[]],"none":{},
      "script":"set -e\nrun\n","n":1.5,"t":true,"z":null,"items":[{"name":"a","v":["x"]},{"name":"b"}]}})");
  EXPECT_EQ(to_yaml(value), R"(apiVersion: v1
spec:
  args:
  - --a=b
  - "yes"
  - "1"
  list:
  - - 1
    - 2
  - []
  none: {}
  script: |
    set -e
    run
  "n": 1.5
  t: true
  z: null
  items:
  - name: a
    v:
    - x
  - name: b
)");
  EXPECT_EQ(to_yaml_documents({json::value{{"a", 1}}, json::value{{"b", 2}}}), "a: 1\n---\nb: 2\n");
}

// Texts that are something else without quotes.
constexpr std::string_view kMisread[] = {"yes",
                                         "No",
                                         "y",
                                         "on",
                                         "true",
                                         "null",
                                         "~",
                                         "",
                                         "1",
                                         "-1",
                                         "1.5",
                                         "1e3",
                                         "0x1",
                                         "0o7",
                                         "017",
                                         "1_000",
                                         ".5",
                                         ".inf",
                                         "2001-01-01",
                                         "2001-01-01T00:00:00Z",
                                         "12:30",
                                         "1:20:30",
                                         "- a",
                                         "-",
                                         "?",
                                         ": a",
                                         "a: b",
                                         "a:",
                                         "a #b",
                                         "#a",
                                         "&a",
                                         "*a",
                                         "!a",
                                         "|",
                                         ">",
                                         "%a",
                                         "@a",
                                         "`a",
                                         "'a",
                                         "\"a",
                                         "{a}",
                                         "[a]",
                                         ",a",
                                         " a",
                                         "a ",
                                         "<<",
                                         "=",
                                         "---",
                                         "... a",
                                         "a\tb",
                                         "a\rb",
                                         "\n",
                                         "\n\n",
                                         " \n",
                                         "\x7f",
                                         "\xC2\x85",
                                         "\xE2\x80\xA8",
                                         "0b1",
                                         "1e",
                                         "0xg",
                                         "+1"};

TEST(Yaml, QuotesWhatWouldBeMisread) {
  for (std::string_view text : kMisread) {
    json::value value(jview(text));
    std::string written = to_yaml(value);
    EXPECT_TRUE(written[0] == '"' || written[0] == '\'' || text == "1e" || text == "0xg") << written;
    EXPECT_EQ(read(written), json::serialize(value)) << written;
  }
}

TEST(Yaml, LeavesPlainTextPlain) {
  for (std::string_view text : {"a", "--flag", "-c", "/bin/sh", "tensorflow/tf:2.1", "a b", "a-1", "$(VAR)",
                                "é", "500m", "1Gi", "10.0.0.1/8", "http://a:80/b", "a,b", "a[0]", "it's"}) {
    EXPECT_EQ(to_yaml(json::value(jview(text))), std::string(text) + "\n");
    EXPECT_EQ(read(text), json::serialize(json::value(jview(text))));
  }
}

std::string random_text(Rng& rng) {
  static const std::string_view kPieces[] = {
      "a",   "1",  " ",    "\n", "\t", ":", "#", "-", "'",  "\"", "\\",       "é",           "😀",
      "yes", "\r", "\x01", "{",  "}",  "[", "]", ",", "&",  "*",  "!",        "|",           ">",
      "%",   "@",  "0",    ".",  "e",  "x", "_", "~", "<<", "=",  "\xC2\x85", "\xEF\xBB\xBF"};
  std::string text;
  for (uint64_t n = rng.below(8); n > 0; --n) text += kPieces[rng.below(std::size(kPieces))];
  return text;
}

json::value random_value(Rng& rng, int depth) {
  switch (rng.below(depth > 4 ? 6 : 9)) {
    case 0:
      return nullptr;
    case 1:
      return rng.chance(50);
    case 2:
      return static_cast<int64_t>(rng.next());
    case 3:
      return static_cast<double>(static_cast<int64_t>(rng.next() >> 20)) / 1024.0 + 1.0 / 4096;
    case 4:
      return json::value(random_text(rng));
    case 5:
      return rng.next() | (uint64_t{1} << 63);
    case 6: {
      json::array list;
      for (uint64_t n = rng.below(4); n > 0; --n) list.push_back(random_value(rng, depth + 1));
      return list;
    }
    default: {
      json::object map;
      for (uint64_t n = rng.below(4); n > 0; --n) map[random_text(rng)] = random_value(rng, depth + 1);
      return map;
    }
  }
}

TEST(Yaml, WhatIsWrittenReadsBackTheSame) {
  Rng rng(11);
  for (int i = 0; i < 30'000; ++i) {
    json::value value = random_value(rng, 0);
    std::string written = to_yaml(value);
    Result<std::vector<Document>> again = parse_yaml(written);
    ASSERT_TRUE(again.ok()) << again.error().message << "\n" << written;
    if (value.is_null()) {
      ASSERT_TRUE(again.value().empty());
      continue;
    }
    ASSERT_EQ(again.value().size(), 1u) << written;
    ASSERT_EQ(json::serialize(again.value()[0].body), json::serialize(value)) << written;
  }
  json::value long_key = json::object{{std::string(5000, 'k'), json::array{1}}, {"b", 2}};
  EXPECT_EQ(read(to_yaml(long_key)), json::serialize(long_key));
}

TEST(Json, ParsesStrictlyAndNotTooDeep) {
  EXPECT_TRUE(parse_json(R"({"a":[1]})").ok());
  EXPECT_FALSE(parse_json("{a: 1}").ok());
  EXPECT_FALSE(parse_json("").ok());
  EXPECT_FALSE(parse_json("{} x").ok());
  EXPECT_TRUE(parse_json(std::string(100, '[') + std::string(100, ']')).ok());
  EXPECT_FALSE(parse_json(std::string(101, '[') + std::string(101, ']')).ok());
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')).ok());
}

TEST(Json, RefusesNumbersThatCannotBeWrittenAgain) {
  EXPECT_TRUE(parse_json(R"({"a":[1e308]})").ok());
  for (const char* text : {"1e309", R"({"a":[{"b":-1e400}]})", R"({"a":11111111111111111111e11119})"}) {
    Result<json::value> read = parse_json(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().message, "not valid JSON: a number is too large");
  }
}

}  // namespace
}  // namespace trainyard::kube
