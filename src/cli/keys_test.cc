#include "cli/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

namespace trainyard::cli {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

TEST(Keys, PairInTheFormsThatSshReads) {
  Result<dialect::KeyPair> keys = make_key_pair();
  ASSERT_TRUE(keys.ok()) << keys.error().message;
  EXPECT_THAT(keys->private_pem, StartsWith("-----BEGIN RSA PRIVATE KEY-----\n"));
  EXPECT_THAT(keys->private_pem, EndsWith("-----END RSA PRIVATE KEY-----\n"));
  // "ssh-rsa" with its length, exponent 65537, then the modulus.
  EXPECT_THAT(keys->public_ssh, StartsWith("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ"));
  EXPECT_THAT(keys->public_ssh, EndsWith("\n"));

  BIO* bio = BIO_new_mem_buf(keys->private_pem.data(), static_cast<int>(keys->private_pem.size()));
  EVP_PKEY* read_back = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  ASSERT_NE(read_back, nullptr);
  EXPECT_EQ(EVP_PKEY_get_bits(read_back), 2048);
  EVP_PKEY_free(read_back);
  BIO_free(bio);
}

TEST(Keys, EachPairIsNew) { EXPECT_NE(make_key_pair()->private_pem, make_key_pair()->private_pem); }

}  // namespace
}  // namespace trainyard::cli
