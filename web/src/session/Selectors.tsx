/** Which model answers and how far it may go, in words. */
import * as Menu from '@radix-ui/react-dropdown-menu';
import { Link } from '@tanstack/react-router';
import { ChevronDown, Eye, Shield, Zap } from 'lucide-react';
import { useModels, usePatchSession } from '../api/queries';
import type { Mode } from '../api/events';
import { askText } from '../shell/prompt';
import { tokens } from './words';

export const MODES: Record<Mode, { name: string; says: string; icon: React.ReactNode }> = {
  safe: { name: 'Safe', says: 'Looks only: reads and searches, changes nothing', icon: <Eye /> },
  ask: { name: 'Ask', says: 'Asks before it changes files or runs commands', icon: <Shield /> },
  auto: { name: 'Auto', says: 'Goes ahead; asks only where something cannot be taken back', icon: <Zap /> },
};
/** Without its provider. */
export const modelName = (model: string) => model.split('/').slice(1).join('/') || model;
export const nextMode = (mode: Mode): Mode => ({ safe: 'ask', ask: 'auto', auto: 'safe' })[mode] as Mode;

export function ModePicker({ mode, onMode }: { mode: Mode; onMode: (mode: Mode) => void }) {
  return (
    <Menu.Root>
      <Menu.Trigger className="selector" title="Mode (Shift+Tab)" aria-label={`Mode: ${MODES[mode].name}`} data-mode={mode}>{MODES[mode].icon} <span>{MODES[mode].name}</span></Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="start" side="top" sideOffset={6}>
          {(Object.keys(MODES) as Mode[]).map((name) => (
            <Menu.Item key={name} className="menu-item two" onSelect={() => onMode(name)}>
              {MODES[name].icon}
              <span><strong>{MODES[name].name}</strong><br /><span className="meta">{MODES[name].says}</span></span>
            </Menu.Item>
          ))}
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}

export function ModelPicker({ model, onModel }: { model: string; onModel: (model: string) => void }) {
  const models = useModels();
  const ready = (models.data?.providers ?? []).map((provider) => ({ ...provider, models: provider.models.filter((one) => one.ready) })).filter((provider) => provider.models.length > 0);
  // What is chosen and the default stand first, wherever they are in the lists, and also where they are in none.
  const first = [...new Set([model, models.data?.default ?? ''])].filter(Boolean);
  const another = async () => {
    const named = (await askText({ title: 'Another model', hint: 'provider/model, such as ollama/qwen3-coder or openrouter/vendor/name.', value: model, verb: 'Choose' }))?.trim();
    if (named) onModel(named);
  };
  return (
    <Menu.Root>
      <Menu.Trigger className="selector" title="Model" aria-label={`Model: ${model}`}><span className="cut">{modelName(model)}</span> <ChevronDown /></Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="start" side="top" sideOffset={6}>
          {first.map((one) => <Menu.Item key={one} className="menu-item" onSelect={() => onModel(one)}>{one}<span className="hint">{one === model ? 'chosen' : 'default'}</span></Menu.Item>)}
          {ready.map((provider) => (
            <div key={provider.name}>
              <Menu.Label className="menu-label row"><span className="grow">{provider.name}</span>{provider.models.some((one) => one.price) ? <span>$ per million, in / out</span> : null}</Menu.Label>
              {provider.models.map((one) => (
                <Menu.Item key={one.model} className="menu-item" onSelect={() => onModel(one.model)}>
                  {modelName(one.model)}
                  <span className="hint">{one.model === model ? 'chosen' : one.price ? `${one.price.input} / ${one.price.output}` : one.window ? `${tokens(one.window)} tokens` : ''}</span>
                </Menu.Item>
              ))}
            </div>
          ))}
          <div className="menu-line" />
          <Menu.Item className="menu-item" onSelect={() => void another()}>Another model…</Menu.Item>
          <Menu.Item className="menu-item" asChild><Link to="/settings/$page" params={{ page: 'models' }}>Add a key…</Link></Menu.Item>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}

export function ModeMenu({ id, mode }: { id: string; mode: Mode }) {
  const patch = usePatchSession();
  return <ModePicker mode={mode} onMode={(next) => patch.mutate({ id, mode: next })} />;
}
export function ModelMenu({ id, model }: { id: string; model: string }) {
  const patch = usePatchSession();
  return <ModelPicker model={model} onModel={(next) => patch.mutate({ id, model: next })} />;
}
