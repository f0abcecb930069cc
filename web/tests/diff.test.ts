import { describe, expect, it } from 'vitest';
import { coloured, parseDiff } from '../src/session/diff';

describe('a diff', () => {
  it('becomes files and numbered lines', () => {
    const [file] = parseDiff('--- a/x.rs\n+++ b/x.rs\n@@ -1,3 +1,3 @@ fn main\n a\n-let b = 1;\n+let b = 2;\n c\n');
    expect(file).toMatchObject({ path: 'x.rs', added: 1, removed: 1 });
    expect(file?.lines.map((line) => [line.kind, line.before, line.after])).toEqual([['hunk', null, null], ['context', 1, 1], ['removed', 2, null], ['added', null, 2], ['context', 3, 3]]);
    expect(file?.lines[3]?.pieces.filter((piece) => piece.marked).map((piece) => piece.text)).toEqual(['2']);
  });
  it('takes lines that look like headers for what they are', () => {
    const [file, other] = parseDiff('--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old comment\n+++ new comment\n x\n');
    expect(other).toBeUndefined();
    expect(file).toMatchObject({ added: 1, removed: 1 });
  });
  it('tells several files apart, made and gone', () => {
    const files = parseDiff('diff --weft a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\ndiff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n');
    expect(files.map((file) => [file.path, file.added, file.removed])).toEqual([['a', 1, 0], ['b', 0, 1]]);
  });
  it('keeps its marks when it is coloured', () => {
    const cut = coloured([{ text: 'let b = ', marked: false }, { text: '2', marked: true }, { text: ';', marked: false }], [{ content: 'let', color: 'red' }, { content: ' b = 2;', color: 'blue' }]);
    expect(cut).toEqual([
      { text: 'let', marked: false, color: 'red' }, { text: ' b = ', marked: false, color: 'blue' }, { text: '2', marked: true, color: 'blue' }, { text: ';', marked: false, color: 'blue' },
    ]);
    expect(coloured([{ text: 'a', marked: false }], [{ content: 'other' }])).toEqual([{ text: 'a', marked: false }]);
  });
  it('survives anything', () => {
    for (const text of ['', '\n', '@@', '@@ -1 +1 @@', '+++', 'Binary files differ', '@@ -1,999999 +1,999999 @@\n+x']) expect(() => parseDiff(text)).not.toThrow();
  });
});
