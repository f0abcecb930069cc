/** The settings: a list of pages, and the one that the address names. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api } from '../api/client';
import { useVersion } from '../api/queries';
import { notifications } from '../inbox/notify';
import { ShortcutTable } from '../shell/Shortcuts';
import { useTitle } from '../shell/useTitle';
import { Models } from './Models';
import { SETTINGS_PAGES, type SettingsPageId } from './pages';
import { Page, Section, Settings } from './parts';
import { Sources } from './Sources';
import { Themes } from './Themes';
import { Usage } from './Usage';

const CONTENT: Record<SettingsPageId, () => ReactNode> = {
  models: () => <Models />,
  permissions: () => <Permissions />,
  sandbox: () => <Sandbox />,
  sources: () => <Sources />,
  agents: () => <Named what="agents" says="An agent is a prompt, a model, tools and limits, declared in .weft/agents/NAME/AGENT.md. Mention one with @." />,
  skills: () => <Named what="skills" says="A skill is instructions that are loaded when they are needed, in .weft/skills/NAME/SKILL.md. Call one with /." />,
  hooks: () => <Section title="Hooks" says="Your own commands at fixed points. They are written in the settings file, because they run programs."><Settings prefixes={['hooks']} /></Section>,
  themes: () => <Themes />,
  shortcuts: () => <Section title="Shortcuts"><ShortcutTable /></Section>,
  usage: () => <Usage />,
  audit: () => <Audit />,
  storage: () => <Storage />,
  about: () => <About />,
};

export function SettingsPage() {
  const { page } = useParams({ from: '/settings/$page' });
  const found = SETTINGS_PAGES.find((one) => one.id === page);
  useTitle(found ? `${found.name} · Settings` : 'Settings');
  return (
    <main className="main settings">
      <header className="header"><h1>Settings</h1></header>
      <div className="settings-body">
        <nav className="settings-nav" aria-label="Settings">
          {SETTINGS_PAGES.map((one) => <Link key={one.id} to="/settings/$page" params={{ page: one.id }} className={one.id === page ? 'active' : ''} aria-current={one.id === page ? 'page' : undefined}>{one.name}</Link>)}
        </nav>
        <div className="scroll"><div className="page" key={page}>{found ? CONTENT[found.id]() : <p>There is no such page of settings.</p>}</div></div>
      </div>
    </main>
  );
}

function Permissions() {
  return (
    <>
      <Section title="Mode" says="How far a new session may go: safe looks only, ask asks before changes and commands, auto goes ahead."><Settings prefixes={['mode']} /></Section>
      <Section title="Rules" says={<>Rules such as <code>run cargo test</code> or <code>write docs/**</code> decide what needs no question, what always does, and what never happens; the longest that fits counts.</>}><Settings prefixes={['permissions']} /></Section>
      <Section title="Limits" says="How far one turn may go."><Settings prefixes={['limits']} /></Section>
      <Notices />
    </>
  );
}

function Notices() {
  const [on, setOn] = useState(notifications.wanted);
  return (
    <Section title="Notifications" says="A notice of your desktop when something waits for you and this page is not in view.">
      <label className="row"><input type="checkbox" checked={on} onChange={(event) => void notifications.want(event.target.checked).then(setOn)} /> Tell me when something waits</label>
    </Section>
  );
}

function Sandbox() {
  const sandbox = useQuery({ queryKey: ['sandbox'], queryFn: () => api.get<{ mode: string; network: unknown; holds: { held: boolean; what: string }[]; notice: string | null }>('sandbox') });
  return (
    <>
      <Section title="What holds on this machine" says="Every command that a model chooses runs inside this.">
        <Page query={sandbox}>
          {(data) => (
            <>
              {data.notice ? <p className="bad">{data.notice}</p> : null}
              <ul className="checks">{data.holds.map((one) => <li key={one.what} className={one.held ? 'good' : 'bad'}><span>{one.held ? 'Holds' : 'Does not hold'}: </span>{one.what}</li>)}</ul>
              <p className="meta">Mode {data.mode}; network {typeof data.network === 'string' ? data.network : JSON.stringify(data.network)}.</p>
            </>
          )}
        </Page>
      </Section>
      <Section title="Settings"><Settings prefixes={['sandbox']} /></Section>
    </>
  );
}

interface Thing {
  name: string;
  description: string;
  called?: string;
  place?: string;
  of_project: boolean;
}

function Named({ what, says }: { what: 'agents' | 'skills'; says: string }) {
  const things = useQuery({ queryKey: [what], queryFn: () => api.get<{ [key: string]: unknown; problems: unknown[] }>(what) });
  return (
    <Section title={what === 'agents' ? 'Agents' : 'Skills'} says={says}>
      <Page query={things}>
        {(data) => {
          const list = (data[what] ?? []) as Thing[];
          return (
            <>
              {list.length === 0 ? <p className="muted">None yet.</p> : (
                <table className="table"><thead><tr><th>Name</th><th>What for</th><th>From</th></tr></thead>
                  <tbody>{list.map((thing) => <tr key={thing.name}><td><code>{thing.called ?? thing.name}</code></td><td>{thing.description}</td><td>{thing.of_project ? 'project' : 'yours or built in'}</td></tr>)}</tbody>
                </table>
              )}
              {data.problems.map((problem, index) => <p key={index} className="bad">{typeof problem === 'string' ? problem : JSON.stringify(problem)}</p>)}
            </>
          );
        }}
      </Page>
    </Section>
  );
}

function Audit() {
  const [category, setCategory] = useState('');
  const audit = useQuery({ queryKey: ['audit', category], queryFn: () => api.get<{ entries: Record<string, unknown>[] }>('audit', { limit: 200, category }) });
  const verify = useQuery({ queryKey: ['audit-verify'], queryFn: () => api.get<Record<string, unknown>>('audit/verify'), enabled: false });
  const text = (value: unknown) => (value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value));
  return (
    <Section title="Audit" says="What was allowed and done, in a chain in which a changed entry shows.">
      <div className="row wrap">
        <input className="field narrow" placeholder="Category" aria-label="Category" value={category} onChange={(event) => setCategory(event.target.value)} />
        <button type="button" className="button small" disabled={verify.isFetching} onClick={() => void verify.refetch()}>Verify the chain</button>
        {verify.data ? <span role="status" className="mono">{text(verify.data['message'] ?? verify.data)}</span> : null}
      </div>
      <Page query={audit}>
        {(data) => {
          const first = data.entries[0];
          if (!first) return <p className="muted">No entries.</p>;
          const columns = Object.keys(first).filter((name) => !/hash|signature|previous/.test(name)).slice(0, 7);
          return (
            <div className="table-scroll" tabIndex={0} role="group" aria-label="Audit entries">
              <table className="table"><thead><tr>{columns.map((name) => <th key={name}>{name}</th>)}</tr></thead>
                <tbody>{data.entries.map((entry, index) => <tr key={index}>{columns.map((name) => <td key={name} className="cut" title={text(entry[name])}>{name === 'at' && typeof entry[name] === 'number' ? new Date(entry[name]).toLocaleString() : text(entry[name])}</td>)}</tr>)}</tbody>
              </table>
            </div>
          );
        }}
      </Page>
    </Section>
  );
}

interface Doctor {
  sections: { title: string; findings: { level: 'good' | 'note' | 'bad'; text: string }[] }[];
}
const useDoctor = () => useQuery({ queryKey: ['doctor'], queryFn: () => api.get<Doctor>('doctor') });

function Findings({ only }: { only?: RegExp }) {
  return (
    <Page query={useDoctor()}>
      {(data) => data.sections.filter((section) => !only || only.test(section.title)).map((section) => (
        <Section key={section.title} title={section.title}>
          <ul className="checks">{section.findings.map((finding, index) => <li key={index} className={finding.level}>{finding.text}</li>)}</ul>
        </Section>
      ))}
    </Page>
  );
}

function Storage() {
  return (
    <>
      <Section title="Storage" says={<>Everything is in one folder on this machine. <code>weft sessions export</code> moves a session, <code>weft doctor</code> checks the database and its backups.</>}><Settings prefixes={['store', 'backup', 'storage']} /></Section>
      <Findings only={/stor|data|backup|disk|log/i} />
    </>
  );
}

function About() {
  const version = useVersion();
  return (
    <>
      <Section title="Weft">
        <Page query={version}>{(data) => <p>Version {data.version}, in <code>{data.workspace}</code>, with <code>{data.model}</code>{data.offline ? ', the built-in offline model' : ''}. The programming interface is described at <a href="/docs">its own page</a>.</p>}</Page>
      </Section>
      <Findings />
    </>
  );
}
