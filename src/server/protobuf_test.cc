#include "server/protobuf.h"

#include <gtest/gtest.h>

#include "kube/access.h"
#include "server/protobuf_reader.h"

namespace trainyard::server {
namespace {

std::string from_hex(std::string_view hex) {
  auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  }
  return bytes;
}

struct Sample {
  std::string_view hex;
  std::string_view json;
};

// Bytes as the Go client library sends them, and the JSON it writes for the same objects
// (without what is empty).
const std::vector<Sample>& samples() {
  static const std::vector<Sample> kSamples = {
      {"6b3873000a0f0a0276311209436f6e6669674d6170122d0a1a0a016312001a016422002a003200380042005a06"
       "0a016112016212060a016b1201761a070a0178120200ff1a002200",
       R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c","namespace":"d","labels)"
       R"(":{"a":"b"}},"data":{"k":"v"},"binaryData":{"x":"AP8="}})"},
      {"6b3873000a090a0276311203506f6412c9010a190a017012001a0022002a003200380042080880e2cfaa061000"
       "1296010a0f0a0176120a12080a064d656d6f72790a090a0177120412020a00125a0a01611201692a00320a0a00"
       "1000185022002a00420f0a0d0a0363707512060a043530306d521f0a1312110a001209080110001a037765621a"
       "002200100018002000280030006a0072007a021000800100880100900100a201001a002000320042004a005200"
       "5800600068008201008a01009a0100c201001a130a001a0022002a0032004a005a0072008801001a002200",
       R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","creationTimestamp":"2023-11-)"
       R"(14T22:13:20Z"},"spec":{"volumes":[{"name":"v","emptyDir":{"medium":"Memory"}},{"name)"
       R"(":"w","emptyDir":{}}],"containers":[{"name":"a","image":"i","ports":[{"containerPort)"
       R"(":80}],"resources":{"limits":{"cpu":"500m"}},"livenessProbe":{"httpGet":{"port":"web)"
       R"("}},"securityContext":{"privileged":false}}],"terminationGracePeriodSeconds":0}})"},
      {"6b3873000a1f0a16636f6f7264696e6174696f6e2e6b38732e696f2f763112054c6561736512280a110a016c12"
       "001a0022002a0032003800420012130a026d65220b0880e2cfaa06108094ef3a28001a002200",
       R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"l"},"spec")"
       R"(:{"holderIdentity":"me","renewTime":"2023-11-14T22:13:20.123456Z","leaseTransitions")"
       R"(:0}})"},
      {"6b3873000a320a17617574686f72697a6174696f6e2e6b38732e696f2f7631121753656c665375626a65637441"
       "636365737352657669657712360a100a0012001a0022002a0032003800420012180a160a016412036765741a00"
       "22002a04706f647332003a001a08080012001a0020001a002200",
       R"({"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{"re)"
       R"(sourceAttributes":{"namespace":"d","verb":"get","resource":"pods"}},"status":{"allow)"
       R"(ed":false}})"},
      {"6b3873000a200a09706f6c6963792f76311213506f6444697372757074696f6e427564676574122b0a110a0162"
       "12001a0022002a00320038004200120a0a06080010021a0012001a0a080018002000280030001a002200",
       R"({"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"b"},"spec)"
       R"(":{"minAvailable":2,"selector":{}}})"},
      {"6b3873000a2e0a17617574686f72697a6174696f6e2e6b38732e696f2f763112135375626a6563744163636573"
       "7352657669657712300a100a0012001a0022002a0032003800420012121a01752a0b0a016b12060a01610a0162"
       "32001a08080012001a0020001a002200",
       R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{"user":)"
       R"("u","extra":{"k":["a","b"]}},"status":{"allowed":false}})"},
      {"6b3873000a180a07617070732f7631120d44656c6574654f7074696f6e73120e0800220a466f726567726f756e"
       "641a002200",
       R"({"kind":"DeleteOptions","apiVersion":"apps/v1","gracePeriodSeconds":0,"propagationPo)"
       R"(licy":"Foreground"})"},
  };
  return kSamples;
}

TEST(Protobuf, GivesTheJsonThatGoWrites) {
  for (const Sample& sample : samples()) {
    Result<json::object> decoded = decode_protobuf(from_hex(sample.hex));
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    // Objects compare by their members in any order.
    EXPECT_EQ(json::value(*decoded), json::parse(kube::jview(sample.json))) << json::serialize(*decoded);
  }
}

TEST(Protobuf, RefusesWhatDoesNotHoldTogether) {
  EXPECT_FALSE(decode_protobuf("").ok());
  EXPECT_FALSE(decode_protobuf("{}").ok());
  EXPECT_FALSE(decode_protobuf(std::string_view("k8s\0", 4)).ok());
  for (const Sample& sample : samples()) {
    std::string bytes = from_hex(sample.hex);
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      // The cut may fall between two fields: then it is a smaller message. It never runs away.
      (void)decode_protobuf(std::string_view(bytes).substr(0, cut));
    }
    for (size_t at = 4; at < bytes.size(); ++at) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(0xff);
      (void)decode_protobuf(damaged);
    }
  }
}

TEST(Protobuf, RefusesKindsItHasNoMessageFor) {
  ProtobufWriter type;
  type.add_bytes(1, "kubeflow.org/v9");
  type.add_bytes(2, "TFJob");
  ProtobufWriter envelope;
  envelope.add_message(1, type);
  Result<json::object> decoded = decode_protobuf(std::string("k8s\0", 4) + envelope.bytes());
  ASSERT_FALSE(decoded.ok());
  EXPECT_NE(decoded.error().message.find("TFJob"), std::string::npos);
}

TEST(Protobuf, WritesWhatItReads) {
  ProtobufWriter writer;
  writer.add_varint(1, 300);
  writer.add_bytes(2, "text");
  writer.add_varint(2000, ~0ull);
  ProtobufReader reader(writer.bytes());
  EXPECT_EQ(reader.next()->varint, 300u);
  EXPECT_EQ(reader.next()->bytes, "text");
  std::optional<ProtobufField> last = reader.next();
  EXPECT_EQ(last->number, 2000);
  EXPECT_EQ(last->varint, ~0ull);
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.broken());
}

}  // namespace
}  // namespace trainyard::server
