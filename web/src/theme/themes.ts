/** The built-in themes: six colours each, light and dark. Every other shade is mixed from them in `tokens.css`. */

/** background, foreground, accent, info, success, destructive */
export type Colours = [string, string, string, string, string, string];
export interface Theme {
  name: string;
  light: Colours;
  dark: Colours;
}
export const COLOUR_NAMES = ['background', 'foreground', 'accent', 'info', 'success', 'destructive'] as const;

export const THEMES: readonly Theme[] = [
  { name: 'Weft', light: ['#fbfaf8', '#1b202b', '#8a5a12', '#2b62a8', '#247438', '#b3261e'], dark: ['#16181d', '#e6e4df', '#e8b86d', '#7fb2f0', '#7cc48d', '#f28b82'] },
  { name: 'Paper', light: ['#f7f3ea', '#201c18', '#a04a1c', '#35618e', '#446d27', '#a82a2a'], dark: ['#1e1b18', '#e9e1d3', '#e39a6b', '#8cb4d9', '#a3bf7d', '#ec8a80'] },
  { name: 'Slate', light: ['#f8fafc', '#0f172a', '#4253c8', '#0369a1', '#007734', '#b91c1c'], dark: ['#0f1419', '#dbe3ec', '#8ea2ff', '#67bdf0', '#6fcf97', '#f28b8b'] },
  { name: 'Forest', light: ['#f6f8f3', '#142216', '#2f6b3c', '#28648c', '#2f6b3c', '#a8322a'], dark: ['#121a15', '#dbe6da', '#8fcf8f', '#7fbbe0', '#8fcf8f', '#ef8a7f'] },
  { name: 'Ocean', light: ['#f3f8fa', '#08212d', '#0b6a85', '#1f5fae', '#167447', '#b02a3a'], dark: ['#0c1a24', '#d6e6ef', '#5cc8dc', '#86b8f5', '#6fd0a0', '#f58b98'] },
  { name: 'Rose', light: ['#fdf6f6', '#281822', '#a82e5c', '#3d5fa8', '#377143', '#b3261e'], dark: ['#1d1519', '#f0dfe4', '#f08bb0', '#9ab4f0', '#8fc99a', '#f59080'] },
  { name: 'Plum', light: ['#f9f6fb', '#23192d', '#7a3aa8', '#3d5bb0', '#327247', '#ad2b44'], dark: ['#18131f', '#e8def0', '#c99af0', '#94b2f5', '#8ccb9c', '#f28ba0'] },
  { name: 'Graphite', light: ['#f7f7f7', '#1a1a1a', '#3d3d3d', '#2d5f9a', '#2f7340', '#a82a2a'], dark: ['#171717', '#e4e4e4', '#d0d0d0', '#8ab6e8', '#8cc79a', '#ee8a86'] },
  { name: 'High contrast', light: ['#ffffff', '#000000', '#0033cc', '#004a99', '#005a1e', '#a00000'], dark: ['#000000', '#ffffff', '#ffd400', '#7fc4ff', '#7dff9a', '#ff9a9a'] },
  { name: 'Dawn', light: ['#faf4ed', '#221b33', '#945429', '#286983', '#3d6b4f', '#a8405f'], dark: ['#1b1826', '#e5e1f7', '#ebbc8a', '#9ccfd8', '#8fc7a4', '#eb7f9c'] },
  { name: 'Harbour', light: ['#eff3f8', '#141e29', '#2f5f9e', '#2f5f9e', '#3c6d45', '#a83a45'], dark: ['#242933', '#eef2f9', '#8fc0d0', '#8faedc', '#a9c794', '#e08f97'] },
  { name: 'Ink', light: ['#f5f6fa', '#1a1d2e', '#3a4fb0', '#176994', '#277055', '#b02a4a'], dark: ['#1a1b26', '#d9e1ff', '#82aaff', '#7dcfff', '#9ed072', '#f7869b'] },
  { name: 'Meadow', light: ['#fdf6e3', '#18201e', '#576b00', '#1b67a2', '#576b00', '#b8322e'], dark: ['#1c2320', '#f2ebd2', '#b8c46a', '#83b8d8', '#a8c080', '#ef8a7d'] },
  { name: 'Ember', light: ['#faf5f0', '#2a1d14', '#ad4109', '#3a6290', '#476c2c', '#b02020'], dark: ['#1d1612', '#f0dfd0', '#ff9a5c', '#8db8e0', '#a8c47f', '#ff8578'] },
  { name: 'Mono green', light: ['#f4f8f4', '#142114', '#256b25', '#2a6475', '#256b25', '#9c3324'], dark: ['#0a0f0a', '#c8ecc8', '#6fe06f', '#70c8d8', '#6fe06f', '#f08a70'] },
];
