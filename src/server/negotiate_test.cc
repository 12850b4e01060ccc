#include "server/negotiate.h"

#include <gtest/gtest.h>

namespace trainyard::server {
namespace {

TEST(Negotiate, PicksWhatKubectlAsksFor) {
  struct Case {
    std::string_view accept;
    std::optional<ObjectForm> form;
  };
  constexpr std::string_view kGet =
      "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,"
      "application/json";
  const Case cases[] = {
      {"", ObjectForm{}},
      {"*/*", ObjectForm{}},
      {"application/json", ObjectForm{}},
      {"application/json, */*", ObjectForm{}},
      {kGet, ObjectForm{Encoding::kJson, Shape::kTable}},
      {"application/json;as=Table;v=v1beta1;g=meta.k8s.io",
       ObjectForm{Encoding::kJson, Shape::kTableV1Beta1}},
      {"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
       ObjectForm{Encoding::kJson, Shape::kPartialMetadataList}},
      {"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
       "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
       ObjectForm{Encoding::kJson, Shape::kPartialMetadata}},
      {"application/vnd.kubernetes.protobuf,application/json", ObjectForm{}},
      {"application/yaml", ObjectForm{Encoding::kYaml, Shape::kObject}},
      {"application/json;as=Table;v=v7;g=meta.k8s.io", std::nullopt},
      {"application/vnd.kubernetes.protobuf", std::nullopt},
      {"text/html", std::nullopt},
      {"application/json;q=0", std::nullopt},
      {"application/json;q=0.1,application/yaml;q=0.9", ObjectForm{Encoding::kYaml, Shape::kObject}},
  };
  for (const Case& each : cases) EXPECT_EQ(pick_object_form(each.accept), each.form) << each.accept;
}

TEST(Negotiate, PicksTheDiscoveryThatTheClientPrefers) {
  constexpr std::string_view kV2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,";
  constexpr std::string_view kBeta =
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,";
  std::string both = std::string(kV2) + std::string(kBeta) + "application/json";
  EXPECT_EQ(pick_discovery_form(both), DiscoveryForm::kV2);
  EXPECT_EQ(pick_discovery_form(std::string(kBeta) + "application/json"), DiscoveryForm::kV2Beta1);
  EXPECT_EQ(pick_discovery_form("application/json, */*"), DiscoveryForm::kLegacy);
  EXPECT_EQ(pick_discovery_form(""), DiscoveryForm::kLegacy);
}

TEST(Negotiate, KnowsOpenApisProtobufInBothSpellings) {
  EXPECT_EQ(pick_openapi_v2_form("application/com.github.proto-openapi.spec.v2@v1.0+protobuf"),
            OpenApiForm::kProtobuf);
  EXPECT_EQ(pick_openapi_v2_form("application/com.github.proto-openapi.spec.v2.v1.0+protobuf"),
            OpenApiForm::kProtobuf);
  EXPECT_EQ(pick_openapi_v2_form("application/json, */*"), OpenApiForm::kJson);
  EXPECT_EQ(pick_openapi_v3_form("application/com.github.proto-openapi.spec.v3@v1.0+protobuf"), std::nullopt);
}

TEST(Negotiate, KnowsBodies) {
  EXPECT_EQ(body_type_of(""), BodyType::kJson);
  EXPECT_EQ(body_type_of("application/json; charset=utf-8"), BodyType::kJson);
  EXPECT_EQ(body_type_of("application/apply-patch+yaml"), BodyType::kApplyPatch);
  EXPECT_EQ(body_type_of("Application/Strategic-Merge-Patch+JSON"), BodyType::kStrategicPatch);
  EXPECT_EQ(body_type_of("application/vnd.kubernetes.protobuf"), BodyType::kProtobuf);
  EXPECT_EQ(body_type_of("application/cbor"), BodyType::kUnknown);
}

}  // namespace
}  // namespace trainyard::server
