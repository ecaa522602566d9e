import { expect, it } from 'vitest';
import { SessionTalk, TalkRoom } from './session-talk.ts';

const message = (id: string, text: string, role = 'user') => ({
  id,
  type: 'message',
  role,
  content: [{ type: 'input_text', text }],
});
const added = (id: string, text: string, previous_item_id?: string | null) => ({
  type: 'conversation.item.added',
  item: message(id, text),
  ...(previous_item_id !== undefined && { previous_item_id }),
});
const idsIn = (body: Buffer | undefined) =>
  (JSON.parse(String(body)) as { items: { id: string }[] }).items.map(({ id }) => id);

function talkWith(room = new TalkRoom(1_000_000)) {
  const talk = new SessionTalk(room);
  return { talk, room, hear: (event: { type: string }) => talk.hear(event.type, { ...event }) };
}

it('what led to a response is the conversation before it, in the order that its items name', () => {
  const { talk, hear, room } = talkWith();
  hear(added('b', 'second', null));
  hear(added('a', 'first', null));
  hear(added('c', 'third', 'b'));
  hear(added('d', 'gone', 'c'));
  hear({ type: 'conversation.item.deleted', ...{ item_id: 'd' } });
  const sounds = { id: 's', type: 'message', content: [{ type: 'input_audio', audio: 'AAAA' }] };
  hear({ type: 'conversation.item.created', ...{ item: sounds, previous_item_id: 'c' } });
  const type = 'conversation.item.input_audio_transcription.completed';
  hear({ type, ...{ item_id: 's', transcript: 'heard' } });
  // The model's, while it is made.
  hear(added('r', '', 's'));
  const body = talk.before({
    response: { conversation_id: 'conv', output: [message('r', 'said', 'assistant')] },
  });
  expect(idsIn(body)).toEqual(['a', 'b', 'c', 's']);
  expect(String(body)).toContain('"transcript":"heard"');
  expect(String(body)).not.toContain('AAAA');
  expect(talk.before({ response: { conversation_id: null, output: [] } })).toBeUndefined();
  const next = talk.before({ response: { output: [message('q', 'x', 'assistant')] } });
  expect(idsIn(next)).toEqual(['a', 'b', 'c', 's', 'r']);
  expect(String(next)).toContain('said');
  talk.end();
  expect(room.bytes).toBe(0);
  hear(added('late', 'late'));
  expect(room.bytes).toBe(0);
});

it('is bounded, for a session and for all of them together, and tells what it has left out', () => {
  const { talk, hear, room } = talkWith(new TalkRoom(80_000));
  for (let at = 0; at < 100; at++) hear(added(`item ${at}`, 'x'.repeat(10_000)));
  expect(room.bytes).toBeLessThanOrEqual(64 * 1024);
  const body = JSON.parse(String(talk.before({}))) as { items: object[]; items_left_out: number };
  expect(body.items.length + body.items_left_out).toBe(100);
  hear(added('large', 'x'.repeat(1_000_000)));
  expect(String(talk.before({}))).toContain('"omitted":"too large"');
  const other = talkWith(room);
  for (let at = 0; at < 10; at++) other.hear(added(`item ${at}`, 'y'.repeat(10_000)));
  expect(room.bytes).toBeLessThanOrEqual(80_000);
  for (const each of [talk, other.talk]) each.end();
  expect(room.bytes).toBe(0);
});

it('of a session of responses is what the caller asked, in turn', () => {
  const { talk, room } = talkWith();
  for (let at = 0; at < 20; at++) talk.ask(Buffer.from(`{"at":${at}}`));
  expect(String(talk.before({}))).toBe('{"at":0}');
  expect(String(talk.before({}))).toBe('{"at":1}');
  talk.end();
  expect(room.bytes).toBe(0);
});
