#include "node/network_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fmt/format.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>

#include <array>
#include <thread>

namespace trainyard::node {
namespace {

// Builds one request: a header, a body, attributes that may hold attributes.
class Message {
 public:
  template <typename Body>
  Message(uint16_t type, uint16_t flags, const Body& body) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    put(&header, sizeof header);
    put(&body, sizeof body);
  }

  void add(uint16_t type, const void* data, size_t size) {
    rtattr head{static_cast<uint16_t>(RTA_LENGTH(size)), type};
    put(&head, sizeof head);
    put(data, size);
  }
  void add(uint16_t type, std::string_view text) {
    std::string ended(text);
    add(type, ended.c_str(), ended.size() + 1);
  }
  template <typename Number>
  void add_number(uint16_t type, Number n) {
    add(type, &n, sizeof n);
  }

  size_t open(uint16_t type) {
    size_t at = bytes_.size();
    rtattr head{0, type};
    put(&head, sizeof head);
    return at;
  }
  template <typename Body>
  void body(const Body& body) {
    put(&body, sizeof body);
  }
  void close(size_t at) {
    rtattr head;
    memcpy(&head, bytes_.data() + at, sizeof head);
    head.rta_len = static_cast<uint16_t>(bytes_.size() - at);
    memcpy(bytes_.data() + at, &head, sizeof head);
  }

  std::vector<char>& bytes() { return bytes_; }

 private:
  void put(const void* data, size_t size) {
    const char* from = static_cast<const char*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
    bytes_.resize(NLMSG_ALIGN(bytes_.size()));
  }

  std::vector<char> bytes_;
};

ErrorKind kind_of(int number) {
  if (number == ENODEV || number == ENOENT) return ErrorKind::kNotFound;
  if (number == EEXIST) return ErrorKind::kAlreadyExists;
  if (number == EPERM || number == EACCES) return ErrorKind::kForbidden;
  return ErrorKind::kUnavailable;
}

Error failed(std::string_view doing, int number) {
  return {kind_of(number), fmt::format("network: {}: {}", doing, ::strerror(number))};
}

// Having it already is as good as having made it.
Result<Done> or_there(Result<Done> result) {
  if (!result.ok() && result.error().kind == ErrorKind::kAlreadyExists) return Done{};
  return result;
}

}  // namespace

Result<LinkSocket> LinkSocket::open() {
  Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!fd.valid()) return failed("no socket", errno);
  return LinkSocket(std::move(fd));
}

Result<Done> LinkSocket::ask(std::vector<char>& message, std::string_view doing) {
  nlmsghdr header;
  memcpy(&header, message.data(), sizeof header);
  header.nlmsg_len = static_cast<uint32_t>(message.size());
  header.nlmsg_seq = ++sequence_;
  memcpy(message.data(), &header, sizeof header);
  if (::send(fd_.get(), message.data(), message.size(), 0) < 0) return failed(doing, errno);
  std::array<char, 8192> answer;
  while (true) {
    ssize_t n = ::recv(fd_.get(), answer.data(), answer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(doing, errno);
    nlmsghdr got;
    if (static_cast<size_t>(n) < sizeof got) continue;
    memcpy(&got, answer.data(), sizeof got);
    if (got.nlmsg_seq != sequence_ || got.nlmsg_type != NLMSG_ERROR) continue;
    nlmsgerr verdict;
    memcpy(&verdict, answer.data() + NLMSG_HDRLEN, sizeof verdict);
    if (verdict.error == 0) return Done{};
    return failed(doing, -verdict.error);
  }
}

Result<int> LinkSocket::index_of(const std::string& name) {
  ifinfomsg body{};
  body.ifi_family = AF_UNSPEC;
  Message message(RTM_GETLINK, 0, body);
  message.add(IFLA_IFNAME, name);
  // The answer comes before the acknowledgement, so it is read here and not in ask().
  nlmsghdr header;
  memcpy(&header, message.bytes().data(), sizeof header);
  header.nlmsg_flags = NLM_F_REQUEST;
  header.nlmsg_len = static_cast<uint32_t>(message.bytes().size());
  header.nlmsg_seq = ++sequence_;
  memcpy(message.bytes().data(), &header, sizeof header);
  if (::send(fd_.get(), message.bytes().data(), message.bytes().size(), 0) < 0) return failed(name, errno);
  std::array<char, 32768> answer;
  while (true) {
    ssize_t n = ::recv(fd_.get(), answer.data(), answer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(name, errno);
    nlmsghdr got;
    memcpy(&got, answer.data(), sizeof got);
    if (got.nlmsg_seq != sequence_) continue;
    if (got.nlmsg_type == NLMSG_ERROR) {
      nlmsgerr verdict;
      memcpy(&verdict, answer.data() + NLMSG_HDRLEN, sizeof verdict);
      return failed(name, -verdict.error);
    }
    ifinfomsg found;
    memcpy(&found, answer.data() + NLMSG_HDRLEN, sizeof found);
    return found.ifi_index;
  }
}

Result<Done> LinkSocket::add_bridge(const std::string& name, uint64_t seed) {
  ifinfomsg body{};
  body.ifi_flags = IFF_UP;
  body.ifi_change = IFF_UP;
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, body);
  message.add(IFLA_IFNAME, name);
  // Its own address, or the kernel takes that of whichever pod came first and changes it when the pod goes.
  std::array<uint8_t, 6> mac{0x02, 0x54};
  for (size_t i = 2; i < mac.size(); ++i) mac[i] = static_cast<uint8_t>(seed >> (8 * i));
  message.add(IFLA_ADDRESS, mac.data(), mac.size());
  size_t info = message.open(IFLA_LINKINFO);
  message.add(IFLA_INFO_KIND, "bridge");
  message.close(info);
  return or_there(ask(message.bytes(), fmt::format("bridge {}", name)));
}

Result<Done> LinkSocket::add_pair(const std::string& name, int bridge, const std::string& peer, int peer_ns) {
  ifinfomsg body{};
  body.ifi_flags = IFF_UP;
  body.ifi_change = IFF_UP;
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, body);
  message.add(IFLA_IFNAME, name);
  message.add_number(IFLA_MASTER, static_cast<uint32_t>(bridge));
  size_t info = message.open(IFLA_LINKINFO);
  message.add(IFLA_INFO_KIND, "veth");
  size_t data = message.open(IFLA_INFO_DATA);
  size_t other = message.open(VETH_INFO_PEER);
  message.body(ifinfomsg{});
  message.add(IFLA_IFNAME, peer);
  message.add_number(IFLA_NET_NS_FD, static_cast<uint32_t>(peer_ns));
  message.close(other);
  message.close(data);
  message.close(info);
  return ask(message.bytes(), fmt::format("devices {} and {}", name, peer));
}

Result<Done> LinkSocket::add_address(int device, uint32_t address, int bits) {
  ifaddrmsg body{};
  body.ifa_family = AF_INET;
  body.ifa_prefixlen = static_cast<uint8_t>(bits);
  body.ifa_index = static_cast<uint32_t>(device);
  Message message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, body);
  uint32_t local = htonl(address);
  uint32_t broadcast = htonl(address | ((uint64_t{1} << (32 - bits)) - 1));
  message.add_number(IFA_LOCAL, local);
  message.add_number(IFA_ADDRESS, local);
  message.add_number(IFA_BROADCAST, broadcast);
  return or_there(ask(message.bytes(), "address"));
}

Result<Done> LinkSocket::set_up(int device) {
  ifinfomsg body{};
  body.ifi_index = device;
  body.ifi_flags = IFF_UP;
  body.ifi_change = IFF_UP;
  Message message(RTM_NEWLINK, 0, body);
  return ask(message.bytes(), "device up");
}

Result<Done> LinkSocket::add_default_route(uint32_t gateway) {
  rtmsg body{};
  body.rtm_family = AF_INET;
  body.rtm_table = RT_TABLE_MAIN;
  body.rtm_protocol = RTPROT_STATIC;
  body.rtm_scope = RT_SCOPE_UNIVERSE;
  body.rtm_type = RTN_UNICAST;
  Message message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, body);
  message.add_number(RTA_GATEWAY, htonl(gateway));
  return or_there(ask(message.bytes(), "default route"));
}

Result<Done> LinkSocket::remove(const std::string& name) {
  ifinfomsg body{};
  Message message(RTM_DELLINK, 0, body);
  message.add(IFLA_IFNAME, name);
  Result<Done> result = ask(message.bytes(), fmt::format("remove {}", name));
  if (!result.ok() && result.error().kind == ErrorKind::kNotFound) return Done{};
  return result;
}

Result<Done> in_network(int ns, const std::function<Result<Done>()>& work) {
  if (ns < 0) return work();
  Result<Done> result = Done{};
  std::thread visitor([&] {
    if (::setns(ns, CLONE_NEWNET) != 0) {
      result = failed("entering the pod's network", errno);
      return;
    }
    result = work();
  });
  visitor.join();
  return result;
}

}  // namespace trainyard::node
