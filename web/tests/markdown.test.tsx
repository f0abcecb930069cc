import fc from 'fast-check';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it, vi } from 'vitest';
import { cutBlocks, shownText, type Cut } from '../src/markdown/blocks';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {} });
vi.stubGlobal('window', { matchMedia: () => ({ matches: false, addEventListener: () => {} }), addEventListener: () => {} });
const { Markdown, safeLink } = await import('../src/markdown/Markdown');
const { CitesContext } = await import('../src/research/cites');
const html = (text: string) => renderToStaticMarkup(<Markdown text={text} />);

describe('markdown', () => {
  it('draws what people write', () => {
    const drawn = html('# Title\n\nSome **bold** and `code` & more.\n\n- one\n- [x] two\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```rust\nfn main() {}\n```');
    expect(drawn).toContain('<h3>Title</h3>');
    expect(drawn).toContain('<strong>bold</strong>');
    expect(drawn).toContain('<code>code</code> &amp; more.');
    expect(drawn).toContain('type="checkbox"');
    expect(drawn).toContain('<table>');
    expect(drawn).toContain('fn main() {}');
  });

  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'text <b onmouseover=alert(1)>x</b>',
    '[click](javascript:alert(1))',
    '[click](JaVaScRiPt:alert(1))',
    '[click](data:text/html,<script>alert(1)</script>)',
    '![x](javascript:alert(1))',
    '![x](https://tracker.example/pixel.png)',
    '<svg/onload=alert(1)>',
    '<iframe src="https://evil.example"></iframe>',
    '[a](https://ok.example "title\" onclick=alert(1)")',
    '| <img src=x onerror=alert(1)> |\n|---|\n| <script>1</script> |',
    '> <form action=//evil.example>',
  ])('never lets %s become markup', (hostile) => {
    const drawn = html(hostile);
    expect(drawn).not.toMatch(/<(script|img|svg|iframe|form|b|object|embed|style|link)\b/i);
    expect(drawn).not.toMatch(/(href|src)="(javascript|data:text|vbscript)/i);
    expect(drawn).not.toMatch(/<[^>]+\son\w+=/i);
  });

  it('folds what is to be folded, with Markdown and nothing else in it', () => {
    const drawn = html('Before\n\n<details>\n<summary>The <b>whole</b> log</summary>\n\nSome **bold**\n\n```js\nlet a = "</details>";\n```\n\n<details><summary>Inner</summary>deep</details>\n\n</details>\n\nAfter');
    expect(drawn).toContain('<p>Before</p><details class="folded"><summary>The whole log</summary><p>Some <strong>bold</strong></p>');
    expect(drawn).toContain('<details class="folded"><summary>Inner</summary><p>deep</p></details></details><p>After</p>');
    // Attributes and other elements are text, as everywhere.
    expect(html('<details ontoggle=alert(1)><summary>x</summary>y</details>')).not.toContain('<details');
    expect(html('<details><summary><img src=x onerror=alert(1)></summary><script>alert(1)</script></details>')).not.toMatch(/<(img|script)/);
    // One that is still being written is open to its end.
    expect(html('<details>\n<summary>x</summary>\n\nhalf a sen')).toContain('<summary>x</summary><p>half a sen</p></details>');
  });

  it('leads only to the web and to mail', () => {
    expect(safeLink('https://a.example/b')).toBe('https://a.example/b');
    expect(safeLink('mailto:a@b.example')).toBe('mailto:a@b.example');
    expect(safeLink('file:///etc/passwd')).toBeNull();
    expect(safeLink(' java\nscript:alert(1)')).toBeNull();
    expect(safeLink('/api/v1/sessions')).toBeNull();
  });

  it('has the words that are drawn, and no others', () => {
    const block = fc.constantFrom(
      'A **quo**kka, `a < b` &amp; _more_ ~~gone~~ \\* done.', 'See [the **docs**](https://a.example/b_c) or https://b.example.', '# The `gate`', '- one *two*\n- [x] three\n\n  para\n  - nested', '1. x\n2. y', '```rust\nlet a = "**";\n```',
      '> said **so**\n> twice', '| a *b* | c |\n|---|---|\n| **1** | `2` |', '<b>as text</b>', '<details>\n<summary>A <b>fold</b></summary>\n\n**in** it\n\n</details>', 'Title\n===', '    indented', '***', '[x]: https://a.example', 'hard  \nbreak', '![a picture](https://c.example/p.png)', 'snake_case_name and 2*3*4');
    // The language and the button of a code block are not part of what was said.
    const drawn = (text: string) => html(text).replace(/<figcaption>.*?<\/figcaption>/gs, '').replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt|quot|#x27);/g, (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" })[name] ?? '');
    const letters = (text: string) => text.replace(/[\s\0]/g, '');
    fc.assert(fc.property(fc.array(block, { maxLength: 6 }), (parts) => {
      const text = parts.join('\n\n');
      expect(letters(shownText(text))).toBe(letters(drawn(text)));
    }), { numRuns: 200 });
    expect(shownText('Some **bo**ld\nwords')).toBe('Some bold\nwords');
    expect(shownText('one\n\ntwo')).toBe('one\0two');
  });

  it('cuts a growing text as it would cut the whole', () => {
    const block = fc.constantFrom('One.', '# Head', '- a\n- b\n\n  more of b', '1. x\n2. y', '```js\nlet a = 1;\n\nlet b;\n```', '> said\nlazily', '| a |\n|---|\n| 1 |', '<div>\nx\n</div>', '<details>\n<summary>s</summary>\n\n- in\n\n</details>', '<details><summary>s</summary>', '</details>', 'Title\n===', '    indented', '***', '[x]: https://a.example');
    fc.assert(fc.property(fc.array(block, { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (parts, steps) => {
      const text = parts.join('\n\n');
      let cut: Cut | null = null;
      for (let end = 0, step = 0; end < text.length; step += 1) {
        end = Math.min(text.length, end + (steps[step % steps.length] ?? 1));
        cut = cutBlocks(text.slice(0, end), cut);
      }
      expect(cut?.blocks ?? []).toEqual(cutBlocks(text).blocks);
    }));
  });

  it('has chips for what is cited also beside a price and a formula', () => {
    const paragraph = { id: 'p1', cite: 'Act §1', text: 'The words.', section: null, page: null } as never;
    const cites = { known: new Map([['Act §1', paragraph]]), names: null, open: () => {} };
    for (const text of ['It costs $3 (Act §1).', 'So $x_1$ is small (Act §1).', 'Plain (Act §1).']) {
      const drawn = renderToStaticMarkup(<CitesContext value={cites}><Markdown text={text} /></CitesContext>);
      expect(drawn, text).toContain('class="cite"');
    }
  });

  it('leaves prices alone', () => {
    expect(html('It costs $5 or $6 today.')).toContain('It costs $5 or $6 today.');
  });
});
