/** Where the page begins: theme, routes, and the ear for changes. */
import '@fontsource-variable/inter/index.css';
import '@fontsource-variable/jetbrains-mono/index.css';
import './theme/tokens.css';
import './theme/base.css';
import './shell/shell.css';
import './inbox/inbox.css';
import './markdown/markdown.css';
import './session/session.css';
import './panel/panel.css';
import './research/research.css';
import './settings/settings.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect, RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './api/queries';
import { Tray } from './asks/Tray';
import { hearChanges } from './inbox/changes';
import type { KnowledgeSearch } from './knowledge/knowledge';
import { SessionPage } from './session/SessionPage';
import { StartPage } from './session/StartPage';
import { Coming, NotFound, Shell, Trouble } from './shell/Shell';
import { wardrobe } from './theme/theme';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Trouble });
const number = (value: unknown) => (Number.isInteger(Number(value)) && Number(value) > 0 ? Number(value) : undefined);

const words = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined) || undefined;

const routes = root.addChildren([
  createRoute({ getParentRoute: () => root, path: '/', component: StartPage }),
  createRoute({
    getParentRoute: () => root,
    path: '/s/$id',
    component: SessionPage,
    validateSearch: (search: Record<string, unknown>): { at?: number; panel?: string; event?: number; source?: string; file?: string } => ({
      at: number(search['at']),
      panel: typeof search['panel'] === 'string' ? search['panel'] : undefined,
      event: number(search['event']),
      source: words(search['source']),
      file: words(search['file']),
    }),
  }),
  createRoute({ getParentRoute: () => root, path: '/waiting', component: () => <main className="main"><Tray /></main> }),
  createRoute({
    getParentRoute: () => root,
    path: '/knowledge',
    component: lazyRouteComponent(() => import('./knowledge/KnowledgePage'), 'KnowledgePage'),
    validateSearch: (search: Record<string, unknown>): KnowledgeSearch => ({
      q: words(search['q']),
      at: words(search['at']),
      domain: words(search['domain']),
      kind: words(search['kind']),
      language: words(search['language']),
      path: words(search['path']),
      since: words(search['since']),
      until: words(search['until']),
      view: words(search['view']),
      in: words(search['in']),
    }),
  }),
  createRoute({ getParentRoute: () => root, path: '/research', component: lazyRouteComponent(() => import('./research/ResearchPage'), 'ResearchPage') }),
  createRoute({ getParentRoute: () => root, path: '/settings', beforeLoad: () => { throw redirect({ to: '/settings/$page', params: { page: 'models' } }); } }),
  createRoute({ getParentRoute: () => root, path: '/settings/$page', component: lazyRouteComponent(() => import('./settings/SettingsPage'), 'SettingsPage') }),
]);
const router = createRouter({ routeTree: routes, defaultPreload: 'intent', defaultPendingComponent: Coming, defaultPendingMs: 150, defaultPendingMinMs: 0 });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

wardrobe.start();
hearChanges();
const place = document.getElementById('app');
if (place) {
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
