/** The pages of the settings, in their order. */
export const SETTINGS_PAGES = [
  { id: 'models', name: 'Models and keys' },
  { id: 'permissions', name: 'Permissions' },
  { id: 'sandbox', name: 'Sandbox' },
  { id: 'sources', name: 'Sources' },
  { id: 'agents', name: 'Agents' },
  { id: 'skills', name: 'Skills' },
  { id: 'hooks', name: 'Hooks' },
  { id: 'themes', name: 'Themes' },
  { id: 'statuses', name: 'Statuses and labels' },
  { id: 'shortcuts', name: 'Shortcuts' },
  { id: 'usage', name: 'Usage' },
  { id: 'audit', name: 'Audit' },
  { id: 'storage', name: 'Storage' },
  { id: 'about', name: 'About' },
] as const;
export type SettingsPageId = (typeof SETTINGS_PAGES)[number]['id'];
