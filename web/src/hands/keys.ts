// Whose key it is: the page's, or that of the control that has the focus, an open dialog, the browser.
const kSliderKeys = /^(Arrow(Left|Right|Up|Down)|Home|End|Page(Up|Down))$/;
const kPressKeys = /^(Space|Enter)$/;
const kRadioKeys = /^(Arrow(Left|Right|Up|Down)|Space)$/;

// True where a key pressed now may move the part or act on the whole page.
export function isForPage(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  return !isDialogOpen() && !isTakenBy(event.target, event.code);
}

function isDialogOpen(): boolean {
  return document.querySelector('dialog[open]') !== null;
}

// A field takes every key, other controls only those that they answer to: who has moved a slider or ticked a box goes on with W A S D.
export function isTakenBy(target: EventTarget | null, code: string): boolean {
  const { tagName, type } = (target ?? {}) as Partial<HTMLInputElement>;
  switch (tagName) {
    case 'SELECT':
    case 'TEXTAREA':
      return true;
    case 'BUTTON':
      return kPressKeys.test(code);
    case 'INPUT':
      if (type === 'range') return kSliderKeys.test(code);
      if (type === 'radio') return kRadioKeys.test(code);
      return type === 'checkbox' ? kPressKeys.test(code) : true;
    default:
      return false;
  }
}
