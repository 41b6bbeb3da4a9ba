// Light or dark: as the system says, unless the user has chosen.
import { remember, remembered } from './dom';

export type Theme = 'light' | 'dark';

export class ThemeSwitch {
  private chosen: Theme | null;
  private readonly system = window.matchMedia('(prefers-color-scheme: dark)');

  constructor(private readonly changed: () => void) {
    const stored = remembered('theme');
    this.chosen = stored === 'light' || stored === 'dark' ? stored : null;
    this.system.addEventListener('change', () => this.apply());
  }

  get current(): Theme {
    return this.chosen ?? (this.system.matches ? 'dark' : 'light');
  }

  toggle(): void {
    this.chosen = this.current === 'dark' ? 'light' : 'dark';
    remember('theme', this.chosen);
    this.apply();
  }

  apply(): void {
    document.documentElement.dataset.theme = this.current;
    this.changed();
  }
}

export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
