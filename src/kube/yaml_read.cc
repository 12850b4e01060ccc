#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <cstring>
#include <sstream>

#include "kube/access.h"
#include "kube/objects.h"
#include "kube/utf8.h"
#include "kube/yaml.h"
#include "kube/yaml_scalar.h"
#include "kube/yaml_source.h"

namespace trainyard::kube {
namespace {

constexpr std::string_view kStandardTag = "tag:yaml.org,2002:";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
Error to_error(const Refusal& refusal) {
  return {ErrorKind::kInvalid,
          fmt::format("line {}, column {}: {}", refusal.at.line, refusal.at.column, refusal.why)};
}

[[noreturn]] void refuse_tab(const Source& source, int line, int column) {
  throw Refusal{source.place(line, column), "a tab cannot be used for indentation, use spaces"};
}

std::string not_closed(char bracket) { return fmt::format("the \"{}\" is not closed", bracket); }

// The parser gives the escapes \N and \_ as single bytes, which are no UTF-8.
std::string repaired(const std::string& text) {
  if (is_utf8(text)) return text;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t length = utf8_at(text, at).bytes;
    if (length == 0) out += '\xC2';
    out.append(text, at, std::max<size_t>(length, 1));
    at += std::max<size_t>(length, 1);
  }
  return out;
}

// Builds the documents from the parser's events.
class Builder : public YAML::EventHandler {
 public:
  Builder(const Source& source, const YamlLimits& limits) : source_(source), limits_(limits) {}

  std::vector<Document> take() { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // Where no value can begin the parser gives an empty document and stays where it is.
    if (started_ && mark.pos == started_at_) refuse(mark, "nothing can begin here");
    started_at_ = mark.pos;
    if (started_ && !source_.begins_document(mark.line)) {
      refuse(mark, "a second value begins here; documents are separated by \"---\"");
    }
    started_ = true;
    current_ = Document();
    anchors_.clear();
    open_anchors_.clear();
  }
  void OnDocumentEnd() override {
    if (!current_.body.is_null()) documents_.push_back(std::move(current_));
  }

  void OnAnchor(const YAML::Mark&, const std::string& name) override { anchor_name_ = name; }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const bool listed = !frames_.empty() && frames_.back().flow && !frames_.back().is_map;
    if (listed && source_.begins_at(mark.line, mark.column, ','))
      refuse(mark, "a value is missing before this \",\"");
    put({nullptr, 1, 0, -1}, mark, anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    check_indentation(mark);
    bool plain = tag == "?";
    if (plain && text == "<<" && wants_key()) {
      set_key("<<", mark, true);
      return;
    }
    if (!plain) last_quoted_ = mark;
    put({resolve(mark, tag, plain ? text : block_mended(mark, repaired(text))), 1, 0, -1}, mark, anchor);
  }

  // The parser takes the end of the text for the end of a quotation. REQUIRES: all is parsed.
  void check_last_quotation() const {
    if (last_quoted_ && source_.has_open_quotation(last_quoted_->line, last_quoted_->column)) {
      refuse(*last_quoted_, "the quotation is not closed");
    }
  }

  // The innermost list or map in flow style whose end has not come.
  std::optional<YAML::Mark> open_flow() const {
    if (frames_.empty() || !frames_.back().flow) return std::nullopt;
    return frames_.back().mark;
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      refuse(mark, fmt::format("the anchor \"{}\" is used inside itself", shown(open_anchors_[anchor])));
    }
    put(Value(found->second), mark, 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(mark, anchor, false, style);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(mark, anchor, true, style);
  }
  void OnMapEnd() override {
    merge_into(frames_.back());
    close();
  }

 private:
  // A finished value: how many nodes it is, how deep, and where its place is in the line map.
  struct Value {
    json::value body;
    size_t nodes = 1;
    int height = 0;
    int place = -1;
  };
  struct Frame {
    bool is_map = false;
    bool flow = false;
    json::object object;
    json::array array;
    std::vector<json::value> merges;
    std::optional<std::string> key;
    Position key_at;
    bool key_merges = false;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    size_t nodes_before = 0;
    int height = 0;
    int place = -1;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string why) const {
    throw Refusal{place(mark), std::move(why)};
  }

  // The parser takes a list or a map that nothing closes for a key.
  [[noreturn]] void refuse_key(const YAML::Mark& mark) const {
    std::optional<char> bracket = source_.open_bracket(mark.line, mark.column);
    if (bracket) refuse(mark, not_closed(*bracket));
    refuse(mark, "a key must be a single value, not a list or a map");
  }

  Position place(const YAML::Mark& mark) const { return source_.place(mark.line, mark.column); }

  bool wants_key() const { return !frames_.empty() && frames_.back().is_map && !frames_.back().key; }

  // In block style what stands before the first thing of a line is indentation.
  void check_indentation(const YAML::Mark& mark) const {
    if (!frames_.empty() && frames_.back().flow) return;
    int tab = source_.tab_in_indentation(mark.line, mark.column);
    if (tab >= 0) refuse_tab(source_, mark.line, tab);
  }

  void count(const YAML::Mark& mark, size_t nodes) {
    nodes_ += nodes;
    if (nodes_ > limits_.nodes_max) {
      refuse(mark, fmt::format("more than {} values, aliases counted in full", limits_.nodes_max));
    }
  }

  void check_depth(const YAML::Mark& mark, int height) const {
    if (static_cast<int>(frames_.size()) + height > limits_.depth_max) {
      refuse(mark, fmt::format("nested more than {} deep", limits_.depth_max));
    }
  }

  // The parser drops a line break at the end of a folded text that keeps them, and takes a tab for
  // text where Kubernetes' parser still looks for the indentation.
  std::string block_mended(const YAML::Mark& mark, std::string text) const {
    int outside = frames_.empty() ? 0 : frames_.back().mark.column;
    std::optional<BlockScalar> block = source_.block_scalar(mark.line, mark.column, outside);
    if (!block) return text;
    if (block->tab_line >= 0) refuse_tab(source_, block->tab_line, block->tab_column);
    if (!block->kept_breaks) return text;
    while (text.ends_with('\n')) text.pop_back();
    return text.append(*block->kept_breaks, '\n');
  }

  json::value resolve(const YAML::Mark& mark, const std::string& tag, const std::string& text) const {
    if (tag == "?" || tag.empty()) {
      Scalar scalar = resolve_plain(text);
      if (!scalar.finite) refuse(mark, fmt::format("\"{}\" is not a number JSON can hold", shown(text)));
      return scalar.kind == ScalarKind::kText ? json::value(text) : std::move(scalar.value);
    }
    if (!tag.starts_with(kStandardTag)) return json::value(text);
    std::string_view wanted = std::string_view(tag).substr(kStandardTag.size());
    if (wanted == "binary") {
      std::string packed = text;
      std::erase_if(packed, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
      std::optional<std::string> bytes = decode_base64(packed);
      if (!bytes) refuse(mark, "!!binary is not valid base64");
      if (!is_utf8(*bytes)) refuse(mark, "!!binary holds bytes that are not text");
      return json::value(*bytes);
    }
    Scalar scalar = resolve_plain(text);
    bool fits = (wanted == "null" && scalar.kind == ScalarKind::kNull) ||
                (wanted == "bool" && scalar.kind == ScalarKind::kBool) ||
                (wanted == "int" && scalar.kind == ScalarKind::kInt) ||
                (wanted == "float" && scalar.finite &&
                 (scalar.kind == ScalarKind::kFloat || scalar.kind == ScalarKind::kInt));
    if (fits) return std::move(scalar.value);
    if (wanted == "null" || wanted == "bool" || wanted == "int" || wanted == "float") {
      refuse(mark, fmt::format("\"{}\" is not a !!{}", shown(text), wanted));
    }
    return json::value(text);
  }

  void set_key(std::string key, const YAML::Mark& mark, bool merges) {
    count(mark, 1);
    Frame& frame = frames_.back();
    if (!merges && frame.object.contains(jview(key))) {
      refuse(mark, fmt::format("the key \"{}\" is there twice", shown(key)));
    }
    frame.key = std::move(key);
    frame.key_at = place(mark);
    frame.key_merges = merges;
  }

  // A place in the line map for the value that is about to be put.
  int add_place(const YAML::Mark& mark, int copy_of) {
    Position at = place(mark);
    if (frames_.empty()) {
      current_.line = at.line;
      return current_.lines.add(-1, "", -1, at);
    }
    Frame& frame = frames_.back();
    if (frame.is_map) at = frame.key_at;
    std::string_view key = frame.is_map ? std::string_view(*frame.key) : std::string_view();
    int index = frame.is_map ? -1 : static_cast<int>(frame.array.size());
    if (copy_of >= 0) return current_.lines.add_copy(copy_of, frame.place, key, index, at);
    return current_.lines.add(frame.place, key, index, at);
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, bool is_map, YAML::EmitterStyle::value style) {
    check_indentation(mark);
    if (wants_key()) refuse_key(mark);
    count(mark, 1);
    check_depth(mark, 1);
    Frame frame;
    frame.is_map = is_map;
    frame.flow = style == YAML::EmitterStyle::Flow;
    frame.mark = mark;
    frame.anchor = anchor;
    frame.nodes_before = nodes_ - 1;
    frame.place = add_place(mark, -1);
    if (anchor != 0) open_anchors_[anchor] = anchor_name_;
    frames_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    Value value;
    if (frame.is_map) {
      value.body = std::move(frame.object);
    } else {
      value.body = std::move(frame.array);
    }
    value.nodes = nodes_ - frame.nodes_before;
    value.height = frame.height + 1;
    value.place = frame.place;
    remember(frame.mark, frame.anchor, value);
    attach(frame.mark, std::move(value));
  }

  // A scalar or an alias has come: a key or a value.
  void put(Value value, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) open_anchors_[anchor] = anchor_name_;
    if (wants_key()) {
      std::optional<std::string> key = key_text(value.body);
      if (!key) refuse(mark, "a key must be a single value, not null, a list or a map");
      remember(mark, anchor, value);
      set_key(std::move(*key), mark, false);
      return;
    }
    count(mark, value.nodes);
    check_depth(mark, value.height);
    value.place = add_place(mark, value.place);
    remember(mark, anchor, value);
    attach(mark, std::move(value));
  }

  void remember(const YAML::Mark& mark, YAML::anchor_t anchor, const Value& value) {
    if (anchor == 0) return;
    count(mark, value.nodes);
    anchors_[anchor] = value;
  }

  void attach(const YAML::Mark& mark, Value value) {
    if (frames_.empty()) {
      current_.body = std::move(value.body);
      return;
    }
    Frame& frame = frames_.back();
    frame.height = std::max(frame.height, value.height);
    if (!frame.is_map) {
      frame.array.push_back(std::move(value.body));
    } else if (frame.key_merges) {
      add_merges(mark, frame, std::move(value.body));
      frame.key.reset();
    } else {
      frame.object.emplace(jview(*frame.key), std::move(value.body));
      frame.key.reset();
    }
  }

  void add_merges(const YAML::Mark& mark, Frame& frame, json::value body) {
    bool fits = body.is_object();
    if (const json::array* list = body.if_array()) {
      fits = std::all_of(list->begin(), list->end(), [](const json::value& v) { return v.is_object(); });
    }
    if (!fits) refuse(mark, "the merge key \"<<\" takes a map or a list of maps");
    if (body.is_object()) {
      frame.merges.push_back(std::move(body));
    } else {
      for (json::value& entry : body.get_array()) frame.merges.push_back(std::move(entry));
    }
  }

  // A map's own keys win over merged ones, earlier merged maps over later.
  static void merge_into(Frame& frame) {
    for (json::value& merged : frame.merges) {
      for (json::key_value_pair& member : merged.get_object()) {
        if (!frame.object.contains(member.key()))
          frame.object.emplace(member.key(), std::move(member.value()));
      }
    }
  }

  const Source& source_;
  const YamlLimits& limits_;
  std::vector<Document> documents_;

  std::optional<YAML::Mark> last_quoted_;
  bool started_ = false;
  int started_at_ = 0;
  Document current_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Value> anchors_;
  std::map<YAML::anchor_t, std::string> open_anchors_;
  std::string anchor_name_;
  size_t nodes_ = 0;
};

// The parser's words that leave the reader guessing, and ours.
struct Wording {
  std::string_view theirs;
  std::string_view ours;
};
constexpr Wording kWordings[] = {
    {"illegal map value",
     "a \":\" stands where no value can begin: indent the line as its neighbours, or put the text in quotes"},
    {"illegal map key", "a key cannot stand here: indent the line as its neighbours"},
    {"illegal block entry", "an entry of a list cannot stand here: begin it on a line of its own"},
    {"illegal flow end", "this bracket closes nothing"},
    {"end of map not found", "the line is indented as nothing above it: a map's keys begin in one column"},
    {"end of sequence not found",
     "the line is indented as nothing above it: a list's entries begin in one column"},
    {"end of map flow not found", "a \",\" or a \"}\" is missing before this"},
    {"end of sequence flow not found", "a \",\" or a \"]\" is missing before this"},
    {"illegal EOF in scalar", "the quotation is not closed"},
    {"YAML major version too large", "YAML 1.1 and 1.2 are read, no later version"},
};

// The text of the line from the place of the fault on.
std::string_view rest_of_line(const YAML::Exception& fault, const Source& source) {
  std::string_view line = source.line(fault.mark.line);
  return line.substr(std::min(static_cast<size_t>(std::max(fault.mark.column, 0)), line.size()));
}

// What the parser says, in our words where its own leave the reader guessing.
Refusal explain(const YAML::Exception& fault, const Source& source, std::optional<YAML::Mark> open_flow) {
  int line = fault.mark.line;
  int tab = source.tab_in_indentation(line, static_cast<int>(source.line(line).size()));
  if (tab >= 0) return {source.place(line, tab), "a tab cannot be used for indentation, use spaces"};
  if (open_flow) {
    std::optional<char> bracket = source.open_bracket(open_flow->line, open_flow->column);
    if (bracket) return {source.place(open_flow->line, open_flow->column), not_closed(*bracket)};
  }
  Position at = source.place(fault.mark.line, fault.mark.column);
  std::string_view rest = rest_of_line(fault, source);
  if (fault.msg.find("referenced anchor is not defined") != fault.msg.npos) {
    std::string_view name = rest.substr(0, rest.find_first_of(" \t\r,]}"));
    return {at, fmt::format("the alias \"{}\" refers to no anchor", shown(name))};
  }
  if (fault.msg == "unknown token" && !rest.empty()) {
    return {at, fmt::format("a value cannot begin with \"{}\": put it in quotes", rest.substr(0, 1))};
  }
  constexpr std::string_view kUnicode = "invalid unicode: ";
  if (fault.msg.starts_with(kUnicode)) {
    return {at, fmt::format("the escape stands for {}, which is no character",
                            fault.msg.substr(kUnicode.size()))};
  }
  for (const Wording& wording : kWordings) {
    if (fault.msg == wording.theirs) return {at, std::string(wording.ours)};
  }
  return {at, fault.msg};
}

}  // namespace

Result<std::vector<Document>> parse_yaml(std::string_view text, const YamlLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return to_error(
        {{1, 1},
         fmt::format("the text is {} bytes, more than the limit of {}", text.size(), limits.bytes_max)});
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::string read = looks_like_json(text) ? join_surrogate_escapes(text) : std::string(text);
  Source source(read);  // the parser's places are places in this
  Builder builder(source, limits);
  try {
    check_text(read, source);
    std::istringstream in(read);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
    builder.check_last_quotation();
    return builder.take();
  } catch (const Refusal& refusal) {
    return to_error(refusal);
  } catch (const YAML::Exception& fault) {
    return to_error(explain(fault, source, builder.open_flow()));
  }
}

}  // namespace trainyard::kube
