// Small helpers for building the page without a framework.
export function byId<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no element "${id}".`);
  return element as T;
}

type Content = Node | string;

// element('button', { className: 'small' }, 'Play'): text is set as text, never as markup, because names of files, scenes and
// reasons come from outside.
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...content: Content[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  Object.assign(made, properties);
  made.append(...content);
  return made;
}

export function button(text: string, label: string, click: () => void): HTMLButtonElement {
  const made = element('button', { type: 'button', title: label }, text);
  made.setAttribute('aria-label', label);
  made.addEventListener('click', click);
  return made;
}

// A figure that changes by itself. A browser reads an <output> aloud whenever it changes; ten times a second would be too much.
export function liveFigure(properties: Partial<HTMLOutputElement> = {}, ...content: Content[]): HTMLOutputElement {
  const made = element('output', properties, ...content);
  made.setAttribute('aria-live', 'off');
  return made;
}

const ownTitles = new WeakMap<HTMLElement, string>();

// A control that cannot be used for now, and why, which it says instead of what it does; '' = it can be used again.
export function hold(control: HTMLButtonElement | HTMLInputElement | HTMLSelectElement, reason: string): void {
  if (!ownTitles.has(control)) ownTitles.set(control, control.title);
  control.title = reason || ownTitles.get(control)!;
  control.disabled = reason !== '';
}

// What a user prefers, kept between visits where the browser allows it.
export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(`cotouch.${key}`);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`cotouch.${key}`, value);
  } catch {
    // Private windows may forbid it; then the choice lasts as long as the page.
  }
}

// The clipboard is there only for pages from this machine or over https; others have the older way. False if neither works.
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = element('textarea', { value: text });
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
  }
}
