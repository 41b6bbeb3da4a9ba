// A button that deletes something for good, and asks once before it does.
import { button, element } from '../dom';

export function removal(name: string, remove: () => void): HTMLElement {
  const group = element('span', { className: 'removal' });
  const ask = button('Delete', `Delete ${name}`, () => {
    group.replaceChildren(sure, keep);
    keep.focus();
  });
  const sure = button('Delete?', `Delete ${name} for good`, () => {
    group.replaceChildren(ask); // whether it goes away is for the server to say
    remove();
  });
  sure.classList.add('danger');
  const keep = button('Keep', `Keep ${name}`, () => {
    group.replaceChildren(ask);
    ask.focus();
  });
  group.append(ask);
  return group;
}
