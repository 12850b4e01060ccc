#include "node/network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "base/hash.h"
#include "node/files.h"
#include "node/sandbox_tool.h"

namespace trainyard::node {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPodDevice = "eth0";
constexpr const char* kBridgeFilter = "/proc/sys/net/bridge/bridge-nf-call-iptables";
constexpr const char* kForward = "/proc/sys/net/ipv4/ip_forward";

std::string kernel_text(const char* file) {
  Result<std::string> text = read_whole(file);
  return text.ok() ? *text : "";
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  struct if_nameindex* all = ::if_nameindex();
  for (struct if_nameindex* one = all; one != nullptr && one->if_index != 0; ++one)
    names.emplace_back(one->if_name);
  ::if_freenameindex(all);
  return names;
}

}  // namespace

Network::Network(NetworkOptions options, Fd home, LinkSocket links)
    : options_(std::move(options)), home_(std::move(home)), links_(std::move(links)) {}

Result<std::unique_ptr<Network>> Network::open(NetworkOptions options) {
  Fd home;
  if (!options.home.empty()) {
    home = Fd(::open(options.home.c_str(), O_RDONLY | O_CLOEXEC));
    if (!home.valid()) return error_of(errno, "open", options.home.string());
  }
  std::optional<LinkSocket> links;
  Result<Done> opened = in_network(home.get(), [&]() -> Result<Done> {
    Result<LinkSocket> socket = LinkSocket::open();
    if (!socket.ok()) return socket.error();
    links = std::move(socket).value();
    return Done{};
  });
  if (!opened.ok()) return opened.error();
  std::unique_ptr<Network> network(new Network(std::move(options), std::move(home), std::move(*links)));
  Result<Done> begun = network->begin();
  if (!begun.ok()) return begun.error();
  return network;
}

Result<Done> Network::begin() {
  Result<Done> made = make_folders(options_.folder / "addresses");
  if (!made.ok()) return made;
  if (Result<Done> loaded = load(); !loaded.ok()) return loaded;
  return in_network(home_.get(), [this]() -> Result<Done> {
    if (Result<Done> chosen = choose_subnet(); !chosen.ok()) return chosen;
    if (Result<Done> bridged = make_bridge(); !bridged.ok()) return bridged;
    remove_leftovers();
    return apply_filter();
  });
}

Result<Done> Network::load() {
  std::error_code failure;
  for (fs::directory_iterator it(options_.folder / "addresses", failure), end; !failure && it != end;
       it.increment(failure)) {
    std::optional<uint32_t> address = parse_address(it->path().filename().string());
    Result<std::string> uid = read_whole(it->path());
    if (!address || !uid.ok() || uid->empty()) {
      ::unlink(it->path().c_str());
      continue;
    }
    addresses_[*uid] = *address;
    last_ = std::max(last_, *address);
  }
  if (failure) return error_of(failure.value(), "read", options_.folder.string());
  return Done{};
}

// The range of an earlier life is kept as long as it is free or in use by pods of ours.
Result<Done> Network::choose_subnet() {
  fs::path file = options_.folder / "subnet";
  std::string routes = kernel_text("/proc/thread-self/net/route");
  Result<std::string> kept = read_whole(file);
  std::optional<Subnet> subnet = kept.ok() ? parse_subnet(*kept) : std::nullopt;
  if (subnet && (!addresses_.empty() || is_free(*subnet, routes, bridge()))) {
    subnet_ = *subnet;
    return Done{};
  }
  subnet = pick_subnet(fnv1a(options_.plane), routes, bridge());
  if (!subnet) return Error{ErrorKind::kUnavailable, "network: no free range in 10.0.0.0/8 on this machine"};
  // A bridge of an earlier choice would keep its old address.
  if (Result<Done> removed = links_.remove(bridge()); !removed.ok()) return removed;
  subnet_ = *subnet;
  return write_soon(file, subnet_text(subnet_), 0644);
}

Result<Done> Network::make_bridge() {
  if (Result<Done> made = links_.add_bridge(bridge(), fnv1a(options_.plane)); !made.ok()) return made;
  Result<int> index = links_.index_of(bridge());
  if (!index.ok()) return index.error();
  bridge_index_ = *index;
  Result<Done> addressed = links_.add_address(bridge_index_, subnet_.gateway(), subnet_.bits);
  if (!addressed.ok()) return addressed;
  return links_.set_up(bridge_index_);
}

void Network::remove_leftovers() {
  std::set<std::string> ours;
  for (const auto& [uid, address] : addresses_) ours.insert(pair_name(options_.plane, subnet_, address));
  for (const std::string& name : device_names()) {
    if (!name.starts_with(pair_prefix(options_.plane)) || ours.contains(name)) continue;
    // One that stays is tried again by the next life; nobody is served by failing here.
    if (!links_.remove(name).ok()) continue;
  }
}

std::vector<std::vector<std::string>> Network::filter_rules() const {
  std::vector<std::vector<std::string>> rules;
  std::string range = subnet_text(subnet_);
  std::string tag = fmt::format("trainyard {}", options_.plane);
  auto add = [&](std::vector<std::string> rule) {
    rule.insert(rule.end(), {"-m", "comment", "--comment", tag, "-j"});
    rules.push_back(std::move(rule));
  };
  if (kernel_text(kBridgeFilter).starts_with('1')) {
    add({"filter", "FORWARD", "-i", bridge(), "-o", bridge()});
    rules.back().push_back("ACCEPT");
  }
  if (!options_.masquerade) return rules;
  add({"filter", "FORWARD", "-i", bridge(), "!", "-o", bridge()});
  rules.back().push_back("ACCEPT");
  add({"filter", "FORWARD", "-o", bridge(), "-m", "conntrack", "--ctstate", "RELATED,ESTABLISHED"});
  rules.back().push_back("ACCEPT");
  add({"nat", "POSTROUTING", "-s", range, "!", "-o", bridge()});
  rules.back().push_back("MASQUERADE");
  return rules;
}

Result<Done> Network::apply_filter() {
  std::vector<std::vector<std::string>> rules = filter_rules();
  if (rules.empty()) return Done{};
  std::optional<fs::path> tool = find_tool("iptables");
  // Without it nobody has told the filter to stop what passes a bridge either.
  if (!tool && !options_.masquerade) return Done{};
  if (!tool) {
    return Error{ErrorKind::kUnavailable,
                 "network: the way to the outside needs iptables, which is not installed"};
  }
  for (const std::vector<std::string>& rule : rules) {
    auto command = [&](const char* verb) {
      std::vector<std::string> argv = {tool->string(), "-w", "-t", rule[0], verb, rule[1]};
      argv.insert(argv.end(), rule.begin() + 2, rule.end());
      return argv;
    };
    if (run_tool(command("-C")).ok()) continue;
    ToolEnd end = run_tool(command("-I"));
    if (!end.ok())
      return Error{ErrorKind::kUnavailable, fmt::format("network: iptables: {}", last_words(end))};
  }
  if (options_.masquerade) {
    std::ofstream forward(kForward);
    forward << "1\n" << std::flush;
    if (!forward) return Error{ErrorKind::kForbidden, fmt::format("network: {} cannot be written", kForward)};
  }
  return Done{};
}

void Network::drop_filter() {
  std::optional<fs::path> tool = find_tool("iptables");
  for (const std::vector<std::string>& rule : filter_rules()) {
    if (!tool) return;
    std::vector<std::string> argv = {tool->string(), "-w", "-t", rule[0], "-D", rule[1]};
    argv.insert(argv.end(), rule.begin() + 2, rule.end());
    run_tool(argv);
  }
}

fs::path Network::address_file(uint32_t address) const {
  return options_.folder / "addresses" / address_text(address);
}

std::vector<std::string> Network::pods() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> uids;
  for (const auto& [uid, address] : addresses_) uids.push_back(uid);
  return uids;
}

std::optional<std::string> Network::address_of(const std::string& pod_uid) const {
  std::lock_guard lock(mutex_);
  auto found = addresses_.find(pod_uid);
  if (found == addresses_.end()) return std::nullopt;
  return address_text(found->second);
}

Result<Network::Reserved> Network::reserve(const std::string& pod_uid) {
  std::lock_guard lock(mutex_);
  if (auto found = addresses_.find(pod_uid); found != addresses_.end()) return Reserved{found->second, false};
  std::set<uint32_t> taken;
  for (const auto& [uid, address] : addresses_) taken.insert(address);
  std::optional<uint32_t> address = pick_address(subnet_, taken, last_);
  if (!address) {
    return Error{ErrorKind::kUnavailable,
                 fmt::format("network: all addresses of {} are taken", subnet_text(subnet_))};
  }
  Result<Done> written = write_soon(address_file(*address), pod_uid, 0644);
  if (!written.ok()) return written.error();
  addresses_[pod_uid] = *address;
  last_ = *address;
  return Reserved{*address, true};
}

// The other end of a pair of that name may be in a namespace that is no more.
Result<Done> Network::add_pair(uint32_t address, int pod_ns) {
  std::lock_guard lock(mutex_);
  std::string name = pair_name(options_.plane, subnet_, address);
  if (links_.add_pair(name, bridge_index_, kPodDevice, pod_ns).ok()) return Done{};
  if (Result<Done> removed = links_.remove(name); !removed.ok()) return removed;
  return links_.add_pair(name, bridge_index_, kPodDevice, pod_ns);
}

// Inside the pod: its device gets the address, the gateway is the bridge.
Result<Done> Network::wire(uint32_t address, int pod_ns) {
  return in_network(pod_ns, [&]() -> Result<Done> {
    Result<LinkSocket> links = LinkSocket::open();
    if (!links.ok()) return links.error();
    Result<int> device = links.value().index_of(kPodDevice);
    if (!device.ok()) return device.error();
    if (Result<Done> up = links.value().set_up(1); !up.ok()) return up;
    if (Result<Done> up = links.value().set_up(*device); !up.ok()) return up;
    Result<Done> addressed = links.value().add_address(*device, address, subnet_.bits);
    if (!addressed.ok()) return addressed;
    return links.value().add_default_route(subnet_.gateway());
  });
}

Result<std::string> Network::attach(const std::string& pod_uid, const fs::path& network_ns) {
  Result<Reserved> reserved = reserve(pod_uid);
  if (!reserved.ok()) return reserved.error();
  Fd ns(::open(network_ns.c_str(), O_RDONLY | O_CLOEXEC));
  if (!ns.valid()) return error_of(errno, "open", network_ns.string());
  // An earlier try, or an earlier life, may have made the pair.
  bool is_wired = !reserved->is_new && wire(reserved->address, ns.get()).ok();
  if (!is_wired) {
    if (Result<Done> added = add_pair(reserved->address, ns.get()); !added.ok()) return added.error();
    if (Result<Done> wired = wire(reserved->address, ns.get()); !wired.ok()) return wired.error();
  }
  return address_text(reserved->address);
}

Result<Done> Network::detach(const std::string& pod_uid) {
  std::lock_guard lock(mutex_);
  auto found = addresses_.find(pod_uid);
  if (found == addresses_.end()) return Done{};
  Result<Done> removed = links_.remove(pair_name(options_.plane, subnet_, found->second));
  if (!removed.ok()) return removed;
  fs::path file = address_file(found->second);
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) return error_of(errno, "remove", file.string());
  addresses_.erase(found);
  return Done{};
}

Result<Done> Network::close() {
  CHECK(addresses_.empty());
  return in_network(home_.get(), [this]() -> Result<Done> {
    drop_filter();
    return links_.remove(bridge());
  });
}

}  // namespace trainyard::node
