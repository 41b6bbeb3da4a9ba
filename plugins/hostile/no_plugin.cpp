// A library that is no plug-in: it has not the function that one exports.
extern "C" int cotouch_nothing();
int cotouch_nothing() {
  return 0;
}
