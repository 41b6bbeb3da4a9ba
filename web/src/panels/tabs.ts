// Tabs as the WAI-ARIA pattern describes them: one in the tab order, arrows move between them.
export function makeTabs(list: HTMLElement): void {
  const tabs = [...list.querySelectorAll<HTMLElement>('[role=tab]')];
  const select = (index: number, focus: boolean) => {
    tabs.forEach((tab, i) => {
      const chosen = i === index;
      tab.setAttribute('aria-selected', String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      const panel = document.getElementById(tab.getAttribute('aria-controls') ?? '');
      if (panel) panel.hidden = !chosen;
      if (chosen && focus) tab.focus();
    });
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener('click', () => select(i, false));
    tab.addEventListener('keydown', (event) => {
      const way = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      if (way === 0) return;
      event.preventDefault();
      event.stopPropagation();
      const shown = tabs.filter((other) => !other.hidden);
      const next = shown[(shown.indexOf(tab) + way + shown.length) % shown.length];
      if (next) select(tabs.indexOf(next), true);
    });
  });
}
