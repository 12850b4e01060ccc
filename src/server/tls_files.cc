#include "server/tls_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/fd.h"

namespace trainyard::server {
namespace {

namespace fs = std::filesystem;

constexpr Duration kDay = std::chrono::hours{24};
constexpr Duration kAuthorityLifetime = kDay * 3650;
constexpr Duration kLeafLifetime = kDay * 365;
constexpr Duration kRenewBefore = kDay * 30;
constexpr size_t kTokenBytes = 32;

Error disk_error(std::string_view what, const fs::path& path) {
  return {ErrorKind::kUnavailable,
          fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(errno))};
}

// "" when it cannot be read.
std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Result<Done> write_private(const fs::path& path, std::string_view text) {
  fs::path beside = path;
  beside += ".new";
  ::unlink(beside.c_str());
  Fd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return disk_error("create", beside);
  while (!text.empty()) {
    ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return disk_error("write", beside);
    text.remove_prefix(static_cast<size_t>(written));
  }
  if (::fsync(fd.get()) != 0) return disk_error("write", beside);
  if (::rename(beside.c_str(), path.c_str()) != 0) return disk_error("replace", path);
  return Done{};
}

Result<Done> make_folder(const fs::path& dir) {
  std::error_code failed;
  fs::create_directories(dir, failed);
  if (::chmod(dir.c_str(), 0700) != 0) return disk_error("use", dir);
  return Done{};
}

KeyPair read_pair(const fs::path& dir, const std::string& name) {
  return {read_file(dir / (name + ".crt")), read_file(dir / (name + ".key"))};
}

Result<Done> write_pair(const fs::path& dir, const std::string& name, const KeyPair& pair) {
  Result<Done> key = write_private(dir / (name + ".key"), pair.key);
  if (!key.ok()) return key;
  return write_private(dir / (name + ".crt"), pair.certificate);
}

bool lasts(const KeyPair& pair, Time now) {
  Result<Time> end = expiry_of(pair.certificate);
  return end.ok() && *end > now + kRenewBefore;
}

Result<KeyPair> ensure_authority(const fs::path& dir, Time now) {
  KeyPair there = read_pair(dir, "ca");
  if (is_signed_by(there, there.certificate) && lasts(there, now)) return there;
  Result<KeyPair> made = make_authority("trainyard-ca", kAuthorityLifetime, now);
  if (!made.ok()) return made;
  Result<Done> written = write_pair(dir, "ca", *made);
  return written.ok() ? made : Result<KeyPair>(written.error());
}

Result<KeyPair> ensure_leaf(const fs::path& dir, const std::string& file, const KeyPair& authority,
                            const CertificateRequest& request, Time now) {
  KeyPair there = read_pair(dir, file);
  if (is_signed_by(there, authority.certificate) && lasts(there, now) &&
      covers(there.certificate, request.names)) {
    return there;
  }
  Result<KeyPair> made = issue(authority, request, now);
  if (!made.ok()) return made;
  Result<Done> written = write_pair(dir, file, *made);
  return written.ok() ? made : Result<KeyPair>(written.error());
}

bool is_token(std::string_view text) {
  return text.size() == 2 * kTokenBytes &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<std::string> ensure_token(const fs::path& dir) {
  std::string there = read_file(dir / "token");
  if (is_token(there)) return there;
  std::string made = random_hex(kTokenBytes);
  Result<Done> written = write_private(dir / "token", made);
  return written.ok() ? Result<std::string>(made) : Result<std::string>(written.error());
}

// Files from elsewhere (a backup) may have come with other modes.
void make_private(const fs::path& dir) {
  for (const char* file :
       {"ca.crt", "ca.key", "server.crt", "server.key", "admin.crt", "admin.key", "token"}) {
    ::chmod((dir / file).c_str(), 0600);
  }
}

}  // namespace

std::vector<std::string> own_names() {
  return {"localhost",
          "127.0.0.1",
          "::1",
          "kubernetes",
          "kubernetes.default",
          "kubernetes.default.svc",
          "kubernetes.default.svc.cluster.local"};
}

Result<TlsFiles> ensure_tls_files(const fs::path& dir, const std::vector<std::string>& more_names, Time now) {
  Result<Done> folder = make_folder(dir);
  if (!folder.ok()) return folder.error();
  Result<KeyPair> authority = ensure_authority(dir, now);
  if (!authority.ok()) return authority.error();
  std::vector<std::string> names = own_names();
  names.insert(names.end(), more_names.begin(), more_names.end());
  Result<KeyPair> server = ensure_leaf(dir, "server", *authority,
                                       {.use = CertificateUse::kServer,
                                        .common_name = "trainyard",
                                        .names = std::move(names),
                                        .lifetime = kLeafLifetime},
                                       now);
  if (!server.ok()) return server.error();
  Result<KeyPair> admin = ensure_leaf(dir, "admin", *authority,
                                      {.use = CertificateUse::kClient,
                                       .common_name = "kubernetes-admin",
                                       .organization = "system:masters",
                                       .lifetime = kLeafLifetime},
                                      now);
  if (!admin.ok()) return admin.error();
  Result<std::string> token = ensure_token(dir);
  if (!token.ok()) return token.error();
  make_private(dir);
  return TlsFiles{authority->certificate, *server, *admin, *token};
}

}  // namespace trainyard::server
