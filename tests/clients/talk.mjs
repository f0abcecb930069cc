// The official OpenAI client and the AI SDK's chat transport, against a running `weft serve`.
// Called with its address and token; every line it prints is one thing that worked.
import assert from "node:assert/strict";
import { DefaultChatTransport, readUIMessageStream } from "ai";
import OpenAI from "openai";

const [base, token] = process.argv.slice(2);

async function openai() {
  const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: token, maxRetries: 0 });
  const models = await client.models.list();
  assert.deepEqual(models.data.map((model) => model.id), ["weft", "planner", "reviewer"]);
  const messages = [{ role: "user", content: "hello" }];
  const answer = await client.chat.completions.create({ model: "weft", messages });
  assert.equal(answer.choices[0].message.content, "You said hello.");
  assert.ok(answer.usage.total_tokens > 0);
  messages.push(answer.choices[0].message, { role: "user", content: "again" });
  let words = "";
  let finish = null;
  const stream = await client.chat.completions.create({ model: "weft", messages, stream: true });
  for await (const chunk of stream) {
    words += chunk.choices[0]?.delta?.content ?? "";
    finish = chunk.choices[0]?.finish_reason ?? finish;
  }
  assert.equal(words, "You said again.");
  assert.equal(finish, "stop");
  await assert.rejects(client.chat.completions.create({ model: "nobody", messages }), OpenAI.NotFoundError);
  const stranger = new OpenAI({ baseURL: `${base}/v1`, apiKey: "wrong", maxRetries: 0 });
  await assert.rejects(stranger.models.list(), OpenAI.AuthenticationError);
  console.log("openai");
}

async function aiSdk() {
  const transport = new DefaultChatTransport({ api: `${base}/api/v1/ai-sdk/chat`, headers: { authorization: `Bearer ${token}` } });
  const say = async (messages) => {
    const stream = await transport.sendMessages({ chatId: "chat-1", messages, trigger: "submit-message", messageId: undefined, abortSignal: undefined });
    let last;
    for await (const message of readUIMessageStream({ stream })) last = message;
    return last;
  };
  const text = (message) => message.parts.filter((part) => part.type === "text").map((part) => part.text).join("");
  const user = (id, words) => ({ id, role: "user", parts: [{ type: "text", text: words }] });
  const first = await say([user("m1", "list it")]);
  assert.equal(text(first), "Let me look.There it is.");
  const tool = first.parts.find((part) => part.type === "dynamic-tool");
  assert.equal(tool.toolName, "read");
  assert.equal(tool.state, "output-available");
  assert.match(String(tool.output), /found-it/);
  const second = await say([user("m1", "list it"), first, user("m2", "more")]);
  assert.equal(text(second), "You said more.");
  console.log("ai");
}

await openai();
await aiSdk();
