// The whole API without a socket, for the tests of what is below one.
#pragma once

#include <future>

#include "server/handler.h"
#include "server/testing.h"

namespace trainyard::server {

class HandlerTest : public testing::Test {
 protected:
  HandlerTest() {
    hub::Options options;
    options.clock = [] { return kTestNow; };
    hub_ = hub::Hub::open(std::move(options)).value();
    handler_ = std::make_unique<Handler>(options_of_test(), *hub_, registry_, &pods_);
  }
  static HandlerOptions options_of_test() {
    HandlerOptions options;
    options.token = "token";
    options.names = {"localhost"};
    options.clock = [] { return kTestNow; };
    return options;
  }

  Outcome ask(std::string method, std::string target, std::string body = "", std::vector<Header> headers = {},
              bool websocket = false) {
    headers.push_back({"Host", "localhost"});
    headers.push_back({"Authorization", "Bearer token"});
    auto answered = std::make_shared<std::promise<Outcome>>();
    std::future<Outcome> answer = answered->get_future();
    handler_->handle({.method = std::move(method),
                      .target = std::move(target),
                      .headers = std::move(headers),
                      .body = std::move(body),
                      .websocket = websocket},
                     [answered](Outcome outcome) { answered->set_value(std::move(outcome)); });
    EXPECT_EQ(answer.wait_for(std::chrono::seconds(kPatienceSeconds)), std::future_status::ready);
    return answer.get();
  }
  HttpResponse call(std::string method, const std::string& target, std::string body = "",
                    const std::string& type = "", const std::string& accept = "") {
    std::vector<Header> headers;
    if (!type.empty()) headers.push_back({"Content-Type", type});
    if (!accept.empty()) headers.push_back({"Accept", accept});
    Outcome outcome = ask(std::move(method), target, std::move(body), std::move(headers));
    if (auto* response = std::get_if<HttpResponse>(&outcome)) return *response;
    ADD_FAILURE() << target << " is no plain answer";
    return {};
  }
  static json::object object_of(const HttpResponse& response) {
    Result<json::value> value = kube::parse_json(response.body);
    EXPECT_TRUE(value.ok()) << response.body;
    return value.ok() && value->is_object() ? value->get_object() : json::object{};
  }
  static std::string text(const HttpResponse& response, std::initializer_list<std::string_view> path) {
    return std::string(kube::text_at(object_of(response), path));
  }
  static std::string path(std::string_view rest) { return std::string(kConfigMapsPath) + std::string(rest); }

  std::unique_ptr<hub::Hub> hub_;
  Registry registry_;
  FakePods pods_;
  std::unique_ptr<Handler> handler_;
};

}  // namespace trainyard::server
