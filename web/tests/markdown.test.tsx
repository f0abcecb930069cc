import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {} });
vi.stubGlobal('window', { matchMedia: () => ({ matches: false, addEventListener: () => {} }), addEventListener: () => {} });
const { Markdown, blocksOf, safeLink } = await import('../src/markdown/Markdown');
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

  it('leads only to the web and to mail', () => {
    expect(safeLink('https://a.example/b')).toBe('https://a.example/b');
    expect(safeLink('mailto:a@b.example')).toBe('mailto:a@b.example');
    expect(safeLink('file:///etc/passwd')).toBeNull();
    expect(safeLink(' java\nscript:alert(1)')).toBeNull();
    expect(safeLink('/api/v1/sessions')).toBeNull();
  });

  it('keeps finished blocks as they are while more is written', () => {
    const text = 'One.\n\n```js\nlet a = 1;\n```\n\nTwo is longer.';
    const whole = blocksOf(text);
    for (let end = 1; end <= text.length; end += 1) {
      const now = blocksOf(text.slice(0, end));
      now.slice(0, -1).forEach((block, index) => expect(whole[index]?.startsWith(block.trimEnd()) || block.startsWith(whole[index] ?? '\0')).toBe(true));
    }
  });

  it('leaves prices alone', () => {
    expect(html('It costs $5 or $6 today.')).toContain('It costs $5 or $6 today.');
  });
});
