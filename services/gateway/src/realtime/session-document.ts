import { type JsonObject, objectOf, stringOf } from '@sluice/providers';
import type { AskedSession, SessionKind } from '../exchange/asked-session.ts';

/** @param kind of the endpoint; a session that says it is for transcription is. */
export function readSession(document: JsonObject, kind: SessionKind): AskedSession {
  if (kind !== 'translation' && (kind === 'transcription' || document.type === 'transcription')) {
    const { transcription, ...input } = inputOf(document);
    const { model, ...rest } = objectOf(transcription) ?? {};
    const asked = { ...document, type: 'transcription' };
    return {
      kind: 'transcription',
      model: stringOf(model) ?? '',
      session: withInput(asked, { ...input, transcription: rest }),
    };
  }
  const { model, ...session } = document;
  return {
    kind,
    model: stringOf(model) ?? '',
    session: kind === 'realtime' ? { ...session, type: 'realtime' } : session,
  };
}

/** The session with its model, as its vendor takes it. */
export function writeSession({ kind, session, model }: AskedSession): JsonObject {
  if (model === '') return session;
  if (kind !== 'transcription') return { ...session, model };
  const input = inputOf(session);
  return withInput(session, {
    ...input,
    transcription: { ...objectOf(input.transcription), model },
  });
}

/** What a session that is open already is told of it: its model cannot be another any more. */
export function sessionUpdate(asked: AskedSession): JsonObject | undefined {
  const session = asked.kind === 'transcription' ? writeSession(asked) : asked.session;
  const isEmpty = Object.keys(session).every((name) => name === 'type');
  return isEmpty ? undefined : { type: 'session.update', session };
}

function inputOf(session: JsonObject): JsonObject {
  return objectOf(objectOf(session.audio)?.input) ?? {};
}

function withInput(session: JsonObject, input: JsonObject): JsonObject {
  return { ...session, audio: { ...objectOf(session.audio), input } };
}

const formats: Readonly<Record<string, JsonObject>> = {
  pcm16: { type: 'audio/pcm', rate: 24_000 },
  g711_ulaw: { type: 'audio/pcmu' },
  g711_alaw: { type: 'audio/pcma' },
};

/**
 * A body of `/realtime/sessions` and `/realtime/transcription_sessions` in the words of today: those endpoints are of
 * OpenAI's beta, whose sessions had no levels. Members that nobody renamed stay as they are.
 * https://platform.openai.com/docs/guides/realtime#beta-to-ga-migration, November 2026
 */
export function sessionOfBeta(flat: JsonObject): JsonObject {
  const {
    client_secret: _answered,
    expires_at: _told,
    temperature: _gone,
    modalities,
    voice,
    speed,
    input_audio_format,
    output_audio_format,
    input_audio_transcription,
    input_audio_noise_reduction,
    turn_detection,
    max_response_output_tokens,
    ...session
  } = flat;
  const input = present({
    format: formatOf(input_audio_format),
    transcription: input_audio_transcription,
    noise_reduction: input_audio_noise_reduction,
    turn_detection,
  });
  const output = present({ format: formatOf(output_audio_format), voice, speed });
  const audio = present({
    input: Object.keys(input).length === 0 ? undefined : input,
    output: Object.keys(output).length === 0 ? undefined : output,
  });
  return {
    ...session,
    ...present({
      // Sound is told with its words by now.
      output_modalities: Array.isArray(modalities)
        ? [modalities.includes('audio') ? 'audio' : 'text']
        : undefined,
      max_output_tokens: max_response_output_tokens,
      audio: flat.audio ?? (Object.keys(audio).length === 0 ? undefined : audio),
    }),
  };
}

function formatOf(name: JsonObject[string] | undefined): JsonObject[string] | undefined {
  return typeof name === 'string' ? (formats[name] ?? name) : name;
}

function present(members: Record<string, JsonObject[string] | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as JsonObject;
}
