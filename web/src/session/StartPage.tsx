/** A new session: one box to say what is wanted. Nothing is stored until something is said. */
import { useNavigate } from '@tanstack/react-router';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ApiError } from '../api/client';
import { sendOnce, sessionChanged, useModels, useVersion, useWorkspaces } from '../api/queries';
import type { Mode } from '../api/events';
import type { InputPart, SessionRow } from '../api/types';
import { useSettings } from '../settings/parts';
import { askText } from '../shell/prompt';
import { ListButton } from '../shell/Shell';
import { toast } from '../shell/toast';
import { useTitle } from '../shell/useTitle';
import { Attachments, Box, focusNext, SecretStrip, useAttachments } from './Composer';
import { ModelPicker, ModePicker } from './Selectors';

const OTHER = '\0';
const EXAMPLES = ['explain README.md', 'search TODO in src', 'create notes.md with Things to do', '$ ls -l'];

export function StartPage() {
  useTitle('New session');
  const navigate = useNavigate();
  const version = useVersion().data;
  const models = useModels().data;
  const workspaces = useWorkspaces().data?.workspaces ?? [];
  const [text, setText] = useState(() => localStorage.getItem('weft.draft.new') ?? '');
  const settings = useSettings().data;
  const [chosenMode, setMode] = useState<Mode | null>(null);
  const usual = settings?.values['mode'];
  const mode = chosenMode ?? (usual === 'safe' || usual === 'auto' ? usual : 'ask');
  const [model, setModel] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const attachments = useAttachments();
  const workspace = chosen ?? version?.workspace ?? '';

  useEffect(() => localStorage.setItem('weft.draft.new', text), [text]);
  // From here on one can type; the speed test reads it. A phone's keyboard would hide what else there is.
  useEffect(() => {
    if (window.matchMedia('(hover: hover)').matches) document.querySelector<HTMLElement>('[data-composer]')?.focus();
    performance.mark('weft-ready');
  }, []);

  const [secret, setSecret] = useState<string | null>(null);
  const start = async (how?: 'anyway' | 'redact') => {
    const words = text.trim();
    if (busy || attachments.sending || (!words && attachments.files.length === 0)) return;
    setBusy(true);
    setSecret(null);
    const content: InputPart[] = [...(words ? [{ type: 'text' as const, text: words }] : []), ...attachments.parts];
    try {
      const row = await sendOnce<SessionRow>('sessions', { content, ...(chosenMode ? { mode: chosenMode } : {}), ...(workspace ? { workspace } : {}), ...(model ? { model } : {}), ...(how ? { [how]: true } : {}) });
      localStorage.removeItem('weft.draft.new');
      sessionChanged(row);
      setText('');
      focusNext();
      await navigate({ to: '/s/$id', params: { id: row.id } });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'secret') setSecret(String(error.extra['kind'] ?? 'a secret'));
      else toast.problem(error);
      setBusy(false);
    }
  };
  const other = async () => {
    const path = (await askText({ title: 'Another folder', hint: 'The whole path of a folder on the machine that Weft runs on.', value: workspace, verb: 'Choose' }))?.trim();
    if (path) setChosen(path);
  };
  return (
    <main className="main">
      <header className="header"><ListButton /><h1 className="grow">New session</h1></header>
      <div className="scroll start">
        <div className="start-inner">
          <p className="start-question">What should be done?</p>
          {secret ? <SecretStrip kind={secret} onSend={(how) => void start(how)} onEdit={() => setSecret(null)} /> : null}
          <Box text={text} setText={setText} workspace={workspace} placeholder="Say what you want done" onFiles={attachments.add} canSend={!busy && !attachments.sending && (text.trim() !== '' || attachments.files.length > 0)} onSend={() => void start()}
            above={<Attachments files={attachments.files} remove={attachments.remove} />}
            tools={<><ModePicker mode={mode} onMode={setMode} /><ModelPicker model={model ?? models?.default ?? version?.model ?? ''} onModel={setModel} /></>} />
          <div className="start-where meta">
            <label htmlFor="workspace">in</label>
            <select id="workspace" className="field" value={workspace} onChange={(event) => (event.target.value === OTHER ? void other() : setChosen(event.target.value))}>
              {[...new Set([workspace, ...workspaces.map((one) => one.path)])].map((path) => <option key={path}>{path}</option>)}
              <option value={OTHER}>Another folder…</option>
            </select>
          </div>
          {version?.offline ? <FirstStart onTry={setText} /> : null}
        </div>
      </div>
    </main>
  );
}

function FirstStart({ onTry }: { onTry: (text: string) => void }) {
  return (
    <section className="first" aria-label="Getting started">
      <h2>It works without a key</h2>
      <p className="muted">No model is set up, so the small built-in offline model answers. It reads, searches, quotes and edits, but it does not think. It understands plain requests such as these:</p>
      <div className="options">{EXAMPLES.map((example) => <button key={example} type="button" className="option" onClick={() => { onTry(example); document.querySelector<HTMLElement>('[data-composer]')?.focus(); }}>{example}</button>)}</div>
      <h2>Three ways to a model that thinks</h2>
      <ol>
        <li><strong>A key.</strong> <Link to="/settings/$page" params={{ page: 'models' }}>Add one under Models</Link>; it is kept encrypted on this machine.</li>
        <li><strong>Your environment.</strong> Start Weft with <code>ANTHROPIC_API_KEY</code>, <code>OPENAI_API_KEY</code>, <code>GEMINI_API_KEY</code> or <code>OPENROUTER_API_KEY</code> set.</li>
        <li><strong>A server of your own.</strong> Ollama, llama.cpp, vLLM or LM Studio: <code>weft config set model ollama/qwen3-coder</code>.</li>
      </ol>
    </section>
  );
}
