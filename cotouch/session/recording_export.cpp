#include <cotouch/session/recording_store.h>
#include <cotouch/session/running_world.h>

#include <algorithm>
#include <charconv>

namespace cotouch {
namespace {

constexpr std::size_t k_summary_points = 600;

void put_number(std::string& out, double value) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void put_numbers(std::string& out, std::initializer_list<double> values) {
  for (const double value : values) {
    out += ',';
    put_number(out, value);
  }
}

void put_pose(std::string& out, const Pose& pose) {
  put_numbers(out, {pose.position.x, pose.position.y, pose.position.z, pose.rotation.w, pose.rotation.x,
                    pose.rotation.y, pose.rotation.z});
}

void put_pose_names(std::string& out, const std::string& what) {
  for (const char* part : {"_x_m", "_y_m", "_z_m", "_qw", "_qx", "_qy", "_qz"}) out += "," + what + part;
}

std::vector<std::uint32_t> hands_that_were_there(const Recording& recording) {
  std::vector<std::uint32_t> hands;
  for (std::uint32_t i = 0; i < recording.hands; ++i)
    if (std::any_of(recording.samples.begin(), recording.samples.end(),
                    [i](const RecordedSample& sample) { return sample.hand(i).input.present; }))
      hands.push_back(i);
  return hands;
}

}  // namespace

std::string to_csv(const Recording& recording, const std::shared_ptr<const WorldModel>& model) {
  const std::vector<std::uint32_t> hands = hands_that_were_there(recording);
  std::vector<std::uint32_t> bodies;
  for (std::uint32_t i = 0; i < model->bodies().size(); ++i)
    if (model->bodies()[i].motion != Motion::fixed) bodies.push_back(i);
  std::vector<std::uint32_t> elastic;
  for (std::uint32_t i = 0; i < model->bodies().size(); ++i)
    if (model->elastic(i) != nullptr) elastic.push_back(i);
  std::string out = "time_s,in_contact,deepest_m,visited_nodes,cycle_us";
  for (const std::uint32_t i : hands) {
    const std::string hand = "hand" + std::to_string(i + 1);
    put_pose_names(out, hand);
    for (const char* part : {"_body", "_force_x_n", "_force_y_n", "_force_z_n", "_torque_x_nm", "_torque_y_nm",
                             "_torque_z_nm", "_buttons", "_motors"})
      out += "," + hand + part;
  }
  for (const std::uint32_t i : bodies) put_pose_names(out, "body" + std::to_string(model->bodies()[i].id));
  for (const std::uint32_t i : elastic)
    for (std::uint32_t j = 1; j <= model->elastic(i)->size(); ++j)
      out += ",body" + std::to_string(model->bodies()[i].id) + "_q" + std::to_string(j);
  out += '\n';
  Replay replay(recording, model);
  for (const RecordedSample& s : recording.samples) {
    if (!replay.next()) break;
    const RecordedSample& again = replay.sample();  // which knows the contacts of a shared session as well
    put_number(out, s.time);
    put_numbers(out, {static_cast<double>(again.in_contact), static_cast<double>(again.deepest),
                      static_cast<double>(recording.limited ? s.visited : again.visited),
                      static_cast<double>(s.cycle_ns) * 1e-3});
    for (const std::uint32_t i : hands) {
      const HandSample& hand = s.hand(i);
      const double body = replay.state().hands()[i].body;
      put_pose(out, hand.input.pose);
      put_numbers(out, {body < 0 ? 0.0 : static_cast<double>(model->bodies()[static_cast<std::size_t>(body)].id),
                        hand.felt.force.x, hand.felt.force.y, hand.felt.force.z, hand.felt.torque.x, hand.felt.torque.y,
                        hand.felt.torque.z, static_cast<double>(hand.input.buttons), static_cast<double>(hand.motors)});
    }
    for (const std::uint32_t i : bodies) put_pose(out, replay.state().bodies()[i].pose);
    for (const std::uint32_t i : elastic)
      for (std::uint32_t j = 0; j < model->elastic(i)->size(); ++j)
        put_numbers(out, {replay.state().bending()[model->elastic_begin(i) + j]});
    out += '\n';
  }
  return out;
}

RecordingSummary summarise(const Recording& recording, const std::shared_ptr<const ShownScene>& scene) {
  RecordingSummary summary;
  summary.scene = parse_recorded_scene(recording.scene).name;
  summary.peak_force = peak_force(recording);
  std::unique_ptr<Sight> sight;
  std::unique_ptr<Replay> replay;
  if (scene) {
    const auto model = recorded_model(recording, scene->scene);
    sight = std::make_unique<Sight>(scene, model);
    replay = std::make_unique<Replay>(recording, model);
  }
  const std::vector<std::uint32_t> hands = hands_that_were_there(recording);
  const std::size_t stride = recording.samples.size() / k_summary_points + 1;
  for (std::size_t i = 0; i < recording.samples.size(); i += stride) {
    // The strongest moment of each stretch, so that a short peak is not lost.
    double force = 0, torque = 0;
    for (std::size_t j = i; j < std::min(i + stride, recording.samples.size()); ++j) {
      if (replay) replay->next();
      for (const std::uint32_t hand : hands) {
        force = std::max(force, norm(recording.samples[j].hand(hand).felt.force));
        torque = std::max(torque, norm(recording.samples[j].hand(hand).felt.torque));
      }
    }
    const RecordedSample& sample = recording.samples[i];
    summary.time.push_back(sample.time);
    summary.force.push_back(force);
    summary.torque.push_back(torque);
    if (!hands.empty()) summary.path.push_back(sample.hand(hands.front()).input.pose.position);
    if (sight) summary.clearance.push_back(static_cast<double>(sight->clearance(replay->state())));
  }
  return summary;
}

}  // namespace cotouch
