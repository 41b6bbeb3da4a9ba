// A library that needs another, which is nowhere.
extern "C" int cotouch_nothing();
extern "C" int cotouch_lacks();
int cotouch_lacks() {
  return cotouch_nothing();
}
