#include "node/image_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/fd.h"
#include "base/hash.h"
#include "kube/access.h"
#include "kube/texts.h"
#include "node/files.h"
#include "node/sandbox_tool.h"
#include "node/sandbox_user.h"

namespace trainyard::node {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kPullHoursMax{12};

Result<json::object> parse_object(std::string_view text, std::string_view what) {
  boost::system::error_code failure;
  json::value value = json::parse(kube::jview(text), failure);
  if (failure || !value.is_object()) {
    return Error{ErrorKind::kInvalid, fmt::format("{} is not a JSON object", what)};
  }
  return std::move(value.as_object());
}

Result<fs::path> tool(std::string_view name) {
  std::optional<fs::path> found = find_tool(name);
  if (found) return *found;
  return Error{
      ErrorKind::kUnavailable,
      fmt::format("{} is needed for images and is not installed (Debian: apt-get install {})", name, name)};
}

Result<Done> run(const std::vector<std::string>& argv, const ImageStore::Progress& progress,
                 std::string_view doing) {
  ToolOptions options;
  options.deadline = kPullHoursMax;
  options.own_group = false;
  options.on_line = progress;
  ToolEnd end = run_tool(argv, options);
  if (end.ok()) return Done{};
  return Error{ErrorKind::kUnavailable, fmt::format("{}: {}", doing, last_words(end))};
}

Result<Fd> lock(const fs::path& folder) {
  if (Result<Done> made = make_folders(folder); !made.ok()) return made.error();
  fs::path file = folder / "lock";
  Fd fd(::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (!fd.valid()) return error_of(errno, "open", file.string());
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return error_of(errno, "lock", file.string());
  }
  return fd;
}

std::string tag_of(const std::string& name) { return fmt::format("{:016x}", fnv1a(name)); }

// Whether some mount has the folder below it: a container runs on it.
bool in_use(const fs::path& root) {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(root.string()) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

ImageConfig read_image_config(const json::object& blob) {
  ImageConfig config;
  config.architecture = kube::text_at(blob, {"architecture"});
  const json::object* from = kube::object_at(blob, {"config"});
  if (from == nullptr) return config;
  config.entrypoint = kube::texts_at(*from, {"Entrypoint"});
  config.cmd = kube::texts_at(*from, {"Cmd"});
  config.env = kube::texts_at(*from, {"Env"});
  config.user = kube::text_at(*from, {"User"});
  config.working_dir = kube::text_at(*from, {"WorkingDir"});
  return config;
}

ImageStore::ImageStore(fs::path folder) : folder_(std::move(folder)) {}

fs::path ImageStore::root_folder(std::string_view digest) const {
  std::string name(digest);
  std::replace(name.begin(), name.end(), ':', '-');
  return folder_ / "roots" / name;
}

std::map<std::string, std::string> ImageStore::names() const {
  std::map<std::string, std::string> names;
  Result<std::string> text = read_whole(folder_ / "names.json");
  if (!text.ok()) return names;
  Result<json::object> object = parse_object(*text, "names.json");
  if (!object.ok()) return names;
  for (const auto& [name, digest] : *object) {
    if (digest.is_string()) names[std::string(kube::view(name))] = kube::view(digest.get_string());
  }
  return names;
}

Result<Done> ImageStore::write_names(const std::map<std::string, std::string>& names) const {
  json::object object;
  for (const auto& [name, digest] : names) object[kube::jview(name)] = digest;
  return write_whole(folder_ / "names.json", json::serialize(object), 0644);
}

Result<Image> ImageStore::open(const std::string& name, const std::string& digest) const {
  fs::path folder = root_folder(digest);
  Result<std::string> text = read_whole(folder / "image.json");
  if (!text.ok()) return text.error();
  Result<json::object> blob = parse_object(*text, "image.json");
  if (!blob.ok()) return blob.error();
  return Image{name, digest, folder / "rootfs", read_image_config(*blob)};
}

std::optional<Image> ImageStore::find(std::string_view written) const {
  Result<ImageName> name = parse_image_name(written);
  if (!name.ok()) return std::nullopt;
  std::map<std::string, std::string> known = names();
  auto found = known.find(full_name(*name));
  if (found == known.end()) return std::nullopt;
  Result<Image> image = open(found->first, found->second);
  if (!image.ok()) return std::nullopt;
  return *image;
}

std::vector<Image> ImageStore::list() const {
  std::vector<Image> images;
  for (const auto& [name, digest] : names()) {
    Result<Image> image = open(name, digest);
    if (image.ok()) images.push_back(*image);
  }
  return images;
}

Result<json::object> ImageStore::blob(std::string_view digest) const {
  size_t colon = digest.find(':');
  if (colon == std::string_view::npos || digest.find('/') != std::string_view::npos) {
    return Error{ErrorKind::kInvalid, fmt::format("not a digest: {}", kube::shown(digest))};
  }
  fs::path file =
      layout() / "blobs" / std::string(digest.substr(0, colon)) / std::string(digest.substr(colon + 1));
  Result<std::string> text = read_whole(file);
  if (!text.ok()) return text.error();
  return parse_object(*text, file.string());
}

Result<std::string> ImageStore::digest_of_tag(std::string_view tag) const {
  Result<std::string> text = read_whole(layout() / "index.json");
  if (!text.ok()) return text.error();
  Result<json::object> index = parse_object(*text, "index.json");
  if (!index.ok()) return index.error();
  const json::array* manifests = kube::array_at(*index, {"manifests"});
  for (const json::value& one : kube::or_empty(manifests)) {
    if (!one.is_object()) continue;
    const json::object& manifest = one.get_object();
    if (kube::text_at(manifest, {"annotations", "org.opencontainers.image.ref.name"}) != tag) continue;
    return std::string(kube::text_at(manifest, {"digest"}));
  }
  return Error{ErrorKind::kNotFound, fmt::format("the layout has no image {}", tag)};
}

Result<Done> ImageStore::unpack(const std::string& digest, const std::string& tag,
                                const Progress& progress) const {
  fs::path target = root_folder(digest);
  if (::access((target / "image.json").c_str(), F_OK) == 0) return Done{};
  Result<json::object> manifest = blob(digest);
  if (!manifest.ok()) return manifest.error();
  Result<json::object> config = blob(kube::text_at(*manifest, {"config", "digest"}));
  if (!config.ok()) return config.error();
  Result<fs::path> umoci = tool("umoci");
  if (!umoci.ok()) return umoci.error();
  fs::path fresh = folder_ / "roots" / "unpacking";
  std::error_code failure;
  fs::remove_all(fresh, failure);
  fs::remove_all(target, failure);
  if (Result<Done> made = make_folders(fresh.parent_path()); !made.ok()) return made;
  if (progress) progress(fmt::format("Unpacking {}", digest));
  std::vector<std::string> argv = {umoci->string(), "unpack"};
  if (::geteuid() != 0 || in_user_namespace()) argv.push_back("--rootless");
  argv.insert(argv.end(), {"--image", fmt::format("{}:{}", layout().string(), tag), fresh.string()});
  if (Result<Done> done = run(argv, progress, "umoci unpack"); !done.ok()) return done;
  if (Result<Done> written = write_whole(fresh / "image.json", json::serialize(*config), 0644);
      !written.ok()) {
    return written;
  }
  // Of use to umoci alone, to make new layers from changes.
  for (const fs::directory_entry& entry : fs::directory_iterator(fresh, failure)) {
    fs::path name = entry.path().filename();
    if (name.extension() == ".mtree" || name == "umoci.json" || name == "config.json")
      fs::remove(entry, failure);
  }
  // Whoever is not root in a container must be able to enter.
  ::chmod(fresh.c_str(), 0755);
  fs::rename(fresh, target, failure);
  if (failure) return error_of(failure.value(), "make", target.string());
  return Done{};
}

Result<Image> ImageStore::adopt(const std::string& name, const std::string& tag, const Progress& progress) {
  Result<std::string> digest = digest_of_tag(tag);
  if (!digest.ok()) return digest.error();
  if (Result<Done> done = unpack(*digest, tag, progress); !done.ok()) return done.error();
  std::map<std::string, std::string> known = names();
  known[name] = *digest;
  if (Result<Done> written = write_names(known); !written.ok()) return written.error();
  return open(name, *digest);
}

Result<Done> ImageStore::copy(const std::vector<std::string>& source, const std::string& tag,
                              const Progress& progress) const {
  Result<fs::path> skopeo = tool("skopeo");
  if (!skopeo.ok()) return skopeo.error();
  std::vector<std::string> argv = {skopeo->string()};
  // skopeo stops where it finds no policy; one that is there is kept to.
  const char* home = std::getenv("HOME");
  bool policy = ::access("/etc/containers/policy.json", R_OK) == 0 ||
                (home != nullptr &&
                 ::access(fmt::format("{}/.config/containers/policy.json", home).c_str(), R_OK) == 0);
  if (!policy) argv.push_back("--insecure-policy");
  argv.push_back("copy");
  argv.insert(argv.end(), source.begin(), source.end());
  argv.push_back(fmt::format("oci:{}:{}", layout().string(), tag));
  return run(argv, progress, "skopeo copy");
}

Result<Done> ImageStore::pack(const fs::path& from, const std::string& tag, const Progress& progress) const {
  Result<fs::path> umoci = tool("umoci");
  if (!umoci.ok()) return umoci.error();
  if (progress) progress(fmt::format("Packing {}", from.string()));
  if (::access((layout() / "oci-layout").c_str(), F_OK) != 0) {
    // A copy that failed before there was any image leaves a folder that is none yet.
    std::error_code ignored;
    fs::remove_all(layout(), ignored);
    Result<Done> made = run({umoci->string(), "init", "--layout", layout().string()}, progress, "umoci init");
    if (!made.ok()) return made;
  }
  std::string image = fmt::format("{}:{}", layout().string(), tag);
  if (digest_of_tag(tag).ok()) {
    Result<Done> gone = run({umoci->string(), "rm", "--image", image}, progress, "umoci rm");
    if (!gone.ok()) return gone;
  }
  Result<Done> fresh = run({umoci->string(), "new", "--image", image}, progress, "umoci new");
  if (!fresh.ok()) return fresh;
  std::vector<std::string> argv = {umoci->string(), "insert"};
  if (::geteuid() != 0 || in_user_namespace()) argv.push_back("--rootless");
  argv.insert(argv.end(), {"--image", image, from.string(), "/"});
  return run(argv, progress, "umoci insert");
}

Result<Image> ImageStore::pull(std::string_view written, const Progress& progress) {
  Result<ImageName> name = parse_image_name(written);
  if (!name.ok()) return name.error();
  Result<Fd> held = lock(folder_);
  if (!held.ok()) return held.error();
  std::string full = full_name(*name);
  std::vector<std::string> source;
  if (on_loopback(*name)) source.push_back("--src-tls-verify=false");
  source.push_back(fmt::format("docker://{}", full));
  Result<Done> copied = copy(source, tag_of(full), progress);
  if (!copied.ok()) return copied.error();
  return adopt(full, tag_of(full), progress);
}

Result<Image> ImageStore::import(const fs::path& from, std::string_view written, const Progress& progress) {
  Result<ImageName> name = parse_image_name(written);
  if (!name.ok()) return name.error();
  Result<Fd> held = lock(folder_);
  if (!held.ok()) return held.error();
  std::string full = full_name(*name);
  std::string text = from.string();
  size_t colon = text.rfind(':');
  fs::path folder = colon == std::string::npos ? from : fs::path(text.substr(0, colon));
  if (::access((from / "oci-layout").c_str(), F_OK) == 0 ||
      ::access((folder / "oci-layout").c_str(), F_OK) == 0) {
    Result<Done> copied = copy({fmt::format("oci:{}", text)}, tag_of(full), progress);
    if (!copied.ok()) return copied.error();
    return adopt(full, tag_of(full), progress);
  }
  std::error_code failure;
  if (!fs::is_directory(from, failure)) {
    return Error{ErrorKind::kInvalid, fmt::format("{} is neither an OCI layout nor a folder", text)};
  }
  if (Result<Done> packed = pack(from, tag_of(full), progress); !packed.ok()) return packed.error();
  return adopt(full, tag_of(full), progress);
}

Result<Done> ImageStore::remove(std::string_view written) {
  Result<ImageName> name = parse_image_name(written);
  if (!name.ok()) return name.error();
  Result<Fd> held = lock(folder_);
  if (!held.ok()) return held.error();
  std::string full = full_name(*name);
  std::map<std::string, std::string> known = names();
  auto found = known.find(full);
  if (found == known.end()) return Error{ErrorKind::kNotFound, fmt::format("image {} is not here", full)};
  std::string digest = found->second;
  known.erase(found);
  bool last =
      std::none_of(known.begin(), known.end(), [&](const auto& other) { return other.second == digest; });
  if (last && in_use(root_folder(digest))) {
    return Error{ErrorKind::kConflict, fmt::format("image {} is in use by a container", full)};
  }
  if (Result<Done> forgotten = write_names(known); !forgotten.ok()) return forgotten;
  std::error_code failure;
  if (last) fs::remove_all(root_folder(digest), failure);
  std::optional<fs::path> umoci = find_tool("umoci");
  if (!umoci) return Done{};
  std::string image = fmt::format("{}:{}", layout().string(), tag_of(full));
  Result<Done> untagged = run({umoci->string(), "rm", "--image", image}, {}, "umoci rm");
  if (!untagged.ok()) return untagged;
  return run({umoci->string(), "gc", "--layout", layout().string()}, {}, "umoci gc");
}

}  // namespace trainyard::node
