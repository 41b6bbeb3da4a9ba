/* The smallest plug-in for a device: a handle that goes round in a circle, whatever it feels.
 *
 *   cc -shared -fPIC -I PREFIX/include circle_device.c -o circle_device.so -lm
 *   COTOUCH_DEVICES=$PWD cotouch devices --try circle --seconds 5
 *
 * PREFIX/include is where cotouch/device/plugin_abi.h is: of an installation, or the folder of the sources.
 *
 * For a device of yours, replace what is in open, read, write, disable and enable by calls of its driver. */
#include <cotouch/device/plugin_abi.h>

#include <math.h>
#include <string.h>

/* One handle. Its motors are imagined: the force is only remembered. */
static struct {
  int is_open, has_power;
  uint64_t samples;
  double force[3];
} circle;

static int32_t list_circle(uint32_t index, CotouchDeviceInfo* info) {
  if (index > 0) return 0;
  strcpy(info->name, "circle");
  strcpy(info->sentence, "Goes round in a circle once in two seconds.");
  info->state = COTOUCH_DEVICE_CONNECTED;
  return 1;
}

static void* open_circle(const CotouchDeviceOpening* opening, CotouchDeviceAnswer* answer) {
  (void)opening;
  if (circle.is_open) {
    answer->state = COTOUCH_DEVICE_IN_USE;
    return NULL;
  }
  memset(&circle, 0, sizeof circle);
  circle.is_open = circle.has_power = 1;
  return &circle;
}

static void close_circle(void* device) {
  (void)device;
  circle.is_open = 0;
}

static int32_t describe_circle(void* device, CotouchDeviceDescription* d) {
  (void)device;
  strcpy(d->name, "circling handle");
  d->peak_force = 5;
  d->continuous_force = 2;
  d->heating_seconds = 30;
  d->stiffness = 1000;
  d->delay = 0.0005;
  d->speed = 3;
  d->reach = 0.06;
  return 1;
}

static int32_t read_circle(void* device, CotouchDeviceReading* reading) {
  const double angle = 3.14159265358979 * 1e-3 * (double)circle.samples++;
  (void)device;
  reading->position[0] = 0.03 * cos(angle);
  reading->position[2] = 0.02 + 0.03 * sin(angle);
  reading->rotation[0] = 1;
  reading->clock = circle.samples;
  reading->flags = COTOUCH_READING_HAS_CLOCK;
  return 1;
}

static void write_circle(void* device, const CotouchDeviceWrench* wrench) {
  (void)device;
  if (circle.has_power) memcpy(circle.force, wrench->force, sizeof circle.force);
}

static void disable_circle(void* device) {
  (void)device;
  circle.has_power = 0;
}

static int32_t enable_circle(void* device) {
  (void)device;
  memset(circle.force, 0, sizeof circle.force);
  circle.has_power = 1;
  return 1;
}

const CotouchDevicePlugin* cotouch_device_plugin(uint32_t abi) {
  static const CotouchDevicePlugin plugin = {
      sizeof plugin, COTOUCH_DEVICE_ABI, "circle",     "1",           list_circle,    open_circle,   close_circle,
      describe_circle, read_circle,      write_circle, disable_circle, enable_circle, NULL};
  return abi == COTOUCH_DEVICE_ABI ? &plugin : NULL;
}
