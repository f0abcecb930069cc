import { describe, expect, it } from 'vitest';
import { THEMES, type Colours } from '../src/theme/themes';

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
/** As `color-mix(in oklab, a share, b)` does. The polar form would turn the hue on the way and tint the greys. */
function mix(a: Triple, share: number, b: Triple): Triple {
  const [p, q] = [oklab(a), oklab(b)];
  return fromOklab(p.map((value, index) => value * share + (q[index] ?? 0) * (1 - share)) as Triple);
}
const luminance = ([r, g, b]: Triple) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
function contrast(a: Triple, b: Triple): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

describe.each(THEMES.flatMap((theme) => [[theme.name, 'light', theme.light], [theme.name, 'dark', theme.dark]] as [string, string, Colours][]))('%s, %s', (_name, _brightness, colours) => {
  const [background, foreground, accent, info, success, destructive] = colours.map(rgb) as [Triple, Triple, Triple, Triple, Triple, Triple];
  const selected = mix(accent, 0.12, background);
  const grounds = { background, hover: mix(foreground, 0.04, background), sunken: mix(foreground, 0.03, background), selected };
  const muted = mix(foreground, 0.64, background);

  it.each(Object.entries(grounds))('text can be read on %s', (_ground, ground) => {
    expect(contrast(foreground, ground)).toBeGreaterThanOrEqual(7);
    expect(contrast(muted, ground)).toBeGreaterThanOrEqual(4.5);
  });
  it('the accent can be read, and what stands on it', () => {
    for (const ground of Object.values(grounds)) expect(contrast(accent, ground)).toBeGreaterThanOrEqual(4.5);
    for (const colour of [info, success, destructive]) expect(contrast(colour, background)).toBeGreaterThanOrEqual(4.5);
  });
  it('a diff can be read', () => {
    expect(contrast(foreground, mix(success, 0.12, background))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(foreground, mix(destructive, 0.12, background))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(foreground, mix(success, 0.3, background))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(foreground, mix(destructive, 0.3, background))).toBeGreaterThanOrEqual(4.5);
  });
});

it('there are fifteen, each with a name of its own', () => {
  expect(new Set(THEMES.map((theme) => theme.name)).size).toBe(15);
});
