import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type DemoUpstream, startDemoUpstream } from '../server.ts';

let upstream: DemoUpstream;
beforeAll(async () => {
  upstream = await startDemoUpstream({ port: 0 });
});
afterAll(() => upstream.close());

type Told = { type: string; [member: string]: unknown };

async function open(query: string, below = '') {
  const at = `${upstream.url.replace('http', 'ws')}/v1/realtime${below}?${query}`;
  const socket = new WebSocket(at);
  const heard: Told[] = [];
  const waiting: (() => void)[] = [];
  socket.on('message', (data) => {
    heard.push(JSON.parse(String(data)));
    for (const look of waiting.splice(0)) look();
  });
  await once(socket, 'open');
  const say = (...events: object[]) => {
    for (const event of events) socket.send(JSON.stringify(event));
  };
  const until = async (type: string): Promise<Told> => {
    for (;;) {
      const found = heard.find((event) => event.type === type);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => void waiting.push(resolve));
    }
  };
  return { socket, heard, say, until };
}

it('holds a conversation in words and in sounds, and counts it', async () => {
  const { heard, say, until, socket } = await open('model=gpt-realtime');
  await until('session.created');
  say(
    { type: 'session.update', session: { output_modalities: ['text'] } },
    {
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
    },
    { type: 'response.create' },
  );
  const { response } = (await until('response.done')) as never;
  expect(response).toMatchObject({
    status: 'completed',
    usage: { input_tokens: 2, output_token_details: { audio_tokens: 0 } },
  });
  expect(await until('response.output_text.done')).toMatchObject({
    text: expect.stringContaining('"Hello"'),
  });
  heard.length = 0;
  say(
    { type: 'input_audio_buffer.append', audio: Buffer.alloc(48_000).toString('base64') },
    { type: 'input_audio_buffer.commit' },
    { type: 'response.create', response: { output_modalities: ['audio'] } },
    { type: 'no.such.event' },
  );
  const transcript = await until('conversation.item.input_audio_transcription.completed');
  expect(transcript).toMatchObject({
    transcript: '1.0 seconds of sound',
    usage: { input_tokens: 10 },
  });
  const { delta } = await until('response.output_audio.delta');
  expect(Buffer.from(String(delta), 'base64')).toHaveLength(4_800);
  expect(await until('error')).toMatchObject({ error: { code: 'invalid_value' } });
  socket.close();
});

it('places calls, which are heard beside them until they are hung up', async () => {
  const form = new FormData();
  form.set('sdp', 'v=0\r\n');
  form.set('session', JSON.stringify({ type: 'realtime', model: 'gpt-realtime' }));
  const at = `${upstream.url}/v1/realtime/calls`;
  const placed = await fetch(at, { method: 'POST', body: form });
  expect([placed.status, await placed.text()]).toEqual([201, expect.stringMatching(/^v=0/)]);
  const id = placed.headers.get('location')?.split('/').pop();
  const beside = await open(`call_id=${id}`);
  beside.say({ type: 'response.create' });
  await beside.until('response.done');
  const closed = once(beside.socket, 'close');
  const hangUp = () => fetch(`${at}/${id}/hangup`, { method: 'POST' });
  expect((await hangUp()).status).toBe(200);
  expect((await closed)[0]).toBe(1000);
  expect((await hangUp()).status).toBe(404);
  await expect(open(`call_id=${id}`)).rejects.toThrow('404');
  form.delete('session');
  expect((await fetch(at, { method: 'POST', body: form })).status).toBe(400);
});

it('translates by the second, and makes secrets of a vendor’s kind', async () => {
  const { heard, say, until, socket } = await open('model=interpreter', '/translations');
  await until('session.created');
  const audio = Buffer.alloc(120_000).toString('base64');
  say({ type: 'session.input_audio_buffer.append', audio }, { type: 'session.close' });
  await until('session.closed');
  expect(heard.map(({ type }) => type).slice(1, -1)).toEqual([
    'session.output_transcript.delta',
    'session.output_audio.delta',
    'session.output_transcript.delta',
    'session.output_audio.delta',
  ]);
  socket.close();
  const made = await fetch(`${upstream.url}/v1/realtime/client_secrets`, {
    method: 'POST',
    body: JSON.stringify({ session: { type: 'realtime', model: 'gpt-realtime' } }),
  });
  expect(await made.json()).toMatchObject({
    value: expect.stringMatching(/^ek_demo_/),
    session: { model: 'gpt-realtime' },
  });
  const form = new FormData();
  form.set('sdp', 'v=0\r\n');
  form.set('session', JSON.stringify({ model: 'interpreter' }));
  const at = `${upstream.url}/v1/realtime/translations/calls`;
  expect((await fetch(at, { method: 'POST', body: form })).status).toBe(201);
});
