/* How a haptic device is added to cotouch without building cotouch: the C interface of a plug-in.
 *
 * A plug-in is a shared library (NAME.so) with one exported function, cotouch_device_plugin. It returns a table of
 * functions. docs/devices.md says how to make one, where cotouch looks for it, and what is done to a bad one;
 * examples/circle_device.c is the smallest, plugins/simulated/ a complete one. Only this header is needed: C11 or C++.
 *
 * Units are SI: metres, newtons, seconds, radians. Axes as the person who sits in front of the device sees them: x to
 * the right, y away from them, z up. The origin is the middle of the device's work space.
 *
 * How structs grow. Each begins with its size. cotouch hands over every struct with `size` set to what cotouch knows of
 * it, in COTOUCH_DEVICE_ROOM bytes of memory of which all others are zero. So a plug-in simply fills in what it knows:
 * what it does not know stays zero, and what cotouch does not know is not read. What cotouch tells it and is too old to
 * know is zero as well. Members are only ever added, at the end, and zero always means "as before". The table is the
 * plug-in's own: there `size` is sizeof(CotouchDevicePlugin) as the plug-in knows it, and functions beyond it are
 * absent. COTOUCH_DEVICE_ABI changes only if that is not enough; plug-ins of another number are refused.
 *
 * Rules for all functions:
 *  - No exception and no longjmp leaves them.
 *  - Text is UTF-8 that ends with a zero byte within its array.
 *  - Everything that they say is checked: numbers must be finite and within the bounds given here. A plug-in that says
 *    something else when it is opened is refused; one that reads something else is not trusted, and its force fades.
 */
#ifndef COTOUCH_DEVICE_PLUGIN_ABI_H
#define COTOUCH_DEVICE_PLUGIN_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COTOUCH_DEVICE_ABI 1u
#define COTOUCH_DEVICE_ROOM 1024u /* bytes; no struct ever becomes larger */

/* Whether a device can be opened. */
enum {
  COTOUCH_DEVICE_CONNECTED = 0,
  COTOUCH_DEVICE_ABSENT = 1, /* known, but switched off or unplugged */
  COTOUCH_DEVICE_IN_USE = 2, /* by another program */
  COTOUCH_DEVICE_BROKEN = 3  /* anything else; the sentence says what */
};

/* One device that the plug-in can open. */
typedef struct CotouchDeviceInfo {
  uint32_t size;
  uint32_t state;     /* COTOUCH_DEVICE_CONNECTED and so on */
  char name[64];      /* what people type, such as "omega7": letters, digits, '-', '_' and '.' */
  char serial[64];    /* tells two of the same name apart; may be empty */
  char sentence[256]; /* for people: what it is, or why it cannot be opened; may be empty */
} CotouchDeviceInfo;

/* What is to be opened. Valid during the call. */
typedef struct CotouchDeviceOpening {
  uint32_t size;
  uint32_t reserved;
  const char* name;     /* as list() gave it */
  const char* serial;   /* as list() gave it */
  const char* settings; /* what the user wrote behind the name, "key=value key=value"; may be empty */
} CotouchDeviceOpening;

/* Why it was not opened. */
typedef struct CotouchDeviceAnswer {
  uint32_t size;
  uint32_t state;     /* COTOUCH_DEVICE_IN_USE and so on */
  char sentence[256]; /* for people: what happened and what they can do */
} CotouchDeviceAnswer;

/* The device has no motors: of what follows nothing is read but the name and the reach. */
#define COTOUCH_DEVICE_WITHOUT_MOTORS 1u

/* What an open device is and can bear. These are ceilings: what it is given can only be less. */
typedef struct CotouchDeviceDescription {
  uint32_t size;
  uint32_t flags;           /* COTOUCH_DEVICE_WITHOUT_MOTORS or 0 */
  char name[64];            /* for people, such as "Force Dimension omega.7"; empty: as list() gave it */
  double peak_force;        /* N while the motors are cool, above 0, up to 1000 */
  double continuous_force;  /* N for ever, up to the peak */
  double peak_torque;       /* N m, up to 100; 0 if it cannot turn the hand */
  double continuous_torque; /* N m, up to the peak */
  double heating_seconds;   /* time constant of warming up, up to 100,000; 0: more than continuous is never given */
  double stiffness;         /* N/m, above 0, up to 1,000,000: the stiffest spring it renders passively at 1 kHz */
  double angular_stiffness; /* N m/rad, up to 100,000; above 0 if it has torque */
  double delay;             /* s from a sample to the force for it, up to 0.1 */
  double speed;             /* m/s, above 0, up to 100: no hand moves the handle faster, so such a reading is wrong */
  double turn_speed;        /* rad/s, up to 1000; above 0 if it has torque */
  double reach;             /* m from the middle that the handle moves in every direction, up to 10; 0: 0.1. Scenes are
                             * fitted to it */
} CotouchDeviceDescription;

/* Whether the device can push. */
enum {
  COTOUCH_MOTORS_ON = 0,
  COTOUCH_MOTORS_RESTARTED = 1, /* on, but they were off since the reading before: the force fades in anew */
  COTOUCH_MOTORS_OFF = 2        /* a switch, a dead-man's handle or the driver took the force away */
};

/* `clock` says something: it counts what the driver has sampled, or is its time. If it stands still, so does the
 * driver, though readings still come. */
#define COTOUCH_READING_HAS_CLOCK 1u

typedef struct CotouchDeviceReading {
  uint32_t size;
  uint32_t flags; /* COTOUCH_READING_HAS_CLOCK or 0 */
  uint64_t clock;
  double position[3]; /* of the handle, m */
  double rotation[4]; /* of the handle from its rest: a unit quaternion w, x, y, z */
  uint32_t buttons;   /* the lowest bit is the first, which takes hold; the second is the clutch */
  uint32_t motors;    /* COTOUCH_MOTORS_ON and so on */
} CotouchDeviceReading;

typedef struct CotouchDeviceWrench {
  uint32_t size;
  uint32_t reserved;
  double force[3];  /* on the hand, N */
  double torque[3]; /* on the hand, about the handle's position, N m */
} CotouchDeviceWrench;

/* How another process takes the force away after this one has died: it writes these bytes there. */
typedef struct CotouchDeviceSilence {
  uint32_t size;
  uint32_t bytes; /* how many of the message; from 1 */
  char path[256]; /* a device node, a named pipe, or the socket (datagrams) of a driver's service; absolute */
  uint8_t message[256];
} CotouchDeviceSilence;

typedef struct CotouchDevicePlugin {
  uint32_t size;       /* sizeof(CotouchDevicePlugin) */
  uint32_t abi;        /* COTOUCH_DEVICE_ABI */
  const char* name;    /* of the plug-in, as a device's name is */
  const char* version; /* of the plug-in, for people */

  /* The plug-in's device number `index`, counted from 0. Returns 1, or 0 if there are no more (up to 32 are asked for).
   * Opens nothing and moves nothing. */
  int32_t (*list)(uint32_t index, CotouchDeviceInfo* info);

  /* Opens a device without any force and returns it, or NULL and why not. Several may be open at the same time; one of
   * them at most for each real device. Must come back within 3 seconds, and must not move the handle: cotouch opens and
   * closes devices also to see whether they work, in a process of its own. */
  void* (*open)(const CotouchDeviceOpening* opening, CotouchDeviceAnswer* answer);
  /* No other function of this device is under way, and none comes after it. Leaves the device without force. */
  void (*close)(void* device);

  /* Called once, after open. Returns 1, or 0 if the device does not answer. */
  int32_t (*describe)(void* device, CotouchDeviceDescription* description);

  /* From the touch thread, 1000 times a second: allocate nothing, lock nothing, wait for nothing. Returns 1, or 0 while
   * the device is lost; it is asked again, and may come back. */
  int32_t (*read)(void* device, CotouchDeviceReading* reading);
  /* Calls come one at a time, as a rule from the touch thread, and as read() they must not wait. If that thread stands
   * still somewhere else, a zero comes from another one, which may still be inside when read() is called again. To
   * return is to promise that the wrench is on its way. */
  void (*write)(void* device, const CotouchDeviceWrench* wrench);

  /* Cuts the motors' power. From any thread, at any time, also while read(), write() or enable() hang in others: must
   * not wait for anything, nor for a lock that those hold. From then on no write() has an effect, not even one under
   * way, until enable(). */
  void (*disable)(void* device);
  /* Gives the power back, with no force, whatever was written before. Nothing else of the device is under way then.
   * From any thread; must come back within half a second, or the power is cut again. Returns 1, or 0 if it cannot. */
  int32_t (*enable)(void* device);

  /* NULL, or returning 0: the device goes to zero by itself within 50 ms when nobody writes to it any more, or has no
   * motors. Build such a heartbeat in if device or firmware can have one: nothing else helps if the whole machine
   * stops. Otherwise fills in what has to be written where, and returns 1. Called once, after describe. */
  int32_t (*silence)(void* device, CotouchDeviceSilence* silence);
} CotouchDevicePlugin;

/* What a plug-in exports. `abi` is the COTOUCH_DEVICE_ABI of the program that asks. Returns NULL if the plug-in does
 * not work with it. The table and its texts stay where they are for as long as the process lives: plug-ins are not
 * unloaded. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const CotouchDevicePlugin*
cotouch_device_plugin(uint32_t abi);

#ifdef __cplusplus
}
#endif
#endif
