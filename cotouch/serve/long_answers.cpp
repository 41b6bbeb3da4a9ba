#include <cotouch/serve/long_answers.h>

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace cotouch {
namespace {

constexpr int k_niceness = 10;  // what people wait for comes first
constexpr std::uint64_t k_links_worth = 4;

}  // namespace

LongAnswers::~LongAnswers() {
  stop();
}

void LongAnswers::start() {
  thread_ = std::thread([this] { run(); });
}

void LongAnswers::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void LongAnswers::add(const std::string& link, std::weak_ptr<const void> asker, std::function<void()> work) {
  {
    const std::scoped_lock lock(mutex_);
    std::deque<Waiting>& waiting = waiting_[link];
    std::erase_if(waiting, [](const Waiting& one) { return one.asker.expired(); });
    waiting.push_back({std::move(asker), std::move(work)});
  }
  wake_.notify_one();
}

void LongAnswers::run() {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), k_niceness);
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      auto next = waiting_.upper_bound(last_);
      if (next == waiting_.end()) next = waiting_.begin();
      last_ = next->first;
      work = std::move(next->second.front().work);
      next->second.pop_front();
      if (next->second.empty()) waiting_.erase(next);
    }
    work();
  }
}

struct UnsentAnswers::Share {
  Share(std::shared_ptr<Counts> counts_, std::string link_, std::shared_ptr<const std::string> body_)
      : counts(std::move(counts_)), link(std::move(link_)), body(std::move(body_)) {
    const std::scoped_lock lock(counts->mutex);
    counts->bytes[link] += body->size();
    counts->all += body->size();
  }
  ~Share() {
    const std::scoped_lock lock(counts->mutex);
    counts->all -= body->size();
    if ((counts->bytes[link] -= body->size()) == 0) counts->bytes.erase(link);
  }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  std::shared_ptr<Counts> counts;
  std::string link;
  std::shared_ptr<const std::string> body;
};

bool UnsentAnswers::has_room_for(const Visitor& visitor) const {
  const std::scoped_lock lock(counts_->mutex);
  const auto found = counts_->bytes.find(visitor.link);
  if (found != counts_->bytes.end() && found->second >= most_) return false;
  return visitor.rights == Rights::own || counts_->all < k_links_worth * most_;
}

std::shared_ptr<const std::string> UnsentAnswers::counted(const Visitor& visitor,
                                                          std::shared_ptr<const std::string> body) {
  if (!body) return body;
  const auto share = std::make_shared<const Share>(counts_, visitor.link, std::move(body));
  return {share, share->body.get()};
}

}  // namespace cotouch
