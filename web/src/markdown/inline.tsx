/** A sentence in which `backticks` mark code; nothing else in it has a meaning. */
import { memo } from 'react';

export const Sentence = memo(function Sentence({ text }: { text: string }) {
  const pieces = text.split('`');
  // An odd backtick at the end belongs to the text.
  if (pieces.length % 2 === 0) return <>{text}</>;
  return <>{pieces.map((piece, index) => (index % 2 === 1 ? <code key={index}>{piece}</code> : piece))}</>;
});
