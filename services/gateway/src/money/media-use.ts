import { noUsage } from '@sluice/contracts';
import { usage } from '@sluice/proto-stubs';
import type { ReplyFacts } from '@sluice/providers';
import { mayHaveUsed } from '@sluice/usage';
import type { EndedAttempt } from '../exchange/prepared-call.ts';
import type { ModelCall } from '../exchange/subject.ts';
import type { EstimatedUse } from './estimated-use.ts';

const { Outcome } = usage;

/** Models that charge sound by its tokens; all others charge seconds, or characters. */
const speaksInTokens = /(?:^|\/)gpt-[\w.-]*tts/;
const hearsInTokens = /(?:^|\/)gpt-[\w.-]*transcribe/;
const writesByTime = /(?:^|\/)gpt-(?:live-transcribe|realtime-whisper)/;
/** OpenAI's: 100 ms a token of what is heard, 50 ms of what is said. https://platform.openai.com/docs/guides/realtime-costs */
const heardPerSecond = 10;
const spokenPerSecond = 20;
/** As English is read aloud, about. */
const charactersPerSecond = 15;
const bytesPerToken = 4;

/** Tokens of the sound that a request has written down, of so many seconds; 0 where its model is charged otherwise. */
export function heardTokens({ operation }: ModelCall, model: string, seconds: number): number {
  const isHeard = operation.id === 'createTranscription' || operation.id === 'createTranslation';
  if (!isHeard || !hearsInTokens.test(model) || writesByTime.test(model)) return 0;
  return Math.ceil(seconds * heardPerSecond);
}

/** Tokens of the sound that a text is read aloud in, of so many characters; 0 as above. */
export function spokenTokens({ operation }: ModelCall, model: string, characters: number): number {
  if (operation.id !== 'createSpeech' || !speaksInTokens.test(model)) return 0;
  return Math.ceil((characters / charactersPerSecond) * spokenPerSecond);
}

/**
 * What an answer of sound, pictures or a transcript is charged that does not count itself, or not to its end: as it was
 * estimated, and what was seen of it. Undefined = it is told, was not made, or nobody knows by what it would be charged.
 */
export function mediaUsed(ended: EndedAttempt, use: () => EstimatedUse): ReplyFacts | undefined {
  const { call, facts = {} } = ended;
  const { subject } = call.requester;
  if (facts.usage !== undefined || subject.json === undefined || !mayHaveUsed(ended))
    return undefined;
  const { servedModel } = call.target;
  const seenBytes = facts.saidBytes ?? 0;
  switch (subject.operation.id) {
    case 'createSpeech': {
      const characters = use().units.least?.characters ?? 0;
      const spoken = spokenTokens(subject, servedModel, characters);
      // Sound that passes is not measured: of one that was begun all was made.
      const isHeard = ended.outcome === Outcome.SUCCESS || ended.firstByteMs > 0;
      if (spoken === 0)
        return isHeard && facts.units === undefined && characters > 0
          ? { ...facts, units: { characters } }
          : undefined;
      const { inputTokens } = use().expected;
      return { ...facts, usage: { ...noUsage, inputTokens, outputTokens: isHeard ? spoken : 0 } };
    }
    case 'createTranscription':
    case 'createTranslation': {
      if (facts.units !== undefined) return undefined;
      const audioSeconds = use().units.least?.audioSeconds ?? 0;
      if (audioSeconds === 0) return undefined;
      const heard = heardTokens(subject, servedModel, audioSeconds);
      if (heard === 0) return { ...facts, units: { audioSeconds } };
      // Speech has some four tokens of text a second: what an upstream sends far beyond is none.
      const outputTokens = Math.min(Math.ceil(seenBytes / bytesPerToken), 2 * heard);
      const counts = { inputTokens: heard, inputAudioTokens: heard, outputTokens };
      return { ...facts, usage: { ...noUsage, ...counts } };
    }
    case 'imageGenerate':
    case 'imageEdit': {
      if (facts.units !== undefined) return undefined;
      const { expected, outputTokens, units } = use();
      const isSeen = seenBytes > 0;
      // Those that are charged by the picture are when one was seen.
      if (outputTokens === 0) return isSeen ? { ...facts, units: units.least } : undefined;
      const { inputTokens } = expected;
      return {
        ...facts,
        usage: { ...noUsage, inputTokens, outputTokens: isSeen ? outputTokens : 0 },
      };
    }
    default:
      return undefined;
  }
}
