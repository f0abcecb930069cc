/** How statuses and labels look: an icon and a colour of the person's own, one for light and one for dark screens. */
import { Check, Circle, CircleDot, Clock, Eye, Flag, Pause, Star, X, Zap, type LucideIcon } from 'lucide-react';
import { createContext, use, type CSSProperties } from 'react';
import type { Views } from '../api/queries';
import type { Colour, Status, StatusIconName } from '../api/types';

export const STATUS_ICONS: Record<StatusIconName, [string, LucideIcon]> = {
  circle: ['Circle', Circle], half: ['Dot', CircleDot], eye: ['Eye', Eye], check: ['Check', Check], cross: ['Cross', X],
  pause: ['Pause', Pause], flag: ['Flag', Flag], star: ['Star', Star], clock: ['Clock', Clock], bolt: ['Bolt', Zap],
};

/** The page's own colours; each is readable on light and dark grounds. */
export const COLOURS: Record<string, Colour> = {
  Grey: { light: '#5b6270', dark: '#a5adba' }, Blue: { light: '#2b62a8', dark: '#7fb2f0' }, Teal: { light: '#0f6b6b', dark: '#6cc5c1' },
  Green: { light: '#247438', dark: '#7cc48d' }, Amber: { light: '#8a5a12', dark: '#e8b86d' }, Orange: { light: '#a8480f', dark: '#f0a06c' },
  Red: { light: '#b3261e', dark: '#f28b82' }, Pink: { light: '#a02a6d', dark: '#ee93c4' }, Violet: { light: '#6a43b5', dark: '#b79df0' },
};
export const sameColour = (one: Colour | null | undefined, other: Colour | null | undefined) => one?.light === other?.light && one?.dark === other?.dark;

/** Only icons and dots are coloured; words keep the colour of the text, so that they can be read whatever was chosen. */
export const tint = (colour: Colour | null | undefined): CSSProperties | undefined => (colour ? { color: `light-dark(${colour.light}, ${colour.dark})` } : undefined);

/** The colour of a label: its own, or that of the next label above it that has one. */
export function labelColour(colours: Readonly<Record<string, Colour>>, name: string): Colour | null {
  for (let path = name; path; path = path.slice(0, Math.max(0, path.lastIndexOf('/')))) {
    const own = colours[path];
    if (own) return own;
  }
  return null;
}

export function StatusMark({ status }: { status: Pick<Status, 'icon' | 'colour'> }) {
  const Icon = STATUS_ICONS[status.icon]?.[1] ?? Circle;
  return <span className="status-mark" style={tint(status.colour)} aria-hidden="true"><Icon /></span>;
}

/** Handed down from where it is loaded: a list has many rows, and each would otherwise watch for itself. */
export const LooksContext = createContext<Pick<Views, 'statuses' | 'colours'> | undefined>(undefined);

export function LabelDot({ name }: { name: string }) {
  const colour = labelColour(use(LooksContext)?.colours ?? {}, name);
  return colour ? <span className="label-dot" style={tint(colour)} aria-hidden="true" /> : null;
}

/** What a session's status looks like; a word that is no status any more has no icon. */
export function useOwnStatus(flag: string | null): Status | null {
  const statuses = use(LooksContext)?.statuses;
  return (flag && statuses?.find((status) => status.name === flag)) || null;
}
