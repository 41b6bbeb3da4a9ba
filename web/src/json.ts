// JSON from outside, read member by member: whatever is missing or misshapen becomes a harmless value.
export type Json = Record<string, unknown>;

const kNeutralColor = '#a9b1b9'; // of a part or person whose colour makes no sense

export function parseObject(text: string): Json | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const object = (value: unknown): Json => (isObject(value) ? value : {});
export const array = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const string = (value: unknown, otherwise = ''): string => (typeof value === 'string' && value ? value : otherwise);
export const number = (value: unknown, otherwise = 0): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
export const oneOf = <T extends string>(value: unknown, allowed: readonly T[], otherwise: T): T =>
  allowed.find((entry) => entry === value) ?? otherwise;

export function vector(value: unknown, otherwise: number[]): number[] {
  const list = array(value);
  const fits = list.length === otherwise.length && list.every((entry) => Number.isFinite(entry));
  return fits ? (list as number[]) : otherwise;
}

export function colorOf(value: unknown): string {
  const color = string(value);
  return /^#[0-9a-f]{6}$/i.test(color) ? color : kNeutralColor;
}
