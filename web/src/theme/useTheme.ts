import { useSyncExternalStore } from 'react';
import { wardrobe, type Look } from './theme';

export const useTheme = (): Look => useSyncExternalStore(wardrobe.subscribe, wardrobe.get, wardrobe.get);
