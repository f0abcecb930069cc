/** Themes: light, dark or as the system; one for the app and, where wanted, another for this workspace. */
import { useVersion } from '../api/queries';
import { wardrobe, type Brightness } from '../theme/theme';
import { COLOUR_NAMES, THEMES } from '../theme/themes';
import { useTheme } from '../theme/useTheme';
import { Section } from './parts';

export function Themes() {
  const { worn, dark } = useTheme();
  const workspace = useVersion().data?.workspace ?? '';
  return (
    <>
      <Section title="Brightness">
        <div className="options" role="group" aria-label="Brightness">
          {(['system', 'light', 'dark'] as Brightness[]).map((one) => <button key={one} type="button" className="option" aria-pressed={worn.brightness === one} onClick={() => wardrobe.wear({ brightness: one })}>{one === 'system' ? 'As the system' : one === 'light' ? 'Light' : 'Dark'}</button>)}
        </div>
      </Section>
      <Section title="Theme">
        <div className="themes">
          {THEMES.map((theme) => {
            const colours = dark ? theme.dark : theme.light;
            return (
              <button key={theme.name} type="button" className="theme" aria-pressed={worn.theme === theme.name} style={{ background: colours[0], color: colours[1] }} onClick={() => wardrobe.wear({ theme: theme.name })}>
                <span>{theme.name}</span>
                <span className="swatches" aria-hidden>{colours.slice(2).map((colour, index) => <span key={COLOUR_NAMES[index + 2]} style={{ background: colour }} />)}</span>
              </button>
            );
          })}
        </div>
      </Section>
      {workspace ? (
        <Section title="This workspace" says={<>Another theme for <code>{workspace}</code>, so that you know where you are.</>}>
          <select className="field narrow" aria-label="Theme of this workspace" value={worn.workspaces[workspace] ?? ''} onChange={(event) => {
            const { [workspace]: _, ...others } = worn.workspaces;
            wardrobe.wear({ workspaces: event.target.value ? { ...others, [workspace]: event.target.value } : others });
          }}>
            <option value="">The same as the app</option>
            {THEMES.map((theme) => <option key={theme.name}>{theme.name}</option>)}
          </select>
        </Section>
      ) : null}
    </>
  );
}
