/** The settings: a list of pages, and the one that the address names. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { api } from '../api/client';
import { useVersion } from '../api/queries';
import { notifications } from '../inbox/notify';
import { Sentence } from '../markdown/inline';
import { awake } from '../shell/awake';
import { ShortcutTable } from '../shell/Shortcuts';
import { useTitle } from '../shell/useTitle';
import { Hooks } from './Hooks';
import { Models } from './Models';
import { Own } from './Own';
import { SETTINGS_PAGES, type SettingsPageId } from './pages';
import { Backups } from './Backups';
import { Page, Section, Settings, shownValue, useSettings } from './parts';
import { Sources } from './Sources';
import { Statuses } from './Statuses';
import { Themes } from './Themes';
import { Usage } from './Usage';

const CONTENT: Record<SettingsPageId, () => ReactNode> = {
  models: () => <Models />,
  permissions: () => <Permissions />,
  sandbox: () => <Sandbox />,
  sources: () => <Sources />,
  agents: () => <Own what="agents" />,
  skills: () => <Own what="skills" />,
  hooks: () => <Hooks />,
  themes: () => <Themes />,
  statuses: () => <Statuses />,
  shortcuts: () => <Section title="Shortcuts"><ShortcutTable /></Section>,
  usage: () => <Usage />,
  audit: () => <Audit />,
  storage: () => <Storage />,
  about: () => <About />,
};

/** Pages whose values are written to the settings file. */
const WRITTEN: readonly SettingsPageId[] = ['models', 'permissions', 'sandbox', 'hooks', 'storage'];

function Where() {
  const file = useSettings().data?.file;
  return file ? <p className="meta">These settings are kept in <code>{file}</code>.</p> : null;
}

export function SettingsPage() {
  const { page } = useParams({ from: '/settings/$page' });
  const found = SETTINGS_PAGES.find((one) => one.id === page);
  // Drawn whole: sections that fill up one after the other would push each other away.
  const waits = useSettings().isPending && found !== undefined && WRITTEN.includes(found.id);
  // On a phone the pages are one row, and the one that is open may be beyond its edge.
  useEffect(() => {
    document.querySelector('.settings-nav .active')?.scrollIntoView({ inline: 'center', block: 'nearest' });
  }, [page]);
  useTitle(found ? `${found.name} · Settings` : 'Settings');
  return (
    <main className="main settings">
      <header className="header"><h1>Settings</h1></header>
      <div className="settings-body">
        <nav className="settings-nav" aria-label="Settings">
          {SETTINGS_PAGES.map((one) => <Link key={one.id} to="/settings/$page" params={{ page: one.id }} className={one.id === page ? 'active' : ''} aria-current={one.id === page ? 'page' : undefined}>{one.name}</Link>)}
        </nav>
        <div className="scroll"><div className="page" key={page}>{waits ? <p className="muted" role="status">Loading…</p> : found ? CONTENT[found.id]() : <p>There is no such page of settings.</p>}{found && WRITTEN.includes(found.id) ? <Where /> : null}</div></div>
      </div>
    </main>
  );
}

function Permissions() {
  return (
    <>
      <Section title="Mode" says="How far a new session may go."><Settings prefixes={['mode']} /></Section>
      <Section title="Rules" says={<>Rules such as <code>run cargo test</code> or <code>write docs/**</code> decide what needs no question, what always does, and what never happens; the longest that fits counts.</>}><Settings prefixes={['permissions']} /></Section>
      <Section title="Limits" says="How far one turn may go."><Settings prefixes={['limits']} /></Section>
      <Notices />
    </>
  );
}

function Notices() {
  const [on, setOn] = useState(notifications.wanted);
  const [lit, setLit] = useState(awake.wanted);
  return (
    <Section title="Notifications" says="A notice of your desktop when something waits for you and no page of Weft is in view.">
      <label className="row"><input type="checkbox" checked={on} onChange={(event) => void notifications.want(event.target.checked).then(setOn)} /> Tell me when something waits</label>
      {awake.possible() ? <label className="row"><input type="checkbox" checked={lit} onChange={(event) => { awake.want(event.target.checked); setLit(event.target.checked); }} /> Keep the screen on while a session that I look at works</label> : null}
    </Section>
  );
}

function Sandbox() {
  const sandbox = useQuery({ queryKey: ['sandbox'], queryFn: () => api.get<{ mode: string; network: { kind: string; domains?: string[] }; holds: { held: boolean; what: string }[]; notice: string | null }>('sandbox') });
  return (
    <>
      <Section title="What holds on this machine" says={sandbox.data?.mode === 'off' ? 'The sandbox is off: commands that a model chooses can do whatever you can.' : 'Every command that a model chooses runs inside this.'}>
        <Page query={sandbox}>
          {(data) => (
            <>
              {data.notice ? <p className="bad">{data.notice}</p> : null}
              <ul className="checks">{data.holds.map((one) => <li key={one.what} data-level={one.held ? 'good' : 'bad'}><span>{one.held ? 'Holds' : 'Does not hold'}: </span><Sentence text={one.what} /></li>)}</ul>
              <p className="meta">Mode {data.mode}; network {data.network.domains ? data.network.domains.join(', ') : data.network.kind}.</p>
            </>
          )}
        </Page>
      </Section>
      <Section title="Settings"><Settings prefixes={['sandbox']} /></Section>
    </>
  );
}

interface AuditEntry {
  id: string;
  timestamp: string;
  sequence: number;
  category: string;
  event_type: string;
  action: string;
  target?: string;
  outcome: string;
  session_id?: string;
}

/** What has no outcome yet: it was only asked, or only begun. */
const OPEN: readonly string[] = ['ask.raised', 'tool.started'];
/** `ask.raised`: what happened is its second word. */
const happened = (event: string) => event.split('.').slice(1).join(' ').replaceAll('_', ' ');

const CATEGORIES = [['permission', 'Permissions'], ['file', 'Files'], ['process', 'Commands'], ['network', 'Network'], ['model', 'Models'], ['credential', 'Keys'], ['session', 'Sessions'], ['config', 'Settings']] as const;

function Audit() {
  const [category, setCategory] = useState('');
  const [severity, setSeverity] = useState('');
  const audit = useQuery({ queryKey: ['audit', category, severity], queryFn: () => api.get<{ entries: AuditEntry[] }>('audit', { limit: 200, category, severity }), placeholderData: (before) => before });
  const verify = useQuery({ queryKey: ['audit-verify'], queryFn: () => api.get<{ valid: boolean; entries: number; problems: unknown[] }>('audit/verify'), enabled: false });
  return (
    <Section title="Audit" says="What was allowed and done, in a chain in which a changed entry shows.">
      <div className="row wrap">
        <select className="field narrow" aria-label="Category" value={category} onChange={(event) => setCategory(event.target.value)}>
          <option value="">Everything</option>
          {CATEGORIES.map(([name, words]) => <option key={name} value={name}>{words}</option>)}
        </select>
        <select className="field narrow" aria-label="Severity" value={severity} onChange={(event) => setSeverity(event.target.value)}>
          <option value="">Any severity</option><option value="warning">Warnings and graver</option><option value="security">Security and graver</option><option value="critical">Critical only</option>
        </select>
        <button type="button" className="button small" disabled={verify.isFetching} onClick={() => void verify.refetch()}>Verify the chain</button>
        {verify.data ? <span role="status" className={verify.data.valid ? 'good' : 'bad'}>{verify.data.valid ? `All ${verify.data.entries} entries are as they were written.` : verify.data.problems.map(shownValue).join(' ')}</span> : null}
      </div>
      <Page query={audit}>
        {(data) => data.entries.length === 0 ? <p className="muted">{category || severity ? 'No entry fits.' : 'Nothing was recorded yet.'}</p> : (
          <div className="table-scroll" tabIndex={0} role="group" aria-label="Audit entries">
            <table className="table">
              <thead><tr><th>When</th><th>What</th><th>On</th><th>Outcome</th><th>Session</th></tr></thead>
              <tbody>
                {[...data.entries].sort((a, b) => b.sequence - a.sequence).map((entry) => (
                  <tr key={entry.id}>
                    <td>{new Date(entry.timestamp).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })}</td><td>{entry.category}: {entry.action} <span className="meta">{happened(entry.event_type)}</span></td><td className="cut" title={entry.target}>{entry.target ? <Sentence text={entry.target} /> : null}</td>
                    <td className={entry.outcome === 'allowed' ? '' : 'bad'}>{OPEN.includes(entry.event_type) ? '' : entry.outcome}</td>
                    <td>{entry.session_id ? <Link to="/s/$id" params={{ id: entry.session_id }}><code>{entry.session_id}</code></Link> : null}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
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
          <ul className="checks">{section.findings.map((finding, index) => <li key={index} data-level={finding.level}><Sentence text={finding.text} /></li>)}</ul>
        </Section>
      ))}
    </Page>
  );
}

function Storage() {
  return (
    <>
      <Section title="Storage" says={<>Everything is in one folder on this machine. <code>weft sessions export</code> moves a session, <code>weft doctor</code> checks the database and its backups.</>}><Settings prefixes={['undo']} /></Section>
      <Backups />
      <Findings only={/stor|database|backup|disk|folder|session/i} />
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
      <Findings only={/^(?!Weft$)/} />
    </>
  );
}
