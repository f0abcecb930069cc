/** Colours for code. The highlighter and each grammar are loaded when first needed; there is no WebAssembly in it. */
import type { HighlighterCore } from 'shiki/core';

export type Painted = { content: string; color?: string }[][];

const GRAMMARS: Record<string, () => Promise<unknown>> = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  dockerfile: () => import('shiki/langs/dockerfile.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  jsx: () => import('shiki/langs/jsx.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  lua: () => import('shiki/langs/lua.mjs'),
  make: () => import('shiki/langs/make.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
};
const ALIASES: Record<string, string> = {
  sh: 'bash', shell: 'bash', zsh: 'bash', console: 'bash', h: 'c', hpp: 'cpp', cc: 'cpp', js: 'javascript', mjs: 'javascript',
  cjs: 'javascript', kt: 'kotlin', makefile: 'make', mk: 'make', md: 'markdown', py: 'python', rb: 'ruby', rs: 'rust',
  ts: 'typescript', mts: 'typescript', yml: 'yaml', svg: 'xml', htm: 'html', patch: 'diff', jsonc: 'json', jsonl: 'json',
};

export function languageOf(path: string): string {
  const name = path.split('/').pop()?.toLowerCase() ?? '';
  if (name === 'makefile' || name === 'dockerfile') return name === 'makefile' ? 'make' : name;
  const ending = name.includes('.') ? (name.split('.').pop() ?? '') : '';
  return ALIASES[ending] ?? (ending in GRAMMARS ? ending : '');
}

let made: Promise<HighlighterCore> | null = null;
function highlighter(): Promise<HighlighterCore> {
  made ??= Promise.all([
    import('shiki/core'), import('shiki/engine/javascript'), import('shiki/themes/github-light-high-contrast.mjs'), import('shiki/themes/github-dark-high-contrast.mjs'),
  ]).then(([core, engine, light, dark]) =>
    core.createHighlighterCore({
      themes: [light.default, dark.default],
      langs: [],
      engine: engine.createJavaScriptRegexEngine({ forgiving: true }),
    }),
  );
  return made;
}

/** Comments of the light theme can be read on white, and in a diff they stand on green and red. */
const READABLE = { '#66707b': '#545c66' };

/** `null` where the language is not known; the code is then shown plain. */
export async function highlight(code: string, language: string, dark: boolean): Promise<Painted | null> {
  const name = ALIASES[language.toLowerCase()] ?? language.toLowerCase();
  const grammar = GRAMMARS[name];
  if (!grammar) return null;
  try {
    const shiki = await highlighter();
    if (!shiki.getLoadedLanguages().includes(name)) await shiki.loadLanguage(grammar() as never);
    const theme = dark ? 'github-dark-high-contrast' : 'github-light-high-contrast';
    return shiki.codeToTokensBase(code, { lang: name as never, theme, colorReplacements: READABLE });
  } catch {
    return null;
  }
}
