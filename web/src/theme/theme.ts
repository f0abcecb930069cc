/** Which theme is worn: one for the app, another for a workspace if the person wants; kept in this browser. */
import { cell } from '../shell/cell';
import { COLOUR_NAMES, THEMES, type Theme } from './themes';

export type Brightness = 'system' | 'light' | 'dark';
export interface Worn {
  theme: string;
  brightness: Brightness;
  workspaces: Record<string, string>;
  /** The workspace outside of any session, kept so that the page has its colours before the server is asked. */
  home: string;
}

/** What is worn, and whether that is dark now. */
export interface Look {
  worn: Worn;
  dark: boolean;
}

const KEY = 'weft.theme';
const PLAIN: Worn = { theme: 'Weft', brightness: 'system', workspaces: {}, home: '' };
/** The workspace of the session that is shown. */
let entered: string | null = null;
let worn: Worn = read();
export const look = cell<Look>({ worn, dark: false });

function read(): Worn {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? 'null');
    return kept && typeof kept === 'object' ? { ...PLAIN, ...kept } : PLAIN;
  } catch {
    return PLAIN;
  }
}

const wantsDark = () => window.matchMedia('(prefers-color-scheme: dark)').matches;
const isDark = () => (worn.brightness === 'system' ? wantsDark() : worn.brightness === 'dark');

export function themeNamed(name: string): Theme {
  return THEMES.find((theme) => theme.name === name) ?? THEMES[0]!;
}

/** Paints, and tells whoever draws with colours of its own. */
function paint() {
  const theme = themeNamed(worn.workspaces[entered ?? worn.home] ?? worn.theme);
  const dark = isDark();
  const root = document.documentElement;
  (dark ? theme.dark : theme.light).forEach((colour, index) => root.style.setProperty(`--${COLOUR_NAMES[index]}`, colour));
  root.style.colorScheme = dark ? 'dark' : 'light';
  root.dataset['brightness'] = dark ? 'dark' : 'light';
  look.set({ worn, dark });
}

export const wardrobe = {
  wear(change: Partial<Worn>) {
    worn = { ...worn, ...change };
    localStorage.setItem(KEY, JSON.stringify(worn));
    paint();
  },
  /** A session of this workspace is shown; nothing: none is. */
  enter(path: string | null) {
    if (path === entered) return;
    entered = path;
    paint();
  },
  live(home: string) {
    if (home !== worn.home) this.wear({ home });
  },
  start() {
    paint();
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
    window.addEventListener('storage', (event) => {
      if (event.key !== KEY) return;
      worn = read();
      paint();
    });
  },
};
