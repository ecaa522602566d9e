// Events: https://developers.openai.com/api/docs/guides/realtime-translation
import type { WebSocket } from 'ws';
import { isObject } from '../protocol.ts';

/** 24 kHz, 16 bits. */
const bytesPerSecond = 48_000;

/** Each second of sound that comes is told as words, and as a tenth of a second of sound. No event tells what it costs. */
export function translate(socket: WebSocket, model: string): void {
  let count = 0;
  let heardBytes = 0;
  let toldSeconds = 0;
  const tell = (type: string, members: object) => {
    count += 1;
    socket.send(JSON.stringify({ type, event_id: `event_demo_${count}`, ...members }));
  };
  const fail = (code: string, message: string) =>
    tell('error', { error: { type: 'invalid_request_error', code, message, param: null } });
  let session: object = { id: 'sess_demo', object: 'realtime.translation_session', model };

  function hear(audio: unknown): void {
    if (typeof audio !== 'string') {
      fail('invalid_value', 'audio must be base64.');
      return;
    }
    heardBytes += (audio.length * 3) / 4;
    for (; heardBytes >= (toldSeconds + 1) * bytesPerSecond; toldSeconds += 1) {
      tell('session.output_transcript.delta', { delta: `Second ${toldSeconds + 1}. ` });
      const delta = Buffer.alloc(bytesPerSecond / 10).toString('base64');
      tell('session.output_audio.delta', { delta });
    }
  }

  socket.on('error', () => socket.terminate());
  socket.on('message', (data) => {
    let event: unknown;
    try {
      event = JSON.parse(String(data));
    } catch {
      event = undefined;
    }
    if (!isObject(event)) fail('invalid_json', 'The event is no JSON object.');
    else if (event.type === 'session.input_audio_buffer.append') hear(event.audio);
    else if (event.type === 'session.update') {
      session = { ...session, ...(isObject(event.session) && event.session), model };
      tell('session.updated', { session });
    } else if (event.type === 'session.close') {
      tell('session.closed', {});
      socket.close(1000);
    } else fail('invalid_value', `Invalid value: '${String(event.type)}'.`);
  });
  tell('session.created', { session });
}
