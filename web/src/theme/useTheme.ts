import { useSyncExternalStore } from 'react';
import { isDark, wardrobe, type Worn } from './theme';

export function useTheme(): { worn: Worn; dark: boolean } {
  const worn = useSyncExternalStore(wardrobe.subscribe, wardrobe.get, wardrobe.get);
  return { worn, dark: isDark() };
}
