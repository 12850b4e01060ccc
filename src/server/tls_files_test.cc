#include "server/tls_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace trainyard::server {
namespace {

namespace fs = std::filesystem;

constexpr Time kSignedAt{1'800'000'000'000};
constexpr Duration kDay = std::chrono::hours{24};

class TlsFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "trainyard-tls-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }
  fs::path dir() const { return root_ / "data" / "pki"; }
  TlsFiles ensured(Time now = kSignedAt, const std::vector<std::string>& names = {}) {
    Result<TlsFiles> files = ensure_tls_files(dir(), names, now);
    EXPECT_TRUE(files.ok()) << (files.ok() ? "" : files.error().message);
    return files.ok() ? *files : TlsFiles{};
  }
  static mode_t mode_of(const fs::path& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777;
  }

  fs::path root_;
};

TEST_F(TlsFilesTest, MadeOnceAndPrivate) {
  TlsFiles first = ensured();
  TlsFiles second = ensured(kSignedAt + kDay);
  EXPECT_EQ(first.ca_certificate, second.ca_certificate);
  EXPECT_EQ(first.server, second.server);
  EXPECT_EQ(first.admin, second.admin);
  EXPECT_EQ(first.token, second.token);
  EXPECT_EQ(first.token.size(), 64u);
  EXPECT_EQ(mode_of(dir()), 0700u);
  for (const char* file :
       {"ca.crt", "ca.key", "server.crt", "server.key", "admin.crt", "admin.key", "token"}) {
    EXPECT_EQ(mode_of(dir() / file), 0600u) << file;
  }
}

TEST_F(TlsFilesTest, ModesAreMended) {
  ensured();
  ::chmod((dir() / "token").c_str(), 0644);
  ::chmod(dir().c_str(), 0755);
  ensured();
  EXPECT_EQ(mode_of(dir() / "token"), 0600u);
  EXPECT_EQ(mode_of(dir()), 0700u);
}

TEST_F(TlsFilesTest, TheServerStandsForItsNames) {
  TlsFiles files = ensured();
  EXPECT_TRUE(covers(files.server.certificate, {"localhost", "127.0.0.1", "::1", "kubernetes.default.svc"}));
  EXPECT_FALSE(covers(files.server.certificate, {"example.com"}));
  TlsFiles more = ensured(kSignedAt, {"10.0.0.7", "train.example.com"});
  EXPECT_NE(more.server, files.server);
  EXPECT_TRUE(covers(more.server.certificate, {"10.0.0.7", "train.example.com", "localhost"}));
  EXPECT_EQ(more.admin, files.admin);
  EXPECT_TRUE(is_signed_by(files.server, files.ca_certificate));
  EXPECT_TRUE(is_signed_by(files.admin, files.ca_certificate));
}

TEST_F(TlsFilesTest, RenewedBeforeTheEnd) {
  TlsFiles files = ensured();
  TlsFiles later = ensured(kSignedAt + kDay * 340);
  EXPECT_EQ(later.ca_certificate, files.ca_certificate);
  EXPECT_NE(later.server, files.server);
  EXPECT_NE(later.admin, files.admin);
  EXPECT_EQ(later.token, files.token);
  EXPECT_GT(*expiry_of(later.server.certificate), kSignedAt + kDay * 600);
  TlsFiles much_later = ensured(kSignedAt + kDay * 3640);
  EXPECT_NE(much_later.ca_certificate, files.ca_certificate);
  EXPECT_TRUE(is_signed_by(much_later.server, much_later.ca_certificate));
}

TEST_F(TlsFilesTest, DamageIsMended) {
  TlsFiles files = ensured();
  std::ofstream(dir() / "server.key") << "torn";
  std::ofstream(dir() / "token") << "";
  TlsFiles again = ensured();
  EXPECT_NE(again.server, files.server);
  EXPECT_NE(again.token, files.token);
  EXPECT_EQ(again.ca_certificate, files.ca_certificate);
  EXPECT_EQ(mode_of(dir() / "server.key"), 0600u);
}

TEST_F(TlsFilesTest, ADiskThatRefusesIsTold) {
  std::ofstream(root_ / "data") << "a file where a folder should be";
  Result<TlsFiles> files = ensure_tls_files(dir(), {}, kSignedAt);
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace trainyard::server
