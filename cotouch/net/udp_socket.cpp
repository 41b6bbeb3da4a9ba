#include <cotouch/net/udp_socket.h>

#include <cotouch/base/error.h>
#include <cotouch/net/resolve.h>
#include <cotouch/net/socket_address.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <cerrno>
#include <ctime>
#include <string>

namespace cotouch {

using boost::asio::ip::udp;

struct UdpSocket::Impl {
  boost::asio::io_context context;
  udp::socket socket{context};
  bool v6 = false, loopback = false;
  std::uint16_t port = 0;
  int waker = -1;

  // One for each datagram of a batch.
  std::array<std::array<std::byte, k_longest>, k_batch> buffers;
  std::array<sockaddr_storage, k_batch> senders;
  std::array<iovec, k_batch> pieces;
  std::array<mmsghdr, k_batch> messages;
  std::array<Received, k_batch> received;

  std::atomic<std::uint64_t> received_count{0}, received_bytes{0}, sent_count{0}, sent_bytes{0}, too_long{0},
      not_sent{0};

  ~Impl() {
    if (waker >= 0) ::close(waker);
  }

  void open(const UdpSettings& settings);
  // False, and closed again, if it cannot be opened for this family.
  bool open_family(const udp& family, const udp::endpoint& endpoint, boost::system::error_code& error);
  void set_buffer(int privileged, int usual, std::size_t bytes);
  std::size_t take() noexcept;
};

void UdpSocket::Impl::open(const UdpSettings& settings) {
  boost::system::error_code error;
  loopback = settings.loopback;
  if (loopback) {
    open_family(udp::v4(), {boost::asio::ip::address_v4::loopback(), settings.port}, error);
  } else {
    v6 = open_family(udp::v6(), {udp::v6(), settings.port}, error);
    // Without IPv6, or without the option to speak both with one socket.
    if (!v6 && error != boost::asio::error::address_in_use && error != boost::asio::error::access_denied)
      open_family(udp::v4(), {udp::v4(), settings.port}, error);
  }
  if (!socket.is_open())
    throw Error("UDP port " + std::to_string(settings.port) + " cannot be used: " + error.message() +
                    ". Another program may have it; choose another port.",
                ErrorCode::io);
  set_buffer(SO_RCVBUFFORCE, SO_RCVBUF, settings.receive_buffer_bytes);
  set_buffer(SO_SNDBUFFORCE, SO_SNDBUF, settings.send_buffer_bytes);
  port = socket.local_endpoint(error).port();
  waker = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (error || waker < 0) throw Error("A UDP socket could not be set up: out of file handles.", ErrorCode::io);
  for (std::size_t i = 0; i < k_batch; ++i) {
    pieces[i] = {buffers[i].data(), buffers[i].size()};
    messages[i] = {};
    messages[i].msg_hdr.msg_name = &senders[i];
    messages[i].msg_hdr.msg_iov = &pieces[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
}

bool UdpSocket::Impl::open_family(const udp& family, const udp::endpoint& endpoint, boost::system::error_code& error) {
  socket.open(family, error);
  if (!error && family == udp::v6()) socket.set_option(boost::asio::ip::v6_only(false), error);
  if (!error) socket.bind(endpoint, error);
  if (!error) return true;
  boost::system::error_code ignored;
  if (socket.is_open()) socket.close(ignored);
  return false;
}

// Beyond the system's limit only for those who may; less than asked for still works.
void UdpSocket::Impl::set_buffer(int privileged, int usual, std::size_t bytes) {
  const int size = static_cast<int>(std::min<std::size_t>(bytes, 1U << 30));
  if (::setsockopt(socket.native_handle(), SOL_SOCKET, privileged, &size, sizeof size) != 0)
    ::setsockopt(socket.native_handle(), SOL_SOCKET, usual, &size, sizeof size);
}

// The number of good datagrams in `received`; 0 also if all that came were too long.
std::size_t UdpSocket::Impl::take() noexcept {
  for (mmsghdr& message : messages) message.msg_hdr.msg_namelen = sizeof(sockaddr_storage);
  const int count = ::recvmmsg(socket.native_handle(), messages.data(), k_batch, MSG_DONTWAIT, nullptr);
  std::size_t good = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; static_cast<int>(i) < count; ++i) {
    if ((messages[i].msg_hdr.msg_flags & MSG_TRUNC) != 0) {
      too_long.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    received[good++] = {to_net_address(senders[i]), std::span(buffers[i]).first(messages[i].msg_len)};
    bytes += messages[i].msg_len;
  }
  received_count.fetch_add(good, std::memory_order_relaxed);
  received_bytes.fetch_add(bytes, std::memory_order_relaxed);
  return good;
}

UdpSocket::UdpSocket(const UdpSettings& settings) : impl_(std::make_unique<Impl>()) {
  impl_->open(settings);
}

UdpSocket::~UdpSocket() = default;

std::uint16_t UdpSocket::port() const {
  return impl_->port;
}

bool UdpSocket::speaks_v6() const {
  return impl_->v6;
}

std::size_t UdpSocket::receive_buffer_bytes() const {
  boost::asio::socket_base::receive_buffer_size size;
  boost::system::error_code ignored;
  impl_->socket.get_option(size, ignored);
  return static_cast<std::size_t>(std::max(0, size.value()));
}

std::vector<NetAddress> UdpSocket::addresses() const {
  if (impl_->loopback) return {NetAddress::v4({127, 0, 0, 1}, impl_->port)};
  std::vector<NetAddress> all = local_addresses(impl_->port);
  if (!impl_->v6) std::erase_if(all, [](const NetAddress& address) { return address.is_v6(); });
  return all;
}

std::span<const UdpSocket::Received> UdpSocket::receive(std::chrono::nanoseconds timeout) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    if (const std::size_t count = impl_->take(); count > 0) return std::span(impl_->received).first(count);
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left.count() <= 0) return {};
    std::array<pollfd, 2> handles{pollfd{impl_->socket.native_handle(), POLLIN, 0}, pollfd{impl_->waker, POLLIN, 0}};
    const std::int64_t nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
    const timespec wait{static_cast<std::time_t>(nanoseconds / 1'000'000'000), nanoseconds % 1'000'000'000};
    ::ppoll(handles.data(), handles.size(), &wait, nullptr);
    if ((handles[1].revents & POLLIN) != 0) {
      std::uint64_t wakes = 0;
      [[maybe_unused]] const auto size = ::read(impl_->waker, &wakes, sizeof wakes);
      return std::span(impl_->received).first(impl_->take());
    }
  }
}

void UdpSocket::wake() noexcept {
  constexpr std::uint64_t k_one = 1;
  [[maybe_unused]] const auto size = ::write(impl_->waker, &k_one, sizeof k_one);
}

bool UdpSocket::send(const NetAddress& to, std::span<const std::byte> bytes) noexcept {
  const SocketAddress address = to_socket_address(to, impl_->v6);
  // An IPv4 socket cannot reach an IPv6 address: the system refuses.
  const auto sent = ::sendto(impl_->socket.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                             address.get(), address.size);
  if (sent < 0) {
    impl_->not_sent.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  impl_->sent_count.fetch_add(1, std::memory_order_relaxed);
  impl_->sent_bytes.fetch_add(bytes.size(), std::memory_order_relaxed);
  return true;
}

UdpStatistics UdpSocket::statistics() const noexcept {
  UdpStatistics out;
  out.received = impl_->received_count.load(std::memory_order_relaxed);
  out.received_bytes = impl_->received_bytes.load(std::memory_order_relaxed);
  out.sent = impl_->sent_count.load(std::memory_order_relaxed);
  out.sent_bytes = impl_->sent_bytes.load(std::memory_order_relaxed);
  out.too_long = impl_->too_long.load(std::memory_order_relaxed);
  out.not_sent = impl_->not_sent.load(std::memory_order_relaxed);
  return out;
}

}  // namespace cotouch
