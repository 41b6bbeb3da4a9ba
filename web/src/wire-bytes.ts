// Vectors and poses to bytes and back, for the layout in wire-layout.ts: little-endian, single precision.
export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number]; // w x y z

export interface Pose {
  position: Vec3;
  rotation: Quat;
}

export function readVec3(view: DataView, at: number): Vec3 {
  return [view.getFloat32(at, true), view.getFloat32(at + 4, true), view.getFloat32(at + 8, true)];
}

export function writeVec3(view: DataView, at: number, value: Vec3): void {
  value.forEach((entry, i) => view.setFloat32(at + 4 * i, entry, true));
}

export function readPose(view: DataView, at: number): Pose {
  const [w, x, y] = readVec3(view, at + 12);
  return { position: readVec3(view, at), rotation: [w, x, y, view.getFloat32(at + 24, true)] };
}

export function writePose(view: DataView, at: number, pose: Pose): void {
  writeVec3(view, at, pose.position);
  pose.rotation.forEach((entry, i) => view.setFloat32(at + 12 + 4 * i, entry, true));
}

export function writeChars(view: DataView, at: number, text: string): void {
  for (let i = 0; i < text.length; ++i) view.setUint8(at + i, text.charCodeAt(i));
}
