/** Which sessions the list shows: the usual views, those the person saved, statuses of their own, labels as a tree. */
import * as Menu from '@radix-ui/react-dropdown-menu';
import { Link } from '@tanstack/react-router';
import { BookmarkPlus, BookmarkX, ListFilter as FilterIcon, Pencil, Sigma } from 'lucide-react';
import { useKeepViews, useViews, type ListFilter, type SavedView } from '../api/queries';
import { askText } from '../shell/prompt';
import { labelTree } from './groups';
import { LabelDot, StatusMark } from './statuses';

const USUAL: [string, ListFilter][] = [
  ['All sessions', { view: 'inbox' }],
  ['Waiting for you', { view: 'inbox', status: 'waiting' }],
  ['Unread', { view: 'inbox', where: 'unread' }],
  ['Running', { view: 'inbox', status: 'running' }],
  ['Failed', { view: 'inbox', status: 'failed' }],
  ['Open', { view: 'inbox', where: 'not closed' }],
  ['Closed', { view: 'inbox', where: 'closed' }],
  ['Research', { view: 'inbox', where: 'app == research' }],
  ['Archived', { view: 'archived' }],
  ['Deleted', { view: 'deleted' }],
];

export function filterOf(view: SavedView): ListFilter {
  const kind = view.view === 'archived' || view.view === 'all' ? view.view : 'inbox';
  return { view: kind, status: view.status ?? undefined, label: view.label ?? undefined, flag: view.flag ?? undefined, workspace: view.workspace ?? undefined, where: view.where ?? undefined };
}

const parts = (filter: ListFilter) => [filter.view, filter.status, filter.label, filter.flag, filter.workspace, filter.where];
export const sameFilter = (one: ListFilter, other: ListFilter) => parts(one).every((part, index) => (part ?? '') === (parts(other)[index] ?? ''));

/** What the list shows, in words; nothing for all of it. */
export function filterWords(filter: ListFilter, saved: readonly SavedView[]): string | null {
  if (sameFilter(filter, { view: 'inbox' })) return null;
  const named = saved.find((view) => sameFilter(filterOf(view), filter))?.name ?? USUAL.find(([, usual]) => sameFilter(usual, filter))?.[0];
  return named ?? ([filter.view === 'inbox' ? null : filter.view, filter.status, filter.flag, filter.label, filter.where].filter(Boolean).join(' · ') || null);
}

export function FilterMenu({ filter, onChange }: { filter: ListFilter; onChange: (filter: ListFilter) => void }) {
  const views = useViews().data;
  const keep = useKeepViews();
  const saved = views?.views ?? [];
  const statuses = views?.statuses ?? [];
  const shown = saved.find((view) => sameFilter(filterOf(view), filter));
  const special = !USUAL.some(([, usual]) => sameFilter(usual, filter));
  const entry = (key: string, label: string, next: ListFilter, depth = 0, count?: number, mark?: React.ReactNode) => (
    <Menu.Item key={key} className="menu-item" style={{ paddingLeft: 8 + depth * 14 }} onSelect={() => onChange(next)}>
      {mark}
      <span className="grow cut">{label}</span>
      {sameFilter(next, filter) ? <span className="hint">shown</span> : count !== undefined ? <span className="hint">{count}</span> : null}
    </Menu.Item>
  );
  const save = async () => {
    const name = (await askText({ title: 'Save this view', hint: 'It appears under this name in the filter, in every browser.', value: filterWords(filter, []) ?? '' }))?.trim();
    if (!name) return;
    const { view, status, label, flag, workspace, where } = filter;
    keep.mutate((now) => ({ views: [...now.views.filter((other) => other.name !== name), { name, view, status, label, flag, workspace, where }] }));
  };
  const express = async () => {
    const typed = await askText({
      title: 'Show sessions where', value: filter.where ?? '', verb: 'Show',
      hint: 'Such as: unread and (label == work or cost > 1). There are title, app, agent, workspace, status, flag, label, model, mode, unread, waiting, archived, closed, cost, tokens, turns, asks and age in days; and, or, not, brackets; ==, !=, <, >, contains.',
    });
    if (typed !== null) onChange({ ...filter, view: filter.view === 'deleted' ? 'inbox' : filter.view, where: typed.trim() || undefined });
  };
  const tree = labelTree(views?.labels ?? []);
  return (
    <Menu.Root>
      <Menu.Trigger className="icon-button" aria-label="Views and filters" title="Views and filters"><FilterIcon /></Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu filter-menu" align="end" sideOffset={4}>
          {USUAL.map(([label, next]) => entry(label, label, next))}
          {views?.notice ? <Menu.Item className="menu-item" asChild><Link to="/settings/$page" params={{ page: 'statuses' }} className="bad">Your views cannot be read…</Link></Menu.Item> : null}
          {saved.length > 0 ? <Menu.Label className="menu-label">Your views</Menu.Label> : null}
          {saved.map((view) => entry(`view ${view.name}`, view.name, filterOf(view)))}
          {statuses.length > 0 ? <Menu.Label className="menu-label">Status</Menu.Label> : null}
          {statuses.map((status) => entry(`flag ${status.name}`, status.name, { ...filter, flag: filter.flag === status.name ? undefined : status.name }, 0, undefined, <StatusMark status={status} />))}
          {tree.length > 0 ? <Menu.Label className="menu-label">Labels</Menu.Label> : null}
          {tree.map((node) => entry(`label ${node.name}`, node.label, { ...filter, view: filter.view === 'deleted' ? 'inbox' : filter.view, label: filter.label === node.name ? undefined : node.name }, node.depth, node.sessions, <LabelDot name={node.name} />))}
          <div className="menu-line" />
          <Menu.Item className="menu-item" onSelect={() => void express()}><Sigma /> Show where…</Menu.Item>
          {special && !shown ? <Menu.Item className="menu-item" onSelect={() => void save()}><BookmarkPlus /> Save this view…</Menu.Item> : null}
          {shown ? <Menu.Item className="menu-item" onSelect={() => keep.mutate((now) => ({ views: now.views.filter((view) => view.name !== shown.name) }))}><BookmarkX /> Forget “{shown.name}”</Menu.Item> : null}
          <Menu.Item className="menu-item" asChild><Link to="/settings/$page" params={{ page: 'statuses' }}><Pencil /> Edit statuses and colours…</Link></Menu.Item>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}
