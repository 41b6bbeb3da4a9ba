#include <cotouch/net/udp_relay.h>

#include <cotouch/base/error.h>
#include <cotouch/net/datagram_queue.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace cotouch {
namespace {

using boost::asio::ip::udp;
using Clock = std::chrono::steady_clock;

constexpr int k_reads_at_once = 256;  // from one socket, before others and the timer have their turn
constexpr double k_tidy_seconds = 1;

udp::endpoint to_endpoint(const NetAddress& address) {
  if (!address.is_v6()) {
    boost::asio::ip::address_v4::bytes_type bytes;
    std::copy(address.bytes().begin(), address.bytes().end(), bytes.begin());
    return {boost::asio::ip::address_v4(bytes), address.port()};
  }
  boost::asio::ip::address_v6::bytes_type bytes;
  std::copy(address.bytes().begin(), address.bytes().end(), bytes.begin());
  return {boost::asio::ip::address_v6(bytes), address.port()};
}

NetAddress to_net_address(const udp::endpoint& endpoint) {
  if (endpoint.address().is_v4()) return NetAddress::v4(endpoint.address().to_v4().to_bytes(), endpoint.port());
  return NetAddress::v6(endpoint.address().to_v6().to_bytes(), endpoint.port());
}

void enlarge_buffers(udp::socket& socket) {
  boost::system::error_code ignored;  // less than asked for still works
  socket.set_option(boost::asio::socket_base::receive_buffer_size(4 << 20), ignored);
  socket.set_option(boost::asio::socket_base::send_buffer_size(4 << 20), ignored);
}

// A client, known by the number under which its datagrams are queued.
struct Client {
  Client(boost::asio::io_context& context, const udp::endpoint& from, const NetworkProfile& profile, Random seeds)
      : address(from), socket(context), there(profile.there, seeds.bits()), back(profile.back, seeds.bits()) {}

  udp::endpoint address;
  udp::socket socket;  // towards the target
  Link there, back;
  double heard = 0;  // when it last sent something
};

enum Direction : std::uint32_t { k_there, k_back };

}  // namespace

struct UdpRelay::Impl {
  explicit Impl(const UdpRelaySettings& wanted) : settings(wanted) {}

  void open();
  double now() const { return std::chrono::duration<double>(Clock::now() - beginning).count(); }
  void listen_for_clients();
  void listen_for_answers(std::uint32_t number);
  void on_client_datagrams();
  void on_answers(std::uint32_t number);
  Client* find_client(const udp::endpoint& from, double time, std::uint32_t& number);
  Client* open_client(const udp::endpoint& from, std::uint32_t& number);
  void carry(Link& link, double time, std::uint32_t number, Direction direction, std::span<const std::byte> bytes);
  void deliver_due();
  void set_timer();
  void tidy();

  const UdpRelaySettings settings;
  boost::asio::io_context context{1};
  udp::socket socket{context};  // towards the clients
  boost::asio::steady_timer timer{context}, tidy_timer{context};
  std::thread thread;
  Clock::time_point beginning = Clock::now();

  // All below is of the relay's thread and, with this lock, of others.
  mutable std::mutex mutex;
  NetworkProfile profile;
  std::map<std::uint32_t, Client> clients;
  std::map<udp::endpoint, std::uint32_t> numbers;
  DatagramQueue queue;
  double timer_at = -1;  // for when it is set; negative: it is not
  UdpRelayStatistics totals;
  double late_sum = 0;
  std::uint64_t delivered = 0;
  std::array<std::byte, 65536> buffer;
};

void UdpRelay::Impl::open() {
  check(settings.profile.there);
  check(settings.profile.back);
  profile = settings.profile;
  const udp::endpoint endpoint = to_endpoint(settings.listen);
  boost::system::error_code error, ignored;
  socket.open(endpoint.protocol(), error);
  if (!error && settings.listen.is_v6()) socket.set_option(boost::asio::ip::v6_only(false), ignored);
  if (!error) socket.bind(endpoint, error);
  if (!error) socket.non_blocking(true, error);
  if (error)
    throw Error("Cannot listen on " + settings.listen.text() + ": " + error.message() +
                    ". Choose another port, or an address of this machine.",
                ErrorCode::io);
  enlarge_buffers(socket);
}

void UdpRelay::Impl::listen_for_clients() {
  socket.async_wait(udp::socket::wait_read, [this](boost::system::error_code error) {
    if (error) return;
    on_client_datagrams();
    listen_for_clients();
  });
}

void UdpRelay::Impl::listen_for_answers(std::uint32_t number) {
  const auto found = clients.find(number);
  if (found == clients.end()) return;
  found->second.socket.async_wait(udp::socket::wait_read, [this, number](boost::system::error_code error) {
    if (error) return;
    on_answers(number);
    const std::lock_guard lock(mutex);
    listen_for_answers(number);
  });
}

void UdpRelay::Impl::on_client_datagrams() {
  const std::lock_guard lock(mutex);
  for (int i = 0; i < k_reads_at_once; ++i) {
    udp::endpoint from;
    boost::system::error_code error;
    const std::size_t size = socket.receive_from(boost::asio::buffer(buffer), from, 0, error);
    if (error == boost::asio::error::would_block) break;
    if (error) continue;  // what the network reports about clients that are gone
    const double time = now();
    std::uint32_t number = 0;
    if (Client* client = find_client(from, time, number))
      carry(client->there, time, number, k_there, std::span(buffer).first(size));
  }
  deliver_due();
}

void UdpRelay::Impl::on_answers(std::uint32_t number) {
  const std::lock_guard lock(mutex);
  const auto found = clients.find(number);
  if (found == clients.end()) return;
  for (int i = 0; i < k_reads_at_once; ++i) {
    boost::system::error_code error;
    const std::size_t size = found->second.socket.receive(boost::asio::buffer(buffer), 0, error);
    if (error == boost::asio::error::would_block) break;
    if (error) continue;  // nobody listens at the target yet
    carry(found->second.back, now(), number, k_back, std::span(buffer).first(size));
  }
  deliver_due();
}

Client* UdpRelay::Impl::find_client(const udp::endpoint& from, double time, std::uint32_t& number) {
  Client* client = nullptr;
  if (const auto known = numbers.find(from); known != numbers.end()) {
    number = known->second;
    client = &clients.at(number);
  } else if (clients.size() < settings.most_clients) {
    client = open_client(from, number);
  }
  if (client != nullptr)
    client->heard = time;
  else
    ++totals.refused;
  return client;
}

Client* UdpRelay::Impl::open_client(const udp::endpoint& from, std::uint32_t& number) {
  number = static_cast<std::uint32_t>(totals.clients_ever);
  // Another mix for each, so that neighbouring seeds and clients share nothing.
  const Random seeds(Random(settings.seed).bits() ^ Random(number).bits());
  const auto made = clients.try_emplace(number, context, from, profile, seeds).first;
  Client& client = made->second;
  boost::system::error_code error;
  const udp::endpoint target = to_endpoint(settings.target);
  client.socket.open(target.protocol(), error);
  // Connected: only the target's answers come in.
  if (!error) client.socket.connect(target, error);
  if (!error) client.socket.non_blocking(true, error);
  if (error) {  // out of file handles, or no way to the target at the moment
    clients.erase(made);
    return nullptr;
  }
  enlarge_buffers(client.socket);
  numbers.emplace(from, number);
  ++totals.clients_ever;
  listen_for_answers(number);
  return &client;
}

void UdpRelay::Impl::carry(Link& link, double time, std::uint32_t number, Direction direction,
                           std::span<const std::byte> bytes) {
  for (const Link::Arrival& arrival : link.send(time, bytes.size() + k_udp_header_bytes)) {
    if (queue.bytes() + bytes.size() > settings.most_bytes_under_way) {
      ++totals.overflow;
      continue;
    }
    const std::span<std::byte> copy = queue.push(arrival.at, number, direction, bytes);
    if (arrival.corrupt) flip_bits(copy, arrival.corrupt_bits);
  }
}

void UdpRelay::Impl::deliver_due() {
  DatagramQueue::Datagram datagram;
  for (double time = now(); queue.pop(time, datagram); time = now()) {
    const auto found = clients.find(datagram.from);
    if (found == clients.end()) continue;  // forgotten meanwhile
    boost::system::error_code ignored;     // a full buffer or a report of the network: lost, as on any network
    const auto bytes = boost::asio::buffer(datagram.bytes.data(), datagram.bytes.size());
    if (datagram.to == k_there)
      found->second.socket.send(bytes, 0, ignored);
    else
      socket.send_to(bytes, found->second.address, 0, ignored);
    const double late = std::max(0.0, time - datagram.at);
    late_sum += late;
    totals.late_most = std::max(totals.late_most, late);
    ++delivered;
  }
  set_timer();
}

// A timer is set anew only if something is due before it rings.
void UdpRelay::Impl::set_timer() {
  const double next = queue.next_time();
  if (queue.size() == 0 || (timer_at >= 0 && timer_at <= next)) return;
  timer_at = next;
  timer.expires_at(beginning + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(next)));
  timer.async_wait([this](boost::system::error_code error) {
    if (error) return;  // set anew, or stopped
    const std::lock_guard lock(mutex);
    timer_at = -1;
    deliver_due();
  });
}

void UdpRelay::Impl::tidy() {
  tidy_timer.expires_after(std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::min(k_tidy_seconds, settings.idle_seconds))));
  tidy_timer.async_wait([this](boost::system::error_code error) {
    if (error) return;
    {
      const std::lock_guard lock(mutex);
      const double time = now();
      for (auto it = clients.begin(); it != clients.end();) {
        if (time - it->second.heard <= settings.idle_seconds) {
          ++it;
          continue;
        }
        totals.there += it->second.there.statistics();
        totals.back += it->second.back.statistics();
        numbers.erase(it->second.address);
        it = clients.erase(it);
      }
    }
    tidy();
  });
}

UdpRelay::UdpRelay(const UdpRelaySettings& settings) : impl_(std::make_unique<Impl>(settings)) {
  impl_->open();
}

UdpRelay::~UdpRelay() {
  stop();
}

NetAddress UdpRelay::address() const {
  boost::system::error_code ignored;
  return to_net_address(impl_->socket.local_endpoint(ignored));
}

void UdpRelay::start() {
  if (impl_->thread.joinable()) return;
  impl_->beginning = Clock::now();
  impl_->listen_for_clients();
  impl_->tidy();
  impl_->thread = std::thread([impl = impl_.get()] { impl->context.run(); });
}

void UdpRelay::stop() {
  impl_->context.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

void UdpRelay::change(const NetworkProfile& profile) {
  check(profile.there);
  check(profile.back);
  const std::lock_guard lock(impl_->mutex);
  impl_->profile = profile;
  for (auto& [number, client] : impl_->clients) {
    client.there.change(profile.there);
    client.back.change(profile.back);
  }
}

UdpRelayStatistics UdpRelay::statistics() const {
  const std::lock_guard lock(impl_->mutex);
  UdpRelayStatistics out = impl_->totals;
  out.seconds = impl_->now();
  out.clients = impl_->clients.size();
  for (const auto& [number, client] : impl_->clients) {
    out.there += client.there.statistics();
    out.back += client.back.statistics();
  }
  out.under_way = impl_->queue.size();
  if (impl_->delivered > 0) out.late_mean = impl_->late_sum / static_cast<double>(impl_->delivered);
  return out;
}

}  // namespace cotouch
