// A source over standard input and output whose one tool asks the person something before it answers, for the tests of
// questions with a limit.
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
let waiting = null;
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.method === 'initialize') {
    send({ id: message.id, result: { protocolVersion: message.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'asking', version: '1' } } });
  } else if (message.method === 'tools/list') {
    send({ id: message.id, result: { tools: [{ name: 'book', description: 'Books a table', inputSchema: { type: 'object', properties: {} } }] } });
  } else if (message.method === 'tools/call') {
    waiting = message.id;
    send({ id: 'ask-1', method: 'elicitation/create', params: { message: 'For how many people?', requestedSchema: { type: 'object', properties: { people: { type: 'integer', title: 'People', minimum: 1 } }, required: ['people'] } } });
  } else if (message.id === 'ask-1' && waiting !== null) {
    send({ id: waiting, result: { content: [{ type: 'text', text: `Answer: ${JSON.stringify(message.result)}` }] } });
  } else if (message.id !== undefined && message.method) {
    send({ id: message.id, error: { code: -32601, message: 'no such method' } });
  }
});
