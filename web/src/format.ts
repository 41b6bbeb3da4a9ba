// Numbers as people read them: three digits, a unit that fits, a true minus sign.
export function digits(value: number, count = 3): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const decimals = Math.max(0, Math.min(6, count - 1 - Math.floor(Math.log10(Math.abs(value)))));
  return value.toFixed(decimals).replace('-', '−');
}

export function length(metres: number): string {
  const size = Math.abs(metres);
  if (!Number.isFinite(metres)) return '–';
  if (size < 1e-7) return '0 mm';
  if (size < 1e-4) return `${digits(metres * 1e6)} µm`;
  if (size < 1) return `${digits(metres * 1e3)} mm`;
  return `${digits(metres)} m`;
}

// Forces below a hundredth of a newton are nobody's concern: 0.00, not 4.31e-9.
export function force(newtons: number): string {
  return `${newtons.toFixed(2)} N`;
}

export function torque(newtonMetres: number): string {
  return `${(1000 * newtonMetres).toFixed(1)} mN m`;
}

// Young's modulus, pascals.
export function stiffness(young: number): string {
  const [unit, divisor] = young >= 1e9 ? ['GPa', 1e9] : young >= 1e6 ? ['MPa', 1e6] : ['kPa', 1e3];
  return `${Number((young / divisor).toPrecision(3))} ${unit}`;
}

export function clock(seconds: number): string {
  const tenths = Math.round(10 * seconds); // first, so that nothing is rounded up to sixty seconds
  const minutes = Math.floor(tenths / 600);
  return `${minutes}:${(tenths / 10 - 60 * minutes).toFixed(1).padStart(4, '0')}`;
}

// When a recording with this id was made ("2026-01-31-101500"), as the reader's language writes it; '' for other ids.
export function moment(id: string): string {
  const found = /^(\d{4})-(\d\d)-(\d\d)-(\d\d)(\d\d)(\d\d)/.exec(id);
  if (!found) return '';
  const [year, month, day, hour, minute, second] = found.slice(1).map(Number) as [number, number, number, number, number, number];
  const date = new Date(year, month - 1, day, hour, minute, second);
  return date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

export function count(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

export function bytes(value: number): string {
  if (value < 1e3) return `${value} B`;
  if (value < 1e6) return `${digits(value / 1e3)} kB`;
  return `${digits(value / 1e6)} MB`;
}

// A moment, seconds since 1970, as a clock on the wall shows it.
export function time(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' });
}
