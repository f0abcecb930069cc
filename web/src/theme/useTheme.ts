import { useCell } from '../shell/cell';
import { look, type Look } from './theme';

export const useTheme = (): Look => useCell(look);
