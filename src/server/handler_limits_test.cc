// How much a handler takes and keeps.
#include "server/handler_testing.h"

namespace trainyard::server {
namespace {

TEST_F(HandlerTest, PatchesDoNotMakeAnObjectGrowForEver) {
  ASSERT_EQ(call("POST", path(""), config_text("a")).status, 201);
  const std::string merge = "application/merge-patch+json";
  auto grow = [&](int i) {
    std::string patch = fmt::format(R"({{"data":{{"k{}":"{}"}}}})", i, std::string(1 << 20, 'x'));
    return call("PATCH", path("/a"), patch, merge);
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(grow(i).status, 200) << i;
  HttpResponse refused = grow(3);
  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(text(refused, {"reason"}), "RequestEntityTooLarge");
  EXPECT_EQ(call("PATCH", path("/a"), R"({"data":{"k0":null}})", merge).status, 200);
  EXPECT_EQ(grow(3).status, 200);
}

TEST_F(HandlerTest, LargeAnswersTakeRoomUntilTheyAreSent) {
  HandlerOptions options = options_of_test();
  options.unsent_bytes_max = 300'000;
  handler_ = std::make_unique<Handler>(std::move(options), *hub_, registry_, &pods_);
  call("POST", path(""), config_text("a", std::string(200'000, 'x')));
  Outcome unsent = ask("GET", path("/a"));
  EXPECT_EQ(std::get<HttpResponse>(unsent).status, 200);
  HttpResponse refused = call("GET", path(""));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers, (std::vector<Header>{{"Retry-After", "1"}}));
  // A write is not to be sent again for want of room for its answer.
  HttpResponse written = call("PATCH", path("/a"), R"({"data":{"b":"c"}})", "application/merge-patch+json");
  EXPECT_EQ(written.status, 504);
  EXPECT_TRUE(written.headers.empty());
  EXPECT_EQ(call("GET", "/version").status, 200);
  unsent = HttpResponse{};
  EXPECT_EQ(text(call("GET", path("/a")), {"data", "b"}), "c");
}

TEST_F(HandlerTest, LargeBodiesComeFromThoseWeKnowAndAreSoMany) {
  HandlerOptions options = options_of_test();
  options.bodies_bytes_max = 100;
  handler_ = std::make_unique<Handler>(std::move(options), *hub_, registry_, &pods_);
  HttpRequest head{.method = "POST", .target = path(""), .headers = {{"Host", "localhost"}}};
  EXPECT_EQ(std::get<Status>(handler_->admit_body(head, 1)).code, 401);
  head.headers.push_back({"Authorization", "Bearer token"});
  auto first = handler_->admit_body(head, 60);
  EXPECT_NE(std::get<Room::Share>(first), nullptr);
  EXPECT_EQ(std::get<Status>(handler_->admit_body(head, 60)).code, 429);
  first = Status{};
  EXPECT_NE(std::get<Room::Share>(handler_->admit_body(head, 60)), nullptr);
  head.headers[0].value = "evil.example";
  EXPECT_EQ(std::get<Status>(handler_->admit_body(head, 1)).code, 403);
}

}  // namespace
}  // namespace trainyard::server
