import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COLOUR_NAMES, THEMES, type Colours } from '../src/theme/themes';

type Triple = [number, number, number];
const linear = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const rgb = (hex: string): Triple => [1, 3, 5].map((at) => linear(parseInt(hex.slice(at, at + 2), 16) / 255)) as Triple;

function oklab([r, g, b]: Triple): Triple {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}
function fromOklab([L, a, b]: Triple): Triple {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const clip = (c: number) => Math.min(1, Math.max(0, c));
  return [clip(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s), clip(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s), clip(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s)];
}
/** As `color-mix` does: in OKLab the plain mean, in OKLCH with the hue of `a`, since the ground has none. */
function mix(space: string, a: Triple, share: number, b: Triple): Triple {
  const [p, q] = [oklab(a), oklab(b)];
  const [L, x, y] = p.map((value, index) => value * share + (q[index] ?? 0) * (1 - share)) as Triple;
  if (space === 'oklab') return fromOklab([L, x, y]);
  const chroma = Math.hypot(p[1], p[2]) * share + Math.hypot(q[1], q[2]) * (1 - share);
  const hue = Math.atan2(p[2], p[1]);
  return fromOklab([L, chroma * Math.cos(hue), chroma * Math.sin(hue)]);
}
const luminance = ([r, g, b]: Triple) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
function contrast(a: Triple, b: Triple): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** The shades as the page has them: what is mixed into the background, and how much of it. */
const css = readFileSync(new URL('../src/theme/tokens.css', import.meta.url), 'utf8');
const SHADES = Object.fromEntries([...css.matchAll(/--([\w-]+): color-mix\(in (oklch|oklab), var\(--(\w+)\) (\d+)%, var\(--(?:ground|background)\)\);/g)].map(([, name, space, of, share]) => [name, [space, of, Number(share) / 100]])) as Record<string, [string, string, number]>;

it('the shades are those that the design names', () => {
  expect(SHADES['border']).toEqual(['oklab', 'foreground', 0.1]);
  expect(SHADES['hover']).toEqual(['oklab', 'foreground', 0.04]);
  expect(SHADES['selected']).toEqual(['oklch', 'accent', 0.12]);
});

describe.each(THEMES.flatMap((theme) => [[theme.name, 'light', theme.light], [theme.name, 'dark', theme.dark]] as [string, string, Colours][]))('%s, %s', (_name, _brightness, colours) => {
  const plain = Object.fromEntries(COLOUR_NAMES.map((name, index) => [name, rgb(colours[index] ?? '')])) as Record<(typeof COLOUR_NAMES)[number], Triple>;
  const { background, foreground, accent, info, success, destructive } = plain;
  const shade = (name: string): Triple => {
    const [space, of, share] = SHADES[name] ?? expect.unreachable(`there is no shade ${name}`);
    return mix(space, plain[of as keyof typeof plain], share, background);
  };
  const grounds = { background, hover: shade('hover'), sunken: shade('sunken'), code: shade('code'), selected: shade('selected') };
  const muted = shade('muted');

  it.each(Object.entries(grounds))('text can be read on %s', (_ground, ground) => {
    expect(contrast(foreground, ground)).toBeGreaterThanOrEqual(7);
    expect(contrast(muted, ground)).toBeGreaterThanOrEqual(4.5);
  });
  it('the accent can be read, and what stands on it', () => {
    for (const ground of Object.values(grounds)) expect(contrast(accent, ground)).toBeGreaterThanOrEqual(4.5);
    for (const colour of [info, success, destructive]) expect(contrast(colour, background)).toBeGreaterThanOrEqual(4.5);
  });
  it('a diff can be read', () => {
    expect(contrast(foreground, shade('added'))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(foreground, shade('removed'))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(foreground, shade('added-word'))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(foreground, shade('removed-word'))).toBeGreaterThanOrEqual(4.5);
  });
});

it('there are fifteen, each with a name of its own', () => {
  expect(new Set(THEMES.map((theme) => theme.name)).size).toBe(15);
});
